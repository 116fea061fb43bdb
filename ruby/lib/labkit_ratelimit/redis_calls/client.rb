# frozen_string_literal: true

module Labkit
  module RateLimit
    module RedisCalls
      # redis-client.
      module Client
        class << self
          # @param connection [Object]
          # @param pending [Native::Pending, Native::PendingClear]
          # @param left [Float] seconds
          # @param asking [Boolean] on a cluster: the slot is on its way to this node
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, pending, left, asking: false)
            unless RedisCalls.answers?(connection, :read_timeout=)
              return RedisCalls.interrupt(left, connection) { send_script(connection, pending, asking) }
            end

            RedisCalls.shortened(connection, left) do
              next send_script(connection, pending, asking) if connected?(connection)

              RedisCalls.interrupt(left, connection) { send_script(connection, pending, asking) }
            end
          end

          private

          # A decorated client, such as Sidekiq's, cannot say; asked all the same, Sidekiq's sends it as a command.
          def connected?(connection)
            connection.respond_to?(:connected?) && connection.connected?
          end

          def send_script(connection, pending, asking)
            # It holds for one command, and that must not be one that fails for want of the script.
            if asking
              connection.call_once_v(["ASKING"])
              return connection.call_once_v(RedisCalls.with_text(pending))
            end

            RedisCalls.sent(pending) { |command| connection.call_once_v(command) }
          end
        end
      end
    end
  end
end
