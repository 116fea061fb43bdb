# frozen_string_literal: true

require "json"
require "logger"

module Labkit
  module RateLimit
    # What goes to the host's logger: `warn` with a Hash of names, never a value of an identifier.
    #
    # @api private
    class Logs
      # Errors of the core that labkit-ruby has as errors of Ruby.
      OWN = { "BadCost" => "ArgumentError", "BadIdentifier" => "ArgumentError", "OutOfRange" => "ArgumentError" }.freeze
      private_constant :OWN

      # The cost of a check whose cost is no number at all.
      NO_COST = -Float::INFINITY

      class << self
        # @return [Object] the logger of a limiter that is given none
        def default
          client = Beside.constant(:Logging, :JsonLogger)
          client ? client.new($stdout) : stdlib($stdout)
        end

        # @param output [IO]
        # @return [Logger] one JSON object a line
        def stdlib(output)
          ::Logger.new(output).tap do |logger|
            logger.formatter = lambda do |severity, time, _program, message|
              fields = message.is_a?(Hash) ? message : { message: message }
              head = { severity: severity, time: time.getutc.strftime("%Y-%m-%dT%H:%M:%S.%LZ") }
              "#{JSON.generate(head.merge(fields))}\n"
            end
          end
        end

        # @param event [Hash{Symbol => Object}] as the core tells it
        # @return [Hash] as the logger takes it
        def fields(event)
          return failure(event) if event[:error_type]

          fields = event.compact
          fields.delete(:identifier_keys) if event[:identifier_keys].empty? && event[:count_distinct].nil?
          fields
        end

        private

        def failure(event)
          {
            "message" => event[:message], name: event[:name], rule: event[:rule], "error_type" => event[:error_type],
            "class_name" => class_name(event), "error_message" => event[:error_message],
            identifier_keys: event[:identifier_keys]
          }
        end

        # What the core finds itself, under the name that Ruby has for it.
        def class_name(event)
          name = event[:class_name]
          return "NoMethodError" if name == "BadCost" && event[:error_message].to_s.include?("-inf")
          return OWN.fetch(name, name) unless name == "CommandError"

          space = defined?(::Redis::CommandError) ? "Redis" : "RedisClient"
          wrong = "#{space}::WrongTypeError" if event[:error_message].to_s.include?("WRONGTYPE")
          wrong && Object.const_defined?(wrong) ? wrong : "#{space}::CommandError"
        end
      end

      # @return [Object] the host's
      attr_reader :logger

      # @param logger [Object]
      def initialize(logger)
        @logger = logger
      end

      # What a check has to say. A logger that raises changes no result.
      #
      # @param events [Array<Hash>]
      def tell(events)
        events.each { |event| quietly(self.class.fields(event)) }
      end

      # @param fields [Hash]
      def quietly(fields)
        @logger.warn(fields)
      rescue StandardError
        # A logger that fails is the host's to mend.
      end

      # What is said while a limiter is built: there a logger that raises is seen.
      #
      # @param fields [Hash]
      def warn(fields)
        @logger.warn(fields)
      end
    end
  end
end
