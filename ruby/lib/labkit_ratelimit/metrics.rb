# frozen_string_literal: true

module Labkit
  module RateLimit
    # The five families of metrics. A metric that fails touches no result.
    class Metrics
      # A flag that is set once, where concurrent-ruby is not at hand.
      #
      # @api private
      class Latch
        def initialize
          @mutex = Mutex.new
          @value = false
        end

        # @return [Boolean] whether it changed
        def make_true
          swap(true)
        end

        # @return [Boolean] whether it changed
        def make_false
          swap(false)
        end

        # @return [Boolean]
        def true?
          @value
        end
        alias value true?

        # @return [Boolean]
        def false?
          !@value
        end

        private

        def swap(value)
          @mutex.synchronize { (@value != value).tap { @value = value } }
        end
      end

      latch =
        begin
          require "concurrent/atomic/atomic_boolean"
          ::Concurrent::AtomicBoolean
        rescue LoadError
          Latch
        end
      # Whether this process has logged a metric that failed. Specs reset it with `make_false`.
      FAILURE_LOGGED = latch.new

      # What every family's name starts with.
      PREFIX = "gitlab_labkit_rate_limiter"
      # Names, kinds, helps, labels.
      FAMILIES = {
        checks_total: [:counter, "Checks of rate limiters", %i[rate_limiter action matched error]],
        rule_evaluations_total:
          [:counter, "Evaluations of rules of rate limiters", %i[rate_limiter rule action result]],
        peeks_total: [:counter, "Peeks of rate limiters", %i[rate_limiter error]],
        limit: [:gauge, "Limit of a rule when it was last evaluated", %i[rate_limiter rule]],
        period_seconds: [:gauge, "Period of a rule when it was last evaluated, in seconds", %i[rate_limiter rule]]
      }.freeze
      private_constant :FAMILIES

      # The label sets of a limiter under some rules: made once each, and gone when other rules come.
      #
      # @api private
      class Labels
        # @return [Array<Rule>, nil]
        attr_reader :rules

        def initialize(name, rules)
          @name = name
          @rules = rules
          @evaluations = Array.new(rules ? rules.size : 0) { {} }
          @gauges = []
          @checks = {}
        end

        # @param at [Integer] the place of the rule
        def evaluation(at, result)
          @evaluations[at][result] ||= begin
            rule = @rules[at]
            { rate_limiter: @name, rule: rule.name, action: rule.action.name, result: result.to_s }.freeze
          end
        end

        def gauges(at)
          @gauges[at] ||= { rate_limiter: @name, rule: @rules[at].name }.freeze
        end

        def check(action, matched, error)
          told = (@checks[action] ||= [])
          told[(matched ? 1 : 0) + (error ? 2 : 0)] ||=
            { rate_limiter: @name, action: action.name, matched: matched.to_s, error: error.to_s }.freeze
        end
      end

      class << self
        # @api private
        # @param registry [Object, nil] what the limiter was given
        # @param name [String] of the limiter
        # @param logs [Logs]
        # @return [Metrics, nil] nil where there is nowhere to count
        def build(registry, name, logs)
          registry ||= Beside.constant(:Metrics, :Client)
          registry && new(Sinks.for(registry), name, logs)
        end
      end

      # @api private
      def initialize(sink, name, logs)
        @sink = sink
        @name = name
        @logs = logs
        @metrics = {}
        @labels = Labels.new(name, nil)
        @peeks = {}
      end

      # Counts a check.
      #
      # @api private
      # @param decision [Native::Decision]
      # @param rules [Array<Rule>] those it speaks of
      # @return [void]
      def checked(decision, rules)
        labels = @labels
        labels = @labels = Labels.new(@name, rules) unless labels.rules.equal?(rules)
        place = 0
        counted = decision.counted_size
        while place < counted
          evaluated(decision, place, labels)
          place += 1
        end
        skip = decision.skipped_by
        increment(:rule_evaluations_total, labels.evaluation(skip, "skip")) if skip
        increment(:checks_total, labels.check(decision.action, decision.matched?, unsure?(decision)))
      end

      # Counts a peek.
      #
      # @api private
      # @param decision [Native::Decision]
      # @return [void]
      def peeked(decision)
        increment(:peeks_total, @peeks[unsure?(decision)] ||=
                                  { rate_limiter: @name, error: unsure?(decision).to_s }.freeze)
      end

      private

      def evaluated(decision, place, labels)
        at = decision.place(place)
        increment(:rule_evaluations_total, labels.evaluation(at, decision.outcome(place)))
        gauges = labels.gauges(at)
        set(:limit, gauges, decision.limit(place))
        set(:period_seconds, gauges, decision.period(place))
      end

      def unsure?(decision)
        decision.error? || decision.degraded?
      end

      def increment(family, labels)
        @sink.increment(metric(family), labels)
      rescue StandardError => e
        failed(family, e)
      end

      def set(family, labels, value)
        @sink.set(metric(family), labels, value)
      rescue StandardError => e
        failed(family, e)
      end

      # A null metric is asked for again: its folder may come.
      def metric(family)
        @metrics[family] || begin
          kind, help, labels = FAMILIES.fetch(family)
          metric = @sink.public_send(kind, :"#{PREFIX}_#{family}", help, labels)
          metric.class.name.to_s.include?("Null") ? metric : @metrics[family] = metric
        end
      end

      def failed(family, error)
        return unless @logs.logger && FAILURE_LOGGED.make_true

        @logs.quietly(
          "error_type" => "rate_limit_metrics_error", name: @name, metric: family.name,
          "class_name" => error.class.name, "error_message" => error.message
        )
      end
    end
  end
end
