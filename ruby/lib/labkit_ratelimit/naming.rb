# frozen_string_literal: true

module Labkit
  module RateLimit
    # Names of limiters and rules. Development refuses bad ones; production mends them, and says so: a name is no
    # reason not to start.
    #
    # @api private
    class Naming
      # @param logs [Logs]
      def initialize(logs)
        @logs = logs
      end

      # @param name [Object]
      # @param rules [#each_with_index]
      # @return [Array] the name, and the rules that stay, in a copy
      # @raise [InvalidRules]
      def settle(name, rules)
        unless name.is_a?(String) && !name.empty?
          raise InvalidRules, [Mistake.of(:name_missing, "", "a limiter's name is a String that is not empty")]
        end

        strict = Labkit.dev_or_test?
        [limiter(name, strict), strict ? copied(rules) : mended(rules)]
      end

      private

      # Not down-cased: labkit-ruby counts under this name.
      def limiter(name, strict)
        return String.new(name).freeze if strict || Limiter::NAME_PATTERN.match?(name)

        sanitized = name.gsub(/[^a-z0-9_]/, "_").freeze
        @logs.warn(message: "rate_limit_invalid_name", name: name, sanitized: sanitized)
        sanitized
      end

      # What has no order is no list of rules.
      def copied(rules)
        rules.each_with_index.map { |rule, _| rule }
      end

      def mended(rules)
        renamed = copied(rules).map { |rule| renamed(rule) }
        renamed.each_with_index.reject { |rule, at| duplicate?(renamed, rule, at) }.map(&:first)
      end

      def renamed(rule)
        return rule if RULE_NAME_PATTERN.match?(rule.name) && rule.name.length <= RULE_NAME_MAX_LENGTH

        sanitized = rule.name.downcase.gsub(/[^a-z0-9_]/, "_")[0, RULE_NAME_MAX_LENGTH]
        @logs.warn(message: "rate_limit_invalid_rule_name", original_name: rule.name, sanitized_name: sanitized)
        rule.with(name: sanitized)
      end

      # The first of a name stays.
      def duplicate?(rules, rule, at)
        return false if rules.index { |other| other.name == rule.name } == at

        @logs.warn(message: "rate_limit_duplicate_rule_name", name: rule.name, dropped_occurrence: at)
        true
      end
    end
  end
end
