# frozen_string_literal: true

require_relative "tags"

module Replay
  # The replayer's own connection: what stands in Redis, and the commands that a recording sends beside the limiter.
  class Keyspace
    attr_reader :port

    def initialize(port)
      @port = port
      @redis = Redis.new(host: "127.0.0.1", port: port, timeout: 5)
    end

    def empty
      @redis.flushall
    end

    # In: the words of a command. Out: its reply.
    def send_words(words)
      @redis.call(*words)
    end

    # Out: every key, as a recording writes it.
    def dump
      @redis.keys("*").to_h { |key| [Tags.text(key), entry(key)] }
    end

    private

    def entry(key)
      type = @redis.type(key)
      held =
        case type
        when "string" then { "value" => Tags.text(@redis.get(key)) }
        when "set" then { "members" => @redis.smembers(key).map { |member| Tags.text(member) }.sort }
        when "list" then { "items" => @redis.lrange(key, 0, -1).map { |item| Tags.text(item) } }
        when "hash" then { "fields" => @redis.hgetall(key) }
        else raise "a key of type #{type}"
        end
      { "type" => type, **held, "ttl" => @redis.ttl(key) }
    end
  end
end
