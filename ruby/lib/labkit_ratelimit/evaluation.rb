# frozen_string_literal: true

module Labkit
  module RateLimit
    class Result
      # What one rule said. The smaller one is the more constraining: a block, then one that is over, then the one
      # with less remaining. Equal rank is `==`, not `eql?`.
      #
      # @!attribute [r] rule
      #   @return [Rule]
      # @!attribute [r] exceeded
      #   @return [Boolean] whether it is over
      # @!attribute [r] info
      #   @return [Info]
      class Evaluation < Record.define(:rule, :exceeded, :info)
        include Comparable

        # @api private
        # @return [Evaluation]
        def self.decided(rule, decision, place)
          new(rule: rule, exceeded: decision.over?(place), info: Info.decided(decision, place),
              origin: [decision, place])
        end

        # @param rule [Rule]
        # @param exceeded [Boolean]
        # @param info [Info]
        # @param origin [Array, nil] @api private
        def initialize(rule:, exceeded:, info:, origin: nil)
          @origin = origin
          super(rule: rule, exceeded: exceeded, info: info)
        end

        # @return [Boolean]
        def exceeded?
          exceeded
        end

        # @return [Boolean] whether it refuses
        def block?
          exceeded && rule.action == :limit
        end

        # @return [String] `allow` `block` `warn` `log` `banned`
        def result
          return @origin.first.outcome(@origin.last) if @origin
          return "allow" unless exceeded
          return "banned" if info.banned?

          rule.action == :limit ? "block" : rule.action.name
        end

        # @return [Float, nil] seconds until it would let this call pass; nil where it does not refuse, or no wait helps
        def retry_after
          info.retry_after
        end

        # @return [Float] seconds until its window or its ban ends
        def reset_after
          return @origin.first.reset_after(@origin.last) if @origin

          [info.reset_at - Time.now, 0.0].max
        end

        # @param format [Symbol] `:gitlab`, or `:ietf` for draft-ietf-httpapi-ratelimit-headers-11
        # @return [Hash{String => String}]
        def to_response_headers(format: :gitlab)
          return Headers.of(self, format) unless @origin

          @origin.first.headers(@origin.last, format)
        end

        # @param other [Object]
        # @return [Integer, nil] -1 where this one constrains more; nil beside what is no evaluation
        def <=>(other)
          other.is_a?(Evaluation) ? rank <=> other.rank : nil
        end

        # @return [Array] rule, exceeded, info
        def deconstruct
          [rule, exceeded, info]
        end

        protected

        def rank
          [block? ? 0 : 1, exceeded ? 0 : 1, info.remaining]
        end
      end
    end
  end
end
