# frozen_string_literal: true

module Labkit
  module RateLimit
    # A rule while it is made of what Ruby code gives. Here types become what readers give back; what values mean,
    # and whether they go together, the core says.
    #
    # @api private
    class RuleDraft
      # What is there where nothing is said.
      DEFAULTS = { match: {}.freeze, action: :limit, count_distinct: nil, ban_for: nil, **Rule::FURTHER }.freeze
      # What an override may hold.
      REPLACED = %i[match limit period burst ban_for].freeze

      # @return [Hash{Symbol => Object}] the rule's members
      attr_reader :members

      # @param given [Hash{Symbol => Object}] keywords
      # @raise [NoMethodError] where labkit-ruby raises one
      def initialize(given)
        @findings = []
        given = DEFAULTS.merge(fields(given, Rule.members, ""))
        unless given.key?(:characteristics) || given[:action].to_sym == :skip
          raise ArgumentError, "missing keyword: :characteristics"
        end

        @members = Rule.members.to_h { |member| [member, given[member]] }
        read
      end

      # @raise [InvalidRules] if the rule cannot be
      def check
        Probe.rule(Words.new.fields(Words.counting(named)), @findings)
      end

      private

      # By their member's name. What is unknown, or there twice, is a mistake.
      def fields(given, known, path)
        given.each_with_object({}) do |(key, value), fields|
          member = Rule::SPELLINGS.fetch(key, key)
          if !known.include?(member)
            mistake(:unknown_field, "#{path}#{key}", "there is no field `#{key}`")
          elsif fields.key?(member)
            mistake(:duplicate_key, "#{path}#{key}", "`#{member}` and `#{key}` are one field")
          else
            fields[member] = value
          end
        end
      end

      def read
        @members[:name] = text(@members[:name])
        @members[:match] = match(@members[:match], "match")
        @members[:action] = @members[:action].to_sym
        @members[:characteristics] = Array(@members[:characteristics]).map(&:to_sym).freeze
        @members[:count_distinct] = symbol(@members[:count_distinct])
        @members[:algorithm] = symbol(@members[:algorithm] || :fixed_window)
        @members[:final] = @members[:final] ? true : false
        @members[:overrides] = overrides(@members[:overrides])
        @members[:description] = @members[:description]&.to_s
      end

      # Production mends a bad name in the limiter, and so has it pass here.
      def named
        name = @members[:name]
        mended = !Labkit.dev_or_test? && name.is_a?(String) && !name.empty?
        mended ? @members.merge(name: "mended") : @members
      end

      def text(name)
        name.is_a?(String) || name.is_a?(Symbol) ? String.new(name.to_s).freeze : name
      end

      def symbol(name)
        name.is_a?(String) && !name.empty? ? name.to_sym : name
      end

      def match(given, path)
        return refused(path, "a map", given) if given.is_a?(String)

        reader = MatcherReader.new(@findings)
        built = {}
        given.each_pair { |key, input| built[key.to_sym] = reader.read(input, "#{path}.#{key}") }
        built.freeze
      end

      def overrides(given)
        unless given.is_a?(Array)
          refused("overrides", "a list", given)
          return [].freeze
        end

        given.each_with_index.map { |override, at| override(override, "overrides[#{at}]") }.freeze
      end

      def override(given, path)
        return refused(path, "a map", given) unless given.is_a?(Hash)

        read = fields(given.transform_keys(&:to_sym), REPLACED, "#{path}.")
        read[:match] = match(read[:match], "#{path}.match") if read.key?(:match)
        read.freeze
      end

      def refused(path, wanted, given)
        mistake(:wrong_type, path, "#{path} takes #{wanted}, not #{given.inspect}")
        {}.freeze
      end

      def mistake(code, path, message)
        @findings << Mistake.of(code, path, message)
      end
    end
  end
end
