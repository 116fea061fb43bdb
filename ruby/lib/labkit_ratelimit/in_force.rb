# frozen_string_literal: true

module Labkit
  module RateLimit
    # The rules of a limiter as objects. A rule of code is its caller's own object, as long as it is in force; a rule
    # of documents becomes an object once in each version.
    #
    # @api private
    class InForce
      # @param given [Array<Rule>] rules of code
      # @param core [Native::Core]
      # @param documented [Boolean] whether there are documents
      def initialize(given, core, documented)
        @given = given.freeze
        @core = core
        @known = nil
        documented ? from_documents : @code = @given
      end

      # Rules may come from documents from here on.
      #
      # @return [void]
      def from_documents
        @known ||= known
        @code = nil
      end

      # @return [Array<Rule>] now, in chain order
      def now
        @code || current
      end

      # @param decision [Native::Decision]
      # @return [Array<Rule>] those that it speaks of, in chain order
      def of(decision)
        return @code if @code

        version = decision.rules_version
        latest = @latest
        return latest[1] if latest && latest[0] == version

        # Rules were replaced meanwhile, how often does not matter: the decision has its own.
        rules = shown(decision.rules)
        @latest = [version, rules].freeze if latest.nil? || version > latest[0]
        rules
      end

      private

      def current
        latest = @latest
        return latest[1] if latest && latest[0] == @core.rules_version

        version, rules = @core.generation
        @latest = [version, shown(rules)].freeze
        @latest[1]
      end

      def shown(rules)
        rules.map { |fields| Shown.rule(fields, @known) }.freeze
      end

      # Rules of code by name, each with how the core shows it.
      def known
        words = Words.new
        core = Native::Core.new("known", @given.map { |rule| words.rule(rule) }, Probe::OPTIONS)
        @given.zip(core.rules).to_h { |rule, fields| [rule.name, [rule, fields]] }
      end
    end
  end
end
