# frozen_string_literal: true

module Replay
  # Holds what happened against what must happen. Times may be a second less, sums of doubles may differ in their last digits; an
  # Integer is no Float.
  class Comparison
    TIMES = %w[reset_after ttl reset_in http_date_in Retry-After].freeze
    # A case says these only if there is something to say.
    ASSERTED_WHEN_ABSENT = %w[logs metrics called raises].freeze

    # In: the case as it must go, and whether its stored sums depend on the version of Redis.
    def initialize(expected)
      @expected = expected
      @loose = expected["redis_version_dependent"]
    end

    # In: the case as it went. Out: lines, one for each thing that is not as it must be.
    def with(actual)
      @lines = []
      fields(@expected, actual, "", %w[raises logs readers])
      steps, played = @expected["steps"], actual["steps"]
      differ("steps", steps.size, played.size) if steps.size != played.size
      steps.zip(played).each_with_index do |(step, went), index|
        fields(step, went, "steps/#{index}/", %w[result returns raises reply logs metrics called redis]) if went
      end
      @lines
    end

    private

    def fields(expected, actual, path, names)
      names.each do |name|
        next unless expected.key?(name) || (ASSERTED_WHEN_ABSENT.include?(name) && actual.key?(name))

        equal(path + name, name, expected[name], actual[name])
      end
    end

    def equal(path, name, expected, actual)
      case [expected, actual]
      in [Hash, Hash] then maps(path, expected, actual)
      in [Array, Array] if expected.size == actual.size then lists(path, name, expected, actual)
      in [Integer | Float | String, _] then differ(path, expected, actual) unless same?(name, expected, actual)
      else differ(path, expected, actual) unless expected == actual
      end
    end

    def maps(path, expected, actual)
      # A Regexp has no time-out before Ruby 3.2.
      expected, actual = expected.except("timeout"), actual.except("timeout") if expected.key?("$re") && !Regexp.respond_to?(:timeout)
      (expected.keys | actual.keys).each do |key|
        there = [expected.key?(key), actual.key?(key)]
        there.all? ? equal("#{path}/#{key}", key, expected[key], actual[key]) : differ("#{path}/#{key}", *sides(there, key, expected, actual))
      end
    end

    def sides(there, key, expected, actual)
      [there.first ? expected[key] : :nothing, there.last ? actual[key] : :nothing]
    end

    # Names of fields are told in no order: a log line is a map.
    def lists(path, name, expected, actual)
      expected, actual = expected.sort, actual.sort if %w[fields string_fields identifier_keys].include?(name)
      expected.zip(actual).each_with_index { |(left, right), index| equal("#{path}/#{index}", name, left, right) }
    end

    def same?(name, expected, actual)
      return [expected, error_class(expected)].include?(actual) if name == "class_name"
      return false unless actual.instance_of?(expected.class)
      return true if expected == actual
      return time?(expected, actual) if TIMES.include?(name)

      close?(expected, actual) if expected.is_a?(Float) || beyond?(expected) || @loose
    end

    def time?(expected, actual)
      seconds = [expected, actual].map { |text| Integer(text, exception: false) if text.is_a?(Integer) || text.match?(/\A\d+\z/) }
      seconds.all? && (seconds.first - seconds.last).between?(0, 1)
    end

    def close?(expected, actual)
      numbers = [expected, actual].map { |number| Float(number, exception: false) }
      numbers.all? { |number| number&.finite? } && (numbers.first - numbers.last).abs <= 1e-9 * [1.0, *numbers.map(&:abs)].max
    end

    # A number that no double says exactly.
    def beyond?(text)
      text.is_a?(String) && text.match?(/\A\d{16,}\z/)
    end

    # redis-rb 4 has one class for every error of the server.
    def error_class(name)
      name == "Redis::WrongTypeError" && !Redis.const_defined?(:WrongTypeError) ? "Redis::CommandError" : name
    end

    def differ(path, expected, actual)
      @lines << "#{path}: expected #{shown(expected)}, actual #{shown(actual)}"
    end

    def shown(value)
      text = value == :nothing ? "nothing" : JSON.generate(value)
      text.size > 200 ? "#{text[0, 197]}..." : text
    end
  end
end
