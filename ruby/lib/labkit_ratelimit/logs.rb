# frozen_string_literal: true

require "json"
require "logger"

module Labkit
  module RateLimit
    # What goes to the host's logger: `warn` with a Hash of names, never a value of an identifier.
    #
    # @api private
    class Logs
      # The fields whose keys are Strings, as labkit-ruby has them.
      TEXT = %i[message error_type class_name error_message].freeze

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
          failure = !event[:error_type].nil?
          event.each_with_object({}) do |(key, value), fields|
            next if value.nil? && !(failure && key == :rule)

            fields[failure && TEXT.include?(key) ? key.name : key] = value
          end
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
