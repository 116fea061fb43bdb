# frozen_string_literal: true

module Labkit
  module RateLimit
    # Rules of documents as objects, for results and for reading. They were checked when they were loaded.
    #
    # @api private
    module Shown
      class << self
        # @param fields [Hash{Symbol => Object}] as the core shows a rule
        # @param known [Hash{String => Rule}] rules of code: a document replaces them by name
        # @return [Rule] the same object, where it is a rule of code
        def rule(fields, known)
          given = known[fields[:name]]
          # Documents hold no callables and no patterns of Ruby's.
          return given if given && ruby?(fields)

          shown = Rule.new(**fields.compact, match: fields[:match], characteristics: fields[:characteristics],
                                             overrides: fields[:overrides].map(&:compact))
          given == shown ? given : shown
        end

        private

        def ruby?(value)
          case value
          when Native::Callable, Native::Pattern then true
          when Hash then value.each_value.any? { |entry| ruby?(entry) }
          when Array then value.any? { |entry| ruby?(entry) }
          else false
          end
        end
      end
    end
  end
end
