# frozen_string_literal: true

module Labkit
  module RateLimit
    class Result
      # The numbers behind one evaluation.
      #
      # @!attribute [r] resolved_limit
      #   @return [Integer] what the limit was for this call
      # @!attribute [r] resolved_period
      #   @return [Integer] seconds
      # @!attribute [r] count
      #   @return [Float] after this call
      # @!attribute [r] remaining
      #   @return [Float, Integer] within 0 and the limit; an Integer where it had to be kept there
      # @!attribute [r] reset_at
      #   @return [Time] UTC: when the window, or the ban, ends
      # @!attribute [r] retry_after
      #   @return [Float, nil] seconds, of a block that waiting helps
      # @!attribute [r] banned
      #   @return [Boolean] whether a ban is in force
      class Info < Record.define(
        :resolved_limit, :resolved_period, :count, :remaining, :reset_at, :retry_after, :banned
      )
        include Listing

        # The members that labkit-ruby does not have.
        FURTHER = { retry_after: nil, banned: false }.freeze

        # @api private
        # @param decision [Native::Decision]
        # @param place [Integer] which of its evaluations
        # @return [Info]
        def self.decided(decision, place, retry_after = decision.retry_after(place))
          limit = decision.limit(place)
          count = decision.count(place)
          banned = decision.banned?(place)
          remaining = decision.remaining(place)
          micros = decision.reset_at_us(place)
          new(
            resolved_limit: limit, resolved_period: decision.period(place), count: count,
            # labkit-ruby has an Integer here where it clamped.
            remaining: banned || count > limit || count.negative? ? remaining.to_i : remaining,
            reset_at: Time.at(micros / 1_000_000, micros % 1_000_000, :usec).utc,
            retry_after: retry_after, banned: banned
          )
        end

        # @param resolved_limit [Integer]
        # @param resolved_period [Integer] seconds
        # @param count [Float]
        # @param remaining [Numeric]
        # @param reset_at [Time]
        # @param retry_after [Float, nil]
        # @param banned [Boolean]
        def initialize(
          resolved_limit:, resolved_period:, count:, remaining:, reset_at:, retry_after: nil, banned: false
        )
          super
        end

        # @return [Boolean]
        def banned?
          banned
        end
      end
    end
  end
end
