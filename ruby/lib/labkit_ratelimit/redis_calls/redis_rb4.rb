# frozen_string_literal: true

module Labkit
  module RateLimit
    module RedisCalls
      # redis-rb 4.
      module RedisRb4
        class << self
          # @param connection [Object]
          # @param pending [Native::Pending, Native::PendingClear]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, pending, left)
            RedisCalls.locked(connection) { |client| on(client, pending, left) }
          end

          # @param client [Object] what redis-rb has inside, or a node of its cluster
          # @param pending [Native::Pending, Native::PendingClear]
          # @param left [Float] seconds
          # @param asking [Boolean] on a cluster: the slot is on its way to this node
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def on(client, pending, left, asking: false)
            return once(client, pending, left, asking) if client.connected?

            anew(client, pending, left, asking)
          rescue StandardError => e
            raise unless e.class.name.to_s.end_with?("InheritedError")

            # A connection of the parent process: nothing was sent on it.
            client.disconnect
            anew(client, pending, left, asking)
          end

          private

          # To connect takes as long as it takes, with commands of its own.
          def anew(client, pending, left, asking)
            RedisCalls.interrupt(left, client) { client.connect && once(client, pending, left, asking) }
          end

          # What is sent here is sent once: with the client's own way to try again switched off.
          def once(client, pending, left, asking)
            client.with_reconnect(false) { limited(client, pending, left, asking) }
          end

          # The socket waits for less while the script runs, and for as long as before afterwards.
          def limited(client, pending, left, asking)
            usual = client.timeout
            return send_script(client, pending, asking) if usual <= left

            begin
              client.connection.timeout = left
              send_script(client, pending, asking)
            ensure
              client.connection.timeout = usual if client.connected?
            end
          end

          def send_script(client, pending, asking)
            # It holds for one command, and that must not be one that fails for want of the script.
            if asking
              client.call([:asking])
              return client.call(RedisCalls.with_text(pending))
            end

            RedisCalls.sent(pending) { |command| client.call(command) }
          end
        end
      end
    end
  end
end
