# frozen_string_literal: true

module Labkit
  module RateLimit
    module RedisCalls
      # Anything else that has `evalsha` and `eval`.
      module Generic
        class << self
          # @param connection [Object]
          # @param pending [Native::Pending, Native::PendingClear]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, pending, left)
            return by_methods(connection, pending) unless RedisCalls.closable?(connection)

            RedisCalls.interrupt(left, connection) { by_methods(connection, pending) }
          end

          private

          def by_methods(connection, pending)
            RedisCalls.sent(pending) do |method, script|
              connection.public_send(method, script, keys: pending.keys, argv: pending.argv)
            end
          end
        end
      end
    end
  end
end
