# frozen_string_literal: true

require "timeout"

module Labkit
  module RateLimit
    # How a call of the core is run on a connection of the host, by what the connection answers to. A call is sent
    # once: the client's own retrying is off for it, and it waits no longer than it is given.
    #
    # Each way is a module with `run(connection, pending, left)`: `pending` is a {Native::Pending} or a
    # {Native::PendingClear}, `left` is seconds; it gives the reply, and raises as the client raises.
    #
    # @api private
    module RedisCalls
      class << self
        # @param connection [Object]
        # @return [Module] the way that fits it
        def for(connection)
          return Generic if foreign?(connection)

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

        # Sends a call by its script's digest, and, where the server does not know that, by its text: then nothing ran.
        #
        # @yieldparam command [Array]
        # @return [String] the reply
        def sent(pending)
          yield pending.command
        rescue StandardError => e
          raise unless e.message.start_with?("NOSCRIPT")

          yield with_text(pending)
        end

        # The command of a call with the script itself in place of its digest.
        #
        # @return [Array]
        def with_text(pending)
          [:eval, pending.script[1], *pending.command.drop(2)]
        end

        # Time-outs of redis-client: only ever shorter, and what they were afterwards. Nothing waits to write: when a
        # call begins the socket's buffer is empty, and a call is shorter.
        def shortened(client, left)
          connecting = client.connect_timeout
          reading = client.read_timeout
          return yield if within?(connecting, left) && within?(reading, left)

          begin
            client.connect_timeout = left
            client.read_timeout = left
            yield
          ensure
            client.connect_timeout = connecting
            client.read_timeout = reading
          end
        end

        private

        # Whether a script asked for by the connection's methods goes by code that is not redis-rb's, which may change
        # its keys, as redis-namespace does: the client inside would not. What takes no keywords, as Sidekiq's client,
        # is not what we could call.
        def foreign?(connection)
          return false unless answers?(connection, :evalsha)

          %i[evalsha eval].any? do |name|
            next unless answers?(connection, name)

            method = connection.method(name)
            next foreign?(connection.__getobj__) if passed_on?(connection, method)

            !(library?(method.owner) || (answers?(connection, :call_once_v) && !keywords?(method)))
          end
        end

        # A plain Delegator, which has no such method itself.
        def passed_on?(connection, method)
          defined?(::Delegator) && ::Delegator === connection && # rubocop:disable Style/CaseEquality
            !method.owner.method_defined?(method.name) && connection.method(:method_missing).owner == ::Delegator
        end

        def library?(owner)
          defined?(::Redis) && (owner == ::Redis || owner.name.to_s.match?(/\ARedis::Commands(?:::|\z)/))
        end

        def keywords?(method)
          method.parameters.any? { |kind, _| %i[key keyreq keyrest rest].include?(kind) }
        end

        # What redis-rb has inside; any other client is that itself.
        def inner(connection)
          answers?(connection, :_client) ? connection._client : connection
        end

        def within?(seconds, left)
          seconds && seconds <= left
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
    end
  end
end

%w[client redis_rb5 redis_rb4 generic].each { |way| require_relative "redis_calls/#{way}" }
