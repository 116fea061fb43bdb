# frozen_string_literal: true

require "connection_pool"
require "redis"
require "socket"

module Replay
  # The metrics of gitlab-labkit as far as the gem asks for them: an increment or a gauge's value is noted, in order.
  class Metrics
    class << self
      # What was emitted since it was emptied.
      def emitted
        @emitted ||= []
      end

      # Whether asking for a metric raises.
      attr_accessor :raises

      def counter(name, _help, _labels = {})
        of(name)
      end

      def gauge(name, _help, _labels = {}, _mode = nil)
        of(name)
      end

      private

      def of(name)
        raise "the recording says so" if raises

        new(name)
      end
    end

    def initialize(name)
      @name = name.to_s
    end

    def increment(labels = {}, by = 1)
      self.class.emitted << { "metric" => @name, "labels" => labels.transform_keys(&:to_s), "by" => by }
    end

    def set(labels, value)
      self.class.emitted << { "metric" => @name, "labels" => labels.transform_keys(&:to_s), "set" => value }
    end
  end

  # A logger that keeps what it was told, and raises behind it if the recording says so.
  class Logger
    FIXED_WORDS = %w[message name rule error_type class_name count_distinct metric original_name sanitized_name sanitized dropped_occurrence].freeze

    def initialize(raises:)
      @raises = raises
      @lines = []
    end

    %w[debug info warn error].each do |level|
      define_method(level) do |line|
        @lines << [level, line]
        raise "the recording says so" if @raises
      end
    end

    # Out: the lines since the last call, as a recording writes them.
    def take
      @lines.slice!(0..).map { |level, line| line.is_a?(Hash) ? entry(level, line) : { "level" => level, "text" => line.to_s } }
    end

    private

    def entry(level, line)
      words = line.transform_keys(&:to_s)
      strings = line.keys.grep(String)
      names = words["identifier_keys"] || words["identifier"]&.keys
      said = { "level" => level, "fields" => words.keys, "string_fields" => strings, **words.slice(*FIXED_WORDS) }
      names ? said.merge("identifier_keys" => names.map(&:to_s)) : said
    end
  end

  # The Redis of a host as a recording wants it: in a pool, bare, refusing, or failing from its n-th command on.
  class Host
    OPTIONS = { host: "127.0.0.1", reconnect_attempts: 0, timeout: 5 }.freeze

    # What a connection of redis-rb, 4 or 5, sends its commands with, whichever of them a limiter uses.
    module Failing
      attr_accessor :left, :error

      %i[call call_v call_once call_once_v blocking_call blocking_call_v pipelined call_pipeline call_pipelined].each do |sending|
        define_method(sending) do |*given, **options, &block|
          return super(*given, **options, &block) if @sending

          begin
            @sending = true
            self.left -= 1
            left.negative? ? raise(error, "the recording says so") : super(*given, **options, &block)
          ensure
            @sending = false
          end
        end
      end
    end

    attr_reader :redis

    # In: a port where Redis answers, and `setup`'s `redis`.
    def initialize(port, wanted)
      @redis = made(port, wanted)
    end

    private

    def made(port, wanted)
      case wanted
      in nil then pool(port)
      in "nil" then nil
      in "bare" then Redis.new(**OPTIONS, port: port)
      in "refused" then pool(closed_port)
      in Hash if wanted.key?("pool_raises") then broken_pool(Object.const_get(wanted["pool_raises"]))
      in Hash then pool(port) { |redis| failing(redis, wanted.fetch("fails_at_command"), wanted.fetch("error")) }
      end
    end

    def broken_pool(error)
      Object.new.tap { |pool| pool.define_singleton_method(:with) { raise error, "the recording says so" } }
    end

    def pool(port)
      ConnectionPool.new(size: 1, timeout: 1) do
        redis = Redis.new(**OPTIONS, port: port)
        block_given? ? yield(redis) : redis
      end
    end

    def failing(redis, nth, error)
      redis._client.extend(Failing)
      redis._client.left = nth - 1
      redis._client.error = Object.const_get(error)
      redis
    end

    def closed_port
      server = TCPServer.new("127.0.0.1", 0)
      server.addr[1].tap { server.close }
    end
  end
end
