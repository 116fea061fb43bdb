# frozen_string_literal: true

module Labkit
  module RateLimit
    # Rules as the core shows them, as objects.
    #
    # @api private
    module Shown
      class << self
        # @param fields [Hash{Symbol => Object}] as the core shows a rule
        # @param known [Hash{String => Array}] rules of code, each with how the core shows it: a document replaces them
        #   by name
        # @return [Rule] the same object, where it is a rule of code
        def rule(fields, known)
          given, as_shown = known[fields[:name]]
          # Documents hold no callables and no patterns of Ruby's.
          return given if given && (fields == as_shown || ruby?(fields))

          overrides = fields[:overrides].map { |other| { **other.compact, match: matchers(other[:match]) } }
          Rule.new(**fields.compact, match: matchers(fields[:match]), characteristics: fields[:characteristics],
                                     overrides: overrides)
        end

        private

        def matchers(map)
          map.transform_values { |written| matcher(written) }
        end

        # In documents `re` is another name of `regex`, whose syntax every language shares; in code it is Ruby's.
        def matcher(written)
          case written
          when Array then written.map { |entry| matcher(entry) }
          when Hash
            marker, operand = written.first
            case marker
            when "re", "regex" then Matcher.new(type: :regex, value: operand)
            when "nre" then Matcher.new(type: :not_regex, value: operand)
            when "not" then Matcher.new(type: :not, value: read(operand))
            else written
            end
          else written
          end
        end

        # What a `not` holds was checked when it was loaded, however deep it lies.
        def read(operand)
          MatcherReader.new([]).read(matcher(operand), "match")
        end

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
