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
            connection.evalsha(pending.script[0], keys: pending.keys, argv: pending.argv)
          rescue StandardError => e
            raise unless RedisCalls.unknown_script?(e)

            connection.eval(pending.script[1], keys: pending.keys, argv: pending.argv)
          end
        end
      end
    end
  end
end
