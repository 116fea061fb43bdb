# frozen_string_literal: true

require "bigdecimal"
require "json"
require "set"
require "active_support"
require "active_support/duration"

module Replay
  # Tagged values of a recording as Ruby objects, and objects as tagged values. One for each case: it knows again what it made.
  class Tags
    # The labels of the callables that ran since the last look.
    attr_reader :called

    def initialize
      @called = []
      @made = {}.compare_by_identity
    end

    # In: a value of the recording. Out: the object that it stands for; plain maps have string keys.
    def decode(value)
      case value
      when Array then value.map { |item| decode(item) }
      when Hash then value.first&.first.to_s.start_with?("$") ? tagged(value) : map(value)
      else value
      end
    end

    # In: a map. Out: it with symbol keys, its values decoded.
    def keywords(map)
      map.to_h { |key, value| [key.to_sym, decode(value)] }
    end

    # In: any answer. Out: as a recording writes it.
    def encode(object)
      return @made[object] if @made.key?(object)

      case object
      when nil, true, false, Integer then object
      when Float then float(object)
      when String then Tags.text(object)
      when Symbol then { "$sym" => object.to_s }
      when Array then object.map { |item| encode(item) }
      when Set then { "$set" => object.map { |item| encode(item) } }
      when Hash then encode_map(object)
      when Regexp then encode_pattern(object)
      when Time then { "$time" => object.utc? ? "UTC" : object.zone }
      when Class then { "$class" => object.name }
      else encode_ours(object)
      end
    end

    # In: a string. Out: it, or its bytes where it is no UTF-8.
    def self.text(string)
      utf8 = string.dup.force_encoding(Encoding::UTF_8)
      utf8.valid_encoding? ? utf8 : "$binary:#{utf8.unpack1("H*")}"
    end

    private

    def map(value)
      value.transform_values { |item| decode(item) }
    end

    def tagged(value)
      tag, operand = value.first
      made = made_of(tag, operand, value)
      # Only what the recording's readers give back as it was made.
      @made[made] = value if %w[$proc $duration $object].include?(tag)
      made
    end

    def made_of(tag, operand, value)
      case tag
      when "$sym" then operand.to_sym
      when "$float" then { "nan" => Float::NAN, "inf" => Float::INFINITY, "-inf" => -Float::INFINITY, "-0.0" => -0.0 }.fetch(operand)
      when "$binary" then [operand].pack("H*").force_encoding(value.fetch("encoding"))
      when "$re" then pattern(value)
      when "$proc" then callable(operand)
      when "$duration" then ActiveSupport::Duration.build(operand)
      when "$rational" then Rational(operand)
      when "$bigdecimal" then BigDecimal(operand)
      when "$object" then thing(operand)
      when "$pairs" then operand.to_h { |key, item| [decode(key), decode(item)] }
      when "$frozen" then decode(operand).freeze
      when "$identifier" then Labkit::RateLimit::Identifier.new(decode(operand))
      else raise "unknown tag #{tag}"
      end
    end

    def pattern(value)
      source, options, timeout = value.values_at("$re", "options", "timeout")
      timeout && Regexp.respond_to?(:timeout) ? Regexp.new(source, options, timeout: timeout) : Regexp.new(source, options)
    end

    def callable(spec)
      run = ->(argument) { answer(spec, argument) }
      case spec.values_at("kind", "arity")
      in ["object", nil] then Object.new.tap { |object| object.define_singleton_method(:call) { |*given| run.call(given.first) } }
      in ["proc", 1] then proc { |given| run.call(given) }
      in [nil, 0] then -> { run.call(nil) }
      in [nil, 1] then ->(given) { run.call(given) }
      in [nil, 2] then ->(given, _other) { run.call(given) }
      in [nil, -1] then ->(*given) { run.call(given.first) }
      in [nil, -2] then ->(given, *_others) { run.call(given) }
      end
    end

    def answer(spec, argument)
      @called << spec["label"] if spec["label"]
      raise Object.const_get(spec["raises"]), "the recording says so" if spec["raises"]
      return decode(spec["returns_given_argument"]) if spec.key?("returns_given_argument") && !argument.nil?
      return decode(spec["returns"]) unless spec.key?("reads")

      argument.is_a?(Hash) && argument.key?(spec["reads"].to_sym) ? argument[spec["reads"].to_sym] : spec["default"]
    end

    def thing(spec)
      text, equal = spec.values_at("to_s", "eq")
      Class.new do
        define_method(:to_s) { text || raise("the recording says so") }
        define_method(:==) { |other| equal?(other) || other == text } if equal
      end.new
    end

    def float(number)
      return number if number.finite? && number.to_s != "-0.0"

      { "$float" => number.to_s.sub("Infinity", "inf").downcase }
    end

    def encode_map(object)
      return object.transform_values { |item| encode(item) } if object.keys.all?(String)

      { "$pairs" => object.map { |key, item| [encode(key), encode(item)] } }
    end

    def encode_pattern(pattern)
      timeout = pattern.timeout if pattern.respond_to?(:timeout)
      options = pattern.options & (Regexp::IGNORECASE | Regexp::EXTENDED | Regexp::MULTILINE)
      { "$re" => pattern.source, "options" => options, "timeout" => timeout }.compact
    end

    def encode_ours(object)
      case object
      when Labkit::RateLimit::Matcher then { "type" => object.type.to_s, "value" => encode(object.value) }
      when Labkit::RateLimit::Rule then { "$rule" => object.name }
      when Labkit::RateLimit::Result::Evaluation then { "$evaluation" => { "rule" => object.rule.name, "exceeded" => object.exceeded } }
      else { "$unknown" => object.class.name }
      end
    end
  end
end
