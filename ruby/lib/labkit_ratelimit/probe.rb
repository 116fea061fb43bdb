# frozen_string_literal: true

module Labkit
  module RateLimit
    # Asks the core about one matcher or one rule outside of any limiter: whether it can be, whether it holds.
    #
    # @api private
    class Probe
      # No store is asked: a rule that skips counts nothing.
      OPTIONS = {
        store: :host, topology: :single, deadline_s: 0.1, on_error: "allow", evaluation: "first_block", max_keys: nil,
        documents: nil, clock: nil
      }.freeze

      # Keeps what a pattern raised, which the core takes for a failure.
      class Listener < Host
        # @return [StandardError, nil]
        attr_reader :error

        # @see Host#matches
        def matches(id, text)
          super
        rescue StandardError => e
          @error = e
          raise
        end
      end

      class << self
        # @param fields [Hash{Symbol => Object}] a rule in the core's words
        # @param findings [Array<Hash>] what is known to be wrong with it
        # @return [Native::Core]
        # @raise [InvalidRules] if it cannot be; all that is wrong with it
        def rule(fields, findings)
          core = Native::Core.new("probe", [fields], OPTIONS)
          raise InvalidRules, findings unless findings.empty?

          core
        rescue Native::BuildError => e
          raise InvalidRules, findings + e.findings.map { |finding| alone(finding) }
        end

        private

        # There is one rule: its place says nothing.
        def alone(finding)
          finding.merge(path: finding[:path].to_s.delete_prefix("rules[0]").delete_prefix("."))
        end
      end

      # @param matcher [Matcher]
      # @raise [InvalidRules] if it cannot be
      def initialize(matcher, findings = [])
        @words = Words.new
        rule = { name: "probe", action: :skip, match: { value: matcher } }
        @core = self.class.rule(@words.fields(rule), findings)
      end

      # @return [Boolean]
      def holds?(value)
        listener = Listener.new(@words.callables, @words.patterns)
        decision = @core.plan(:peek, { value: value }, nil, listener)
        raise listener.error if listener.error

        decision.skipped?
      end
    end
  end
end
