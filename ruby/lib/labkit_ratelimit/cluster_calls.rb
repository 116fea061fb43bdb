# frozen_string_literal: true

module Labkit
  module RateLimit
    # A cluster, by redis-cluster-client, redis-clustering or redis-rb 4. They try again whatever fails, and have no
    # time-out for one call. So a call goes to the node that owns its keys, which is a client like any other, and what
    # that says of its slots is followed here.
    #
    # @api private
    module ClusterCalls
      # How often a call follows its slot before it is a failure.
      REDIRECTIONS = 3
      # What the clients call it to learn anew who owns what.
      RELOADS = %i[renew_cluster_state update_cluster_info!].freeze
      private_constant :REDIRECTIONS, :RELOADS

      # Nodes that failed: they may own nothing any more.
      @suspects = ObjectSpace::WeakMap.new

      class << self
        # @param client [Object] what a connection has inside
        # @return [Boolean] whether it is a cluster's, and one whose nodes can be had
        def fit?(client)
          if asking?(client)
            client.class.private_method_defined?(:router) && ::RedisClient::Cluster.const_defined?(:Router) &&
              routes?(::RedisClient::Cluster::Router, :find_primary_node_key)
          else
            defined?(::Redis::Cluster) && client.instance_of?(::Redis::Cluster) && routes?(client.class, :find_node_key)
          end
        end

        # @return [Boolean] whether it is a client that asks its cluster which methods it has
        def asking?(object)
          defined?(::RedisClient::Cluster) && ::RedisClient::Cluster === object # rubocop:disable Style/CaseEquality
        end

        # @param connection [Object]
        # @param pending [Native::Pending, Native::PendingClear]
        # @param left [Float] seconds
        # @return [String] the reply
        # @raise [StandardError] as the client raises it
        def run(connection, pending, left)
          call = Call.new(pending, pending.keys, now + left)
          return routed(connection, call) if asking?(connection)

          RedisCalls.locked(connection) do |client|
            routed(client, call)
          rescue StandardError => e
            raise RedisCalls::RedisRb5.translated(client, e)
          end
        end

        # @return [Float] seconds
        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        private

        # What is sent, and until when it may take.
        Call = Struct.new(:pending, :keys, :ends) do
          # @return [Float] seconds
          # @raise [Timeout::Error]
          def left
            left = ends - ClusterCalls.now
            left.positive? ? left : raise(Timeout::Error, "the cluster took longer than the deadline")
          end
        end
        private_constant :Call

        def routes?(router, lookup)
          [lookup, :find_node, :assign_redirection_node, :assign_asking_node].all? do |name|
            router.method_defined?(name) || router.private_method_defined?(name)
          end
        end

        def routed(client, call)
          node = limited(call) { owner(router(client), call.keys) }
          asking = false
          REDIRECTIONS.times do
            return send_to(node, call, asking)
          rescue StandardError => e
            asking = e.message.start_with?("ASK ")
            suspect(node, e) && raise unless asking || e.message.start_with?("MOVED ")

            node = limited(call) { follow(router(client), e.message, asking) }
          end
          send_to(node, call, asking)
        end

        # The topology may have to be asked for, of who knows which node, on connections of its own.
        def limited(call, &)
          Timeout.timeout(call.left, &)
        end

        def router(client)
          asking?(client) ? client.send(:router) : client
        end

        def owner(router, keys)
          node = look_up(router, keys)
          return node unless @suspects[node]

          router.send(RELOADS.find { |name| router.respond_to?(name, true) })
          @suspects[node] = false
          look_up(router, keys)
        end

        # Scripts write, so the primary it is.
        def look_up(router, keys)
          command = ["EVALSHA", "", keys.size.to_s, keys.first]
          return router.find_node(router.find_primary_node_key(command)) if router.respond_to?(:find_primary_node_key)

          router.send(:find_node, router.send(:find_node_key, command, primary_only: true))
        end

        # Where a call goes that was not run.
        def follow(router, message, asking)
          router.send(asking ? :assign_asking_node : :assign_redirection_node, message)
        end

        # Before its next call it is asked who owns what.
        def suspect(node, error)
          down = error.message.start_with?("CLUSTERDOWN") || HostRedis.fault(error).first != "command"
          @suspects[node] = true if down
          true
        end

        def send_to(node, call, asking)
          if node.respond_to?(:with_socket_timeout)
            return RedisCalls::RedisRb4.on(node, call.pending, call.left,
                                           asking: asking)
          end

          # A pool too, where the host has one for each node.
          node.with(timeout: call.left) { |one| RedisCalls::Client.run(one, call.pending, call.left, asking: asking) }
        end
      end
    end
  end
end
