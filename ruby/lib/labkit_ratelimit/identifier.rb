# frozen_string_literal: true

module Labkit
  module RateLimit
    # Who and what a check is about: property names and their values.
    #
    # @example
    #   Labkit::RateLimit::Identifier.new(user: 42, endpoint: "/api/v4/projects?page=2").attributes
    #   # => {user: 42, endpoint: "/api/v4/projects"}
    class Identifier
      # A property name that cannot be a Symbol: a mistake in the caller's code.
      class InvalidKeyError < ArgumentError; end

      # `:user` beside `"user"`: a mistake in the caller's code.
      class DuplicateNormalizedKeyError < InvalidKeyError; end

      # The value of an endpoint without its query string: one counter for a page, whatever it is asked.
      #
      # @param value [Object] a String loses everything from its first `?`; the empty one is nil; others stay
      # @return [Object]
      def self.normalize_endpoint(value)
        return value unless value.is_a?(String)
        return if value.empty?

        query = value.index("?")
        query ? value[0, query] : value
      rescue ArgumentError, EncodingError
        # Text that is broken in its encoding: its bytes are looked through.
        value.b[/\A[^?]*/n].force_encoding(value.encoding)
      end

      # @return [Hash{Symbol => Object}] frozen
      attr_reader :attributes

      # @param attributes [Hash, Enumerable] pairs of a name (Symbol, String) and a value
      # @raise [InvalidKeyError] a name that cannot be a Symbol
      # @raise [DuplicateNormalizedKeyError] a name that is there twice
      def initialize(attributes = {})
        given = {}
        @attributes = attributes.each_with_object({}) do |(key, value), all|
          name = symbol(key)
          if given.key?(name)
            raise DuplicateNormalizedKeyError, "#{given[name].inspect} and #{key.inspect} are one property: #{name}"
          end

          given[name] = key
          all[name] = name == :endpoint ? self.class.normalize_endpoint(value) : value
        end.freeze
      end

      # @param key [Symbol, String]
      # @return [Object, nil]
      def [](key)
        attributes[key.to_sym]
      end

      # @return [Hash{String => Object}]
      def to_h
        attributes.transform_keys(&:to_s)
      end

      # @param other [Object]
      # @return [Boolean] by attributes; never `eql?`
      def ==(other)
        other.is_a?(Identifier) && attributes == other.attributes
      end

      private

      def symbol(key)
        return key.to_sym if key.respond_to?(:to_sym)

        raise InvalidKeyError, "a property name is a Symbol or a String, not #{key.inspect}"
      rescue EncodingError
        raise InvalidKeyError, "a property name is text, and #{key.inspect} is broken in its encoding"
      end
    end
  end
end
