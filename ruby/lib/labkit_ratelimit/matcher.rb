# frozen_string_literal: true

require "set"

module Labkit
  module RateLimit
    # A condition on one property: what kind of condition, and what it compares with.
    #
    # @!attribute [r] type
    #   @return [Symbol] `:eq` `:ne` `:re` `:nre` `:oneOf` `:noneOf` `:all`; ours: `:regex` and `:not_regex` hold a
    #     pattern in the syntax that every language shares, `:not`, `:prefix`, `:cidr`
    # @!attribute [r] value
    #   @return [Object] a value; a Regexp; a frozen Set; a frozen Array of matchers; a matcher
    class Matcher < Record.define(:type, :value)
      # The spellings of markers.
      KNOWN_HASH_KEYS = %i[eq ne re nre oneOf noneOf regex one_of none_of not prefix cidr].freeze
      # Seconds that a pattern may take where it sets no time itself. Ruby 3.1 has no such time-out.
      MATCH_TIMEOUT_SECONDS = 0.05
      # How many maps and lists may lie in one another.
      MAX_NESTING_DEPTH = 8

      # The type of what is no matcher: the core says what is wrong with it.
      #
      # @api private
      UNREAD = :unread
      # Text that equals nothing: a list or a map as the value of a property is no value at all.
      NO_VALUE = "\xFFlabkit".b.freeze
      private_constant :NO_VALUE

      class << self
        # @param input [Object] as it is written under `match:`: a value, a marker Hash, a Regexp, a list of those
        # @return [Matcher]
        # @raise [InvalidRules] an ArgumentError, if it cannot be
        def build(input)
          findings = []
          matcher = MatcherReader.new(findings).read(input, "match")
          Probe.new(matcher, findings)
          matcher
        end
      end

      # @param value [Object] the value of a property, nil where it is absent
      # @return [Boolean]
      # @raise [StandardError] what a pattern raised, its time-out among others
      def match?(value)
        Probe.new(self).holds?(comparable?(value) ? value : NO_VALUE)
      end

      # @return [Array] type and value
      def deconstruct
        [type, value]
      end

      private

      def comparable?(value)
        case value
        when Array, Hash then false
        when Float then value.finite?
        else true
        end
      end
    end

    # Reads matchers as they are written. It knows shapes alone; mistakes in Ruby's own patterns it finds itself.
    #
    # @api private
    class MatcherReader
      # @param findings [Array<Hash>] takes mistakes
      def initialize(findings)
        @findings = findings
      end

      # @param input [Object]
      # @param path [String] where it stands
      # @return [Matcher]
      def read(input, path, depth = 1)
        case input
        when Matcher then input
        when Regexp then pattern(:re, input, path)
        when Hash then marker(input, path, depth)
        when Array then list(input, path, depth)
        else Matcher.new(type: :eq, value: input)
        end
      end

      private

      def list(entries, path, depth)
        return unread(entries) unless depth <= Matcher::MAX_NESTING_DEPTH && entries.any?
        return unread(entries) unless entries.all? { |entry| nested?(entry) }

        read = entries.each_with_index.map { |entry, at| read(entry, "#{path}[#{at}]", depth + 1) }
        Matcher.new(type: :all, value: read.freeze)
      end

      def nested?(entry)
        entry.is_a?(Hash) || entry.is_a?(Regexp) || entry.is_a?(Matcher)
      end

      def marker(map, path, depth)
        key, value = map.first
        known = map.size == 1 && (key.is_a?(Symbol) || key.is_a?(String)) && depth <= Matcher::MAX_NESTING_DEPTH
        return unread(map) unless known && Matcher::KNOWN_HASH_KEYS.include?(key.to_sym)

        path = "#{path}.#{key}"
        case key.to_sym
        when :re, :nre then pattern(key.to_sym, value, path)
        when :regex then value.is_a?(Regexp) ? pattern(:re, value, path) : Matcher.new(type: :regex, value: value)
        when :oneOf, :one_of then members(:oneOf, map, value)
        when :noneOf, :none_of then members(:noneOf, map, value)
        when :not then Matcher.new(type: :not, value: read(value, path, depth + 1))
        when :eq, :ne then plain?(value) ? Matcher.new(type: key.to_sym, value: value) : unread(map)
        else Matcher.new(type: key.to_sym, value: value)
        end
      end

      def members(type, map, value)
        empty = type == :noneOf && value == []
        return unread(map) unless value.is_a?(Array) && !empty && value.all? { |member| plain?(member) }

        Matcher.new(type: type, value: Set.new(value).freeze)
      end

      # What is refused is refused as it was written.
      def plain?(value)
        case value
        when Array, Hash then false
        when Float then value.finite?
        else true
        end
      end

      def pattern(type, source, path)
        return symbol(path) if source.is_a?(Symbol)
        return unread({ type => source }) unless source.is_a?(String) || source.is_a?(Regexp)

        Matcher.new(type: type, value: Pattern.build(source))
      rescue RegexpError => e
        @findings << Mistake.of(:matcher_bad_regex, path, "`#{source}` is no pattern: #{e.message}")
        Matcher.new(type: :eq, value: nil)
      end

      # To the core a Symbol is text.
      def symbol(path)
        @findings << Mistake.of(:matcher_bad_regex, path, "a pattern is a String or a Regexp, not a Symbol")
        Matcher.new(type: :eq, value: nil)
      end

      def unread(input)
        Matcher.new(type: Matcher::UNREAD, value: input)
      end
    end
  end
end
