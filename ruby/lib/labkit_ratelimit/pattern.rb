# frozen_string_literal: true

module Labkit
  module RateLimit
    # Patterns that Ruby runs itself: a `Regexp`, and the strings under `re` and `nre`.
    #
    # @api private
    module Pattern
      # Ruby 3.1 has no time-out, and takes the keyword for `ignore case`.
      TIMED = Regexp.respond_to?(:timeout)

      # @param source [Regexp, String]
      # @return [Regexp] with a time-out, where this Ruby has one
      # @raise [RegexpError] if it does not compile
      def self.build(source)
        pattern = source.is_a?(Regexp) ? source : Regexp.new(source)
        return pattern if !TIMED || pattern.timeout

        Regexp.new(pattern.source, pattern.options, timeout: Matcher::MATCH_TIMEOUT_SECONDS)
      end
    end
  end
end
