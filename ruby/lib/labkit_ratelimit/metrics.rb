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
        # @return [Array<Hash{String => Hash}>] what {#evaluation} made, by place
        attr_reader :evaluations
        # @return [Array<Hash>] what {#check} made
        attr_reader :checks

        def initialize(name, rules)
          @name = name
          @rules = rules
          # The core's words are the same objects each time.
          @evaluations = Array.new(rules ? rules.size : 0) { {}.compare_by_identity }
          @gauges = []
          @checks = []
        end

        # @param at [Integer] the place of the rule
        # @param result [String] a word of the core's
        def evaluation(at, result)
          @evaluations[at][result] ||= begin
            rule = @rules[at]
            { rate_limiter: @name, rule: rule.name, action: rule.action.name, result: result }.freeze
          end
        end

        # @param at [Integer] the place of the rule
        # @return [Hash] the labels of its gauges
        def gauges(at)
          @gauges[at] ||= { rate_limiter: @name, rule: @rules[at].name }.freeze
        end

        # @param way [Integer] how it came out, as {Native::Decision#told} has it
        def check(way)
          @checks[way] ||=
            { rate_limiter: @name, action: way < 4 ? "allow" : "block", matched: way.odd?.to_s,
              error: (way & 2 == 2).to_s }.freeze
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
        # Those of rules, once none of them is null.
        @known = nil
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
        told = decision.told
        if told.size > 1
          if @known
            @sink.evaluated(told, labels, @known) { |family, error| failed(family, error) }
          else
            evaluated(told, labels)
          end
        end
        begin
          way = told[0]
          @sink.increment(@metrics[:checks_total] || metric(:checks_total), labels.checks[way] || labels.check(way))
        rescue StandardError => e
          failed(:checks_total, e)
        end
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

      # As a sink tells it, of metrics that may be null, or cannot be made.
      def evaluated(told, labels)
        told.drop(1).each_slice(4) do |place, result, limit, period|
          increment(:rule_evaluations_total, labels.evaluation(place, result))
          next unless limit

          set(:limit, labels.gauges(place), limit)
          set(:period_seconds, labels.gauges(place), period)
        end
        known = @metrics.values_at(:rule_evaluations_total, :limit, :period_seconds)
        @known = known.freeze if known.all?
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
