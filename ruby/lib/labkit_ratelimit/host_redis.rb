# frozen_string_literal: true

module Labkit
  module RateLimit
    # The host's Redis: a pool, or a client. It runs the calls of a plan, and knows nothing of what they say.
    #
    # @api private
    class HostRedis
      # What {#run} gives for a plan of one server where the Redis turned out to be a cluster: plan again.
      REPLAN = Object.new.freeze
      NAME = Module.instance_method(:name)
      private_constant :NAME

      # What was said of, once for all limiters that share it.
      @told = ObjectSpace::WeakMap.new
      class << self
        # @return [ObjectSpace::WeakMap]
        attr_reader :told
      end

      # The fault of an error, as the core takes it.
      #
      # @param error [StandardError]
      # @return [Array<String>] kind, class, message
      def self.fault(error)
        names = error.class.ancestors.map { |ancestor| named(ancestor) }
        name = names.find { |one| !one.empty? }
        kind =
          if name.include?("Timeout") then "timeout"
          elsif names.any? { |one| one.end_with?("CommandError") } then "command"
          else
            "connection"
          end
        [kind, name, told_by(error)]
      end

      # A class may have a `name` of its own, and that may fail.
      def self.named(kind)
        kind.name.to_s
      rescue StandardError
        NAME.bind_call(kind).to_s
      end

      def self.told_by(error)
        error.message.to_s
      rescue StandardError => e
        "its message fails (#{named(e.class)})"
      end
      private_class_method :named, :told_by

      # @param redis [Object]
      # @param topology [Symbol, nil] `:single`, `:cluster`, or nil: what the connection says
      # @param say [#call] takes what an operator should know once
      # @param found_cluster [#call] is told when the first connection of a pool turns out to be a cluster's
      def initialize(redis, topology, say, found_cluster)
        # A pool that poses as a client is a pool.
        @redis = RedisCalls.answers?(redis, :wrapped_pool) ? redis.wrapped_pool : redis
        @say = say
        @found_cluster = found_cluster
        @timed = timed?(@redis)
        @bare = !@timed && !pool?(@redis)
        # By connection, not by its class: one may have methods of its own.
        @ways = ObjectSpace::WeakMap.new
        @cluster = topology ? topology == :cluster : @bare && RedisCalls.cluster?(@redis)
        @settled = !topology.nil?
        meet(@redis) if @bare
      end

      # @return [Symbol]
      def topology
        @cluster ? :cluster : :single
      end

      # Runs a call, and waits for its reply within its deadline, a connection of the pool included.
      #
      # @param pending [Native::Pending, Native::PendingClear]
      # @param topology [Symbol] what {#topology} was before it was planned
      # @return [String, REPLAN]
      # @raise [StandardError] whatever the pool and the client raise
      def run(pending, topology)
        left = pending.deadline
        return on(@redis, pending, topology, left) if @bare

        ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + left
        if @timed
          @redis.with(timeout: left) { |connection| on(connection, pending, topology, left_until(ends)) }
        else
          @redis.with { |connection| on(connection, pending, topology, left_until(ends)) }
        end
      end

      private

      # redis-cluster-client has a `with` of its own, which wants a key; clients hand themselves out.
      def pool?(redis)
        RedisCalls.answers?(redis, :with) && %i[call_once_v _client].none? { |name| RedisCalls.answers?(redis, name) }
      end

      # A pool of a host's own may lend without a word on time.
      def timed?(redis)
        pool = RedisCalls.answers?(redis, :checkout) || redis.class.name.to_s.end_with?("RedisClient::Pooled")
        pool && !redis.method(:with).arity.zero?
      end

      def left_until(ends)
        ends - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def on(connection, pending, topology, left)
        settle(connection) unless @settled
        return REPLAN if @cluster && topology == :single

        raise Timeout::Error, "no connection of the pool within #{pending.deadline} s" unless left.positive?

        way = @ways[connection] || meet(connection)
        way.run(connection, pending, left)
      end

      # What a pool lends shows what it is. The core knows first, so that whoever reads :cluster has plans for one.
      def settle(connection)
        if RedisCalls.cluster?(connection)
          @found_cluster.call
          @cluster = true
        end
        @settled = true
      end

      def meet(connection)
        way = RedisCalls.for(connection)
        tell(connection) unless RedisCalls.sure?(way, connection) || HostRedis.told[@redis]
        @ways[connection] = way
      end

      def tell(connection)
        HostRedis.told[@redis] = true
        wait = RedisCalls.closable?(connection) ? "" : "; its own time-outs rule, not the deadline"
        @say.call("#{connection.class} is no client known here: what it retries by itself, it retries#{wait}")
      end
    end
  end
end
