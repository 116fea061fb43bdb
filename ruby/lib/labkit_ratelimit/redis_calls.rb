# frozen_string_literal: true

require "timeout"

module Labkit
  module RateLimit
    # How a script is run on a connection of the host, by what the connection answers to. A call is sent once: the
    # client's own retrying is off for it, and it waits no longer than it is given.
    #
    # @api private
    module RedisCalls
      # In the place of a digest, on a cluster: the slot is on its way to this node. It holds for one command.
      ASKING = "ASKING"

      class << self
        # @param connection [Object]
        # @return [Module] the way that fits it
        def for(connection)
          inner = inner(connection)
          return ClusterCalls if ClusterCalls.fit?(inner)
          return Client if answers?(connection, :call_once_v)
          return Generic if inner.equal?(connection) || cluster?(connection)

          if inner.respond_to?(:with_socket_timeout) then RedisRb4
          elsif inner.respond_to?(:disable_reconnection) then RedisRb5
          else
            Generic
          end
        end

        # @return [Boolean] whether keys of different slots are of different nodes
        def cluster?(connection)
          [connection, inner(connection)].any? do |object|
            ClusterCalls.asking?(object) || object.class.name.to_s.match?(/\ARedis(Client)?::Cluster(?!::Pinning)/)
          end
        end

        # @param way [Module]
        # @return [Boolean] whether a call by it is sent once, and waits no longer than it is given
        def sure?(way, connection)
          way != Generic && !(way == Client && ClusterCalls.asking?(connection))
        end

        # @return [Boolean] whether the server does not know the digest
        def unknown_script?(error)
          error.message.start_with?("NOSCRIPT")
        end

        # Interrupts what cannot be given a time-out, and closes that connection: its reply may still come.
        def interrupt(left, connection, &block)
          Timeout.timeout(left, &block)
        rescue Timeout::Error
          close(connection)
          raise
        end

        # @return [Boolean]
        def closable?(connection)
          answers?(connection, :close) || answers?(connection, :disconnect!)
        end

        # Whether an object has a method. What says so of every method, as a proxy over two stores may, says nothing.
        #
        # @return [Boolean]
        def answers?(object, name)
          # It would ask its cluster, which may be down.
          return object.class.method_defined?(name) if ClusterCalls.asking?(object)

          object.respond_to?(name) && !object.respond_to?(:labkit_rate_limit_no_such_method)
        end

        # redis-rb locks a client that threads share. A wrapper around one may not pass that on.
        def locked(connection, &block)
          return yield(connection._client) unless locks?(connection.class)

          connection.send(:synchronize, &block)
        end

        # redis-rb: the commands are methods.
        def by_methods(connection, script, keys, argv)
          connection.evalsha(script[0], keys: keys, argv: argv)
        rescue StandardError => e
          raise unless unknown_script?(e)

          connection.eval(script[1], keys: keys, argv: argv)
        end

        # Time-outs of redis-client: only ever shorter, and what they were afterwards.
        def shortened(client, left)
          before = [client.connect_timeout, client.read_timeout, client.write_timeout]
          return yield if before.all? { |seconds| seconds && seconds <= left }

          begin
            client.timeout = left
            yield
          ensure
            client.connect_timeout, client.read_timeout, client.write_timeout = before
          end
        end

        private

        # What redis-rb has inside; any other client is that itself.
        def inner(connection)
          answers?(connection, :_client) ? connection._client : connection
        end

        def locks?(kind)
          @locks ||= {}.compare_by_identity
          @locks.fetch(kind) do
            @locks[kind] = kind.method_defined?(:synchronize) || kind.private_method_defined?(:synchronize)
          end
        end

        def close(connection)
          # Once closed, that of a cluster never works again. Its nodes notice by themselves what was not read.
          return if ClusterCalls.asking?(inner(connection))

          answers?(connection, :close) ? connection.close : connection.disconnect!
        rescue StandardError
          # It is gone already.
        end
      end

      # redis-client.
      module Client
        class << self
          # @param connection [Object]
          # @param script [Array<String>] its digest, and itself
          # @param keys [Array<String>]
          # @param argv [Array<String>]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, script, keys, argv, left)
            unless RedisCalls.answers?(connection, :read_timeout=)
              return RedisCalls.interrupt(left, connection) { send_script(connection, script, keys, argv) }
            end

            RedisCalls.shortened(connection, left) do
              next send_script(connection, script, keys, argv) if connection.connected?

              RedisCalls.interrupt(left, connection) { send_script(connection, script, keys, argv) }
            end
          end

          private

          def send_script(connection, script, keys, argv)
            if script[0].equal?(ASKING)
              connection.call_once_v([ASKING])
              return connection.call_once_v(["EVAL", script[1], keys.size, *keys, *argv])
            end

            connection.call_once_v(["EVALSHA", script[0], keys.size, *keys, *argv])
          rescue StandardError => e
            raise unless RedisCalls.unknown_script?(e)

            connection.call_once_v(["EVAL", script[1], keys.size, *keys, *argv])
          end
        end
      end

      # redis-rb 5, which is redis-client inside.
      module RedisRb5
        class << self
          # @param connection [Object]
          # @param script [Array<String>] its digest, and itself
          # @param keys [Array<String>]
          # @param argv [Array<String>]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, script, keys, argv, left)
            RedisCalls.locked(connection) do |client|
              RedisCalls.shortened(client, left) do
                next send_script(client, script, keys, argv) if client.connected?

                RedisCalls.interrupt(left, connection) { send_script(client, script, keys, argv) }
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

          def send_script(client, script, keys, argv)
            client.disable_reconnection do
              client.call_v(["EVALSHA", script[0], keys.size, *keys, *argv])
            rescue StandardError => e
              raise unless RedisCalls.unknown_script?(e)

              client.call_v(["EVAL", script[1], keys.size, *keys, *argv])
            end
          end
        end
      end

      # redis-rb 4.
      module RedisRb4
        class << self
          # @param connection [Object]
          # @param script [Array<String>] its digest, and itself
          # @param keys [Array<String>]
          # @param argv [Array<String>]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, script, keys, argv, left)
            RedisCalls.locked(connection) { |client| on(client, script, keys, argv, left) }
          end

          # @param client [Object] what redis-rb has inside, or a node of its cluster
          # @param script [Array<String>] its digest, and itself
          # @param keys [Array<String>]
          # @param argv [Array<String>]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def on(client, script, keys, argv, left)
            return once(client, script, keys, argv, left) if client.connected?

            RedisCalls.interrupt(left, client) { client.connect && once(client, script, keys, argv, left) }
          end

          private

          # What is sent here is sent once: with the client's own way to try again switched off.
          def once(client, script, keys, argv, left)
            client.with_reconnect(false) { limited(client, script, keys, argv, left) }
          rescue StandardError => e
            raise unless e.class.name.to_s.end_with?("InheritedError")

            # A connection of the parent process: nothing was sent on it.
            client.reconnect
            client.with_reconnect(false) { limited(client, script, keys, argv, left) }
          end

          # The socket waits for less while the script runs, and for as long as before afterwards.
          def limited(client, script, keys, argv, left)
            usual = client.timeout
            return send_script(client, script, keys, argv) if usual <= left

            begin
              client.connection.timeout = left
              send_script(client, script, keys, argv)
            ensure
              client.connection.timeout = usual if client.connected?
            end
          end

          def send_script(client, script, keys, argv)
            if script[0].equal?(ASKING)
              client.call([:asking])
              return client.call([:eval, script[1], keys.size, *keys, *argv])
            end

            client.call([:evalsha, script[0], keys.size, *keys, *argv])
          rescue StandardError => e
            raise unless RedisCalls.unknown_script?(e)

            client.call([:eval, script[1], keys.size, *keys, *argv])
          end
        end
      end

      # Anything else that has `evalsha` and `eval`.
      module Generic
        class << self
          # @param connection [Object]
          # @param script [Array<String>] its digest, and itself
          # @param keys [Array<String>]
          # @param argv [Array<String>]
          # @param left [Float] seconds
          # @return [String] the reply
          # @raise [StandardError] as the client raises it
          def run(connection, script, keys, argv, left)
            return RedisCalls.by_methods(connection, script, keys, argv) unless RedisCalls.closable?(connection)

            RedisCalls.interrupt(left, connection) { RedisCalls.by_methods(connection, script, keys, argv) }
          end
        end
      end
    end
  end
end
