# frozen_string_literal: true

module Labkit
  module RateLimit
    # What the core asks Ruby while it looks at rules: the number that a callable gives now, and whether a
    # pattern is found. What is raised here is the failure of that rule.
    #
    # @api private
    class Host
      # @param callables [Array<#call>]
      # @param patterns [Array<Regexp>]
      # @param context [Object, nil] what the caller gave as `rule_context`
      def initialize(callables, patterns, context = nil)
        @callables = callables
        @patterns = patterns
        @context = context
      end

      # @return [Host] the same for a check with a context
      def with(context)
        context.nil? ? self : Host.new(@callables, @patterns, context)
      end

      # @return [Integer]
      def number(id)
        callable = @callables.fetch(id)
        Integer(context?(callable) ? callable.call(@context) : callable.call)
      end

      # @return [Boolean]
      def matches(id, text)
        @patterns.fetch(id).match?(text)
      end

      private

      # Only what requires a parameter gets the context.
      def context?(callable)
        return false unless callable.respond_to?(:arity)

        arity = callable.arity
        arity >= 1 || arity < -1
      end
    end
  end
end
