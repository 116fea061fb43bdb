# frozen_string_literal: true

module Labkit
  module RateLimit
    # What a check, or a peek, came to.
    #
    # A limiter's results read what the core decided. One that a spec builds by hand answers by its evaluations.
    class Result
      # @return [Result] a failure: no verdict
      def self.error
        new(error: true)
      end

      # @api private
      # @param decision [Native::Decision]
      # @param rules [Array<Rule>] those it speaks of
      # @return [Result]
      def self.decided(decision, rules)
        allocate.decide(decision, rules)
      end

      # @param error [Boolean]
      def initialize(error: false)
        @error = error
        @degraded = false
        @evaluations = []
      end

      # @api private
      # @return [Result] self
      def decide(decision, rules)
        @decision = decision
        @rules = rules
        self
      end

      # @return [Symbol] `:allow` or `:block`
      def action
        return @decision.action if @decision

        @evaluations.any?(&:block?) ? :block : :allow
      end

      # @return [Boolean]
      def block?
        action == :block
      end

      # @return [Boolean] whether some rule matched
      def matched?
        @decision ? @decision.matched? : !@evaluations.empty? || skipped?
      end

      # @return [Boolean] whether the reported rule is over
      def exceeded?
        @decision ? @decision.exceeded? : reported&.exceeded? || false
      end

      # @return [Boolean] whether a `:skip` rule ended the chain
      def skipped?
        @decision ? @decision.skipped? : !@skip.nil?
      end

      # @return [Boolean] whether a `:warn` rule is over
      def warned?
        return @decision.warned? if @decision

        @evaluations.any? { |evaluation| evaluation.exceeded? && evaluation.rule.action == :warn }
      end

      # @return [Boolean] whether there is no verdict: `action` is what the limiter says for failures
      def error?
        @decision ? @decision.error? : @error
      end

      # @return [Boolean] whether a part of the verdict is missing
      def degraded?
        @decision ? @decision.degraded? : @degraded
      end

      # @return [Rule, nil] the reported one: the first block, else the skip that ended the chain, else the most
      #   constraining
      def rule
        if @decision
          place = @decision.rule
          place && @rules[place]
        else
          evaluation = reported
          evaluation ? evaluation.rule : @skip || most_constraining&.rule
        end
      end

      # @return [Info, nil] of the reported rule
      def info
        return reported&.info unless @decision

        @info ||= begin
          place = @decision.reported
          place && Info.decided(@decision, place, @decision.reported_retry_after)
        end
      end

      # @return [Array<Evaluation>] every counting rule that was evaluated, in order
      def evaluations
        @evaluations ||= Array.new(@decision.size) do |place|
          Evaluation.decided(@rules[@decision.place(place)], @decision, place)
        end
      end

      # @return [Evaluation, nil] set even when a skip is reported
      def most_constraining
        return @evaluations.min unless @decision

        place = @decision.most_constraining
        place && evaluations[place]
      end

      # @return [Float, nil] seconds until this call could pass; nil where nothing blocks, or no wait helps
      def retry_after
        @decision ? @decision.reported_retry_after : (info&.retry_after if block?)
      end

      # @return [Float, nil] seconds until the window, or the ban, of the reported rule ends
      def reset_after
        if @decision
          place = @decision.reported
          place && @decision.reset_after(place)
        else
          reported&.reset_after
        end
      end

      # @param format [Symbol] `:gitlab`, or `:ietf` for draft-ietf-httpapi-ratelimit-headers-11
      # @return [Hash{String => String}] of the most constraining evaluation that is not of a `:log` rule; none
      #   where nothing matched, the check failed, or a skip is reported
      def to_response_headers(format: :gitlab)
        return @decision.headers(nil, format) if @decision
        return {} if error? || (skipped? && !block?)

        shown = @evaluations.reject { |evaluation| evaluation.rule.action == :log }.min
        shown ? shown.to_response_headers(format: format) : {}
      end

      # Adds an evaluation.
      #
      # @param evaluation [Evaluation]
      # @return [Result] self
      def add_evaluation(evaluation)
        release
        @evaluations << evaluation
        self
      end

      # Says that a `:skip` rule ended the chain.
      #
      # @param rule [Rule]
      # @return [Result] self
      def skip!(rule)
        release
        @skip = rule
        self
      end

      # Says that a part of the verdict is missing.
      #
      # @return [Result] self
      def degraded!
        release
        @degraded = true
        self
      end

      # @return [String]
      def inspect
        "#<#{self.class.name} action=#{action.inspect} rule=#{rule&.name.inspect} error=#{error?}>"
      end

      private

      # The evaluation that is reported, nil where a skip is.
      def reported
        block = @evaluations.find(&:block?)
        block || (@skip ? nil : @evaluations.min)
      end

      # From here on it is a result built by hand.
      def release
        return unless @decision

        evaluations
        skip = @decision.skipped_by
        @skip = @rules[skip] if skip
        @error = @decision.error?
        @degraded = @decision.degraded?
        @decision = nil
      end
    end
  end
end
