# frozen_string_literal: true

module Labkit
  module RateLimit
    # Rules in the words of the native core. It keeps no Ruby object of a rule: callables and patterns get a number
    # there, and stay in two arrays here. What a field holds is handed over as it is: the core says what is wrong.
    #
    # @api private
    class Words
      # The callable of a ban. What is no number is an ArgumentError there, as labkit-ruby has it.
      class BanFor
        def initialize(callable)
          @callable = callable
        end

        # @return [Integer]
        def arity
          @callable.respond_to?(:arity) ? @callable.arity : 0
        end

        # @return [Object] what the callable gives
        # @raise [ArgumentError] if that is nil
        def call(...)
          value = @callable.call(...)
          value.nil? ? raise(ArgumentError, "ban_for gave nil") : value
        end
      end

      # @return [Array<#call>]
      attr_reader :callables

      # @return [Array<Regexp>]
      attr_reader :patterns

      def initialize
        @callables = []
        @patterns = []
      end

      # @param fields [Hash{Symbol => Object}] a rule's members, or those of an override
      # @return [Hash{Symbol => Object}]
      def fields(fields)
        fields.to_h do |field, value|
          case field
          when :match then [field, value.to_h { |name, matcher| [name.name, matcher(matcher)] }]
          when :limit, :burst then [field, number(value)]
          when :period then [:period_s, number(value)]
          when :ban_for then [:ban_for_s, number(value.respond_to?(:call) ? BanFor.new(value) : value)]
          when :overrides then [field, value.map { |override| fields(override) }]
          else [field, value]
          end
        end.freeze
      end

      # @param rule [Rule]
      # @return [Hash{Symbol => Object}]
      def rule(rule)
        members = rule.class.members.to_h { |name| [name, rule.public_send(name)] }
        fields(Words.counting(members))
      end

      # A rule that skips has no numbers but a ban, which it may not have.
      #
      # @return [Hash{Symbol => Object}]
      def self.counting(members)
        members[:action] == :skip ? members.except(:limit, :period, :burst) : members
      end

      # @param matcher [Matcher]
      # @return [Object]
      def matcher(matcher)
        type = matcher.type
        value = matcher.value
        case type
        when :all then value.map { |entry| entry.type == :eq ? { "eq" => entry.value } : matcher(entry) }
        when :not then { "not" => matcher(value) }
        # `{eq: v}` says what `v` alone says, one level deeper.
        when :eq, Matcher::UNREAD then value
        when :re, :nre then { type.name => pattern(value) }
        when :not_regex then { "nre" => value }
        when :oneOf, :noneOf then { type.name => value.to_a }
        else { type.name => value }
        end
      end

      private

      def pattern(regexp)
        @patterns << regexp
        Native::Pattern.new(@patterns.size - 1)
      end

      def number(value)
        return callable(value) if value.respond_to?(:call)

        # A Duration says that it is an Integer, and is none.
        case value
        when Integer, Float then value
        else value.is_a?(Numeric) ? whole(value) : value
        end
      end

      def callable(value)
        @callables << value
        Native::Callable.new(@callables.size - 1)
      end

      # Durations and fractions. What has no whole number stays what it is, and is refused as that.
      def whole(value)
        Integer(value)
      rescue StandardError
        value.to_s
      end
    end
  end
end
