# frozen_string_literal: true

module Labkit
  module RateLimit
    # What a limiter takes beside its name and its rules.
    #
    # @!attribute [r] metrics
    #   @return [Object, nil] a Prometheus registry; gitlab-labkit's client where it is nil and that is installed
    # @!attribute [r] documents
    #   @return [Hash, nil] @api private
    class Options
      # What may be said where there is a choice, but for nil.
      CHOICES = {
        on_error: %w[allow block local], evaluation: %w[first_block all], topology: %w[single cluster],
        store: %w[memory]
      }.freeze
      # Where nil says that nothing is chosen.
      OPTIONAL = %i[topology store].freeze
      # A client has one of these.
      CALLED = %i[with evalsha call_v call_once_v call].freeze
      private_constant :CHOICES, :OPTIONAL, :CALLED

      attr_reader :metrics, :documents

      # @param redis [Object, nil] a client, or what lends one to a block by `with`
      # @param metrics [Object, nil]
      # @param on_error [Symbol] what a check without a verdict answers: `:allow`, `:block`, or `:local`, which counts
      #   in this process until the store answers again
      # @param evaluation [Symbol] `:first_block`, or `:all`: then a block does not end the chain
      # @param deadline [Numeric] seconds that a check waits for its store
      # @param topology [Symbol, nil] `:single` or `:cluster`; found out where it is nil
      # @param store [Symbol, nil] `:memory`: counters of this process, on purpose
      # @param max_keys [Integer, nil] how many counters the memory store holds
      # @param clock [ManualClock, nil] for tests: the time of the memory store
      # @raise [InvalidRules] an ArgumentError, whether or not there are documents: an option is written in code
      def initialize(
        redis: nil, metrics: nil, on_error: :allow, evaluation: :first_block, deadline: Limiter::DEADLINE,
        topology: nil, store: nil, max_keys: nil, clock: nil, documents: nil
      )
        seconds = Float(deadline, exception: false)
        refuse(seconds, deadline, redis, on_error: on_error, evaluation: evaluation, topology: topology, store: store)
        @redis = store ? nil : redis
        @metrics = metrics
        @documents = documents
        @topology = topology&.to_sym
        @native = {
          deadline_s: seconds, on_error: on_error.to_s, evaluation: evaluation.to_s, documents: documents,
          clock: clock, max_keys: max_keys || (Native::DEFAULT_MAX_KEYS if store)
        }
      end

      # @api private
      # @param say [#call] takes what an operator should know once
      # @param found_cluster [#call] is told that calls are to be planned for a cluster
      # @return [HostRedis, nil]
      def host_redis(say, found_cluster)
        @redis && HostRedis.new(@redis, @topology, say, found_cluster)
      end

      # @api private
      # @return [Hash{Symbol => Object}]
      def native(host_redis)
        @native.merge(store: host_redis ? :host : :memory, topology: host_redis ? host_redis.topology : :single).freeze
      end

      private

      # All that is wrong, at once.
      def refuse(seconds, deadline, redis, **chosen)
        findings = chosen.filter_map { |option, value| mistake(option, value) }
        unless seconds && seconds.finite? && seconds.positive? # rubocop:disable Style/SafeNavigation
          text = "deadline is a number of seconds above 0, not #{deadline.inspect}"
          findings << Mistake.of(:option_invalid, "deadline", text)
        end
        unless redis.nil? || client?(redis)
          # Its content may be a secret, as in a URL.
          text = "redis is a client, or a pool that lends one by `with`; #{redis.class} is neither"
          findings << Mistake.of(:option_invalid, "redis", text)
        end
        raise InvalidRules, findings unless findings.empty?
      end

      # What says so of every method may be one.
      def client?(redis)
        CALLED.any? { |name| RedisCalls.answers?(redis, name) } || redis.respond_to?(:labkit_rate_limit_no_such_method)
      end

      def mistake(option, value)
        return if value.nil? && OPTIONAL.include?(option)

        known = CHOICES.fetch(option)
        return if (value.is_a?(Symbol) || value.is_a?(String)) && known.include?(value.to_s)

        allowed = OPTIONAL.include?(option) ? [*known, "nil"] : known
        Mistake.of(:option_invalid, option.name, "#{option} is #{allowed.join(" or ")}, not #{value.inspect}")
      end
    end
  end
end
