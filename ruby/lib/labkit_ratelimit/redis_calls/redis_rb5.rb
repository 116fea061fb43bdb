# frozen_string_literal: true

module Labkit
  module RateLimit
    module RedisCalls
      # redis-rb 5, which is redis-client inside.
      module RedisRb5
        class << self
          # @param connection [Object]
          # @param pending [Native::Pending, Native::PendingClear]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, pending, left)
            RedisCalls.locked(connection) do |client|
              RedisCalls.shortened(client, left) do
                next send_script(client, pending) if client.connected?

                RedisCalls.interrupt(left, connection) { send_script(client, pending) }
              end
            rescue StandardError => e
              raise translated(client, e)
            end
          end

          # What fails on the way to a connection has not yet the name that redis-rb gives it.
          #
          # @param client [Object] what redis-rb has inside
          # @param error [StandardError]
          # @return [StandardError]
          def translated(client, error)
            return error unless error.class.name.to_s.start_with?("RedisClient::")
            return error unless client.class.respond_to?(:translate_error!)

            client.class.translate_error!(error)
          rescue StandardError => e
            e
          end

          private

          def send_script(client, pending)
            client.disable_reconnection { RedisCalls.sent(pending) { |command| client.call_v(command) } }
          end
        end
      end
    end
  end
end
