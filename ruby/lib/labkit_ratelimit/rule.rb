# frozen_string_literal: true

module Labkit
  module RateLimit
    # What a rule may do.
    KNOWN_ACTIONS = %i[limit warn log skip].freeze
    # What a rule's name is made of.
    RULE_NAME_PATTERN = /\A[a-z0-9_]+\z/
    # How long it may be.
    RULE_NAME_MAX_LENGTH = 64

    # One rule of a limiter: whom it matches, what it counts, how much it lets through, and what then.
    #
    # @example
    #   Rule.new(name: "per_user", limit: 100, period: 60, characteristics: [:user])
    #
    # @!attribute [r] name
    #   @return [String] frozen
    # @!attribute [r] match
    #   @return [Hash{Symbol => Matcher}] frozen; all must hold
    # @!attribute [r] limit
    #   @return [Numeric, #call, Object] as it was given
    # @!attribute [r] period
    #   @return [Numeric, #call, Object] seconds, as given
    # @!attribute [r] action
    #   @return [Symbol] `:limit` `:warn` `:log` `:skip`
    # @!attribute [r] characteristics
    #   @return [Array<Symbol>] frozen: the properties that a counter is keyed by
    # @!attribute [r] count_distinct
    #   @return [Symbol, nil] the property whose distinct values are counted in place of calls
    # @!attribute [r] ban_for
    #   @return [Numeric, #call, nil] seconds, as given
    # @!attribute [r] algorithm
    #   @return [Symbol] `:fixed_window` or `:gcra`
    # @!attribute [r] burst
    #   @return [Numeric, nil] the bucket of GCRA; the limit, where it is nil
    # @!attribute [r] final
    #   @return [Boolean] where it matched and allowed, later rules do not run
    # @!attribute [r] overrides
    #   @return [Array<Hash>] frozen: the first whose `match` holds replaces the numbers it names
    # @!attribute [r] description
    #   @return [String, nil]
    class Rule < Record.define(
      :name, :match, :limit, :period, :action, :characteristics, :count_distinct, :ban_for,
      :algorithm, :burst, :final, :overrides, :description
    )
      include Listing

      # The members that labkit-ruby does not have, and what they are where nothing is said.
      FURTHER = { algorithm: :fixed_window, burst: nil, final: false, overrides: [].freeze, description: nil }.freeze
      # Members that have two names.
      SPELLINGS = { period_s: :period, ban_for_s: :ban_for }.freeze

      # @overload initialize(name:, limit:, period:, characteristics:, match: {}, action: :limit, count_distinct: nil,
      #   ban_for: nil, algorithm: :fixed_window, burst: nil, final: false, overrides: [], description: nil)
      #   `period_s` and `ban_for_s` are other names of `period` and `ban_for`. Positional arguments go by the order
      #   of the members. A rule that skips may leave its numbers out.
      # @param given [Hash{Symbol => Object}]
      # @raise [InvalidRules] an ArgumentError, with all that is wrong with it
      def initialize(**given)
        draft = RuleDraft.new(given)
        draft.check
        super(**draft.members)
      end

      # @return [Numeric, #call, Object] the other name of {#period}
      def period_s
        period
      end

      # @return [Numeric, #call, nil] the other name of {#ban_for}
      def ban_for_s
        ban_for
      end

      # @param changes [Hash{Symbol => Object}] members and their new values
      # @return [Rule] the same with other values, which runs the same checks
      # @raise [InvalidRules]
      def with(*positional, **changes)
        super(*positional, **changes.transform_keys { |key| SPELLINGS.fetch(key, key) })
      end
    end
  end
end
