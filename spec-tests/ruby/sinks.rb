# frozen_string_literal: true

# Keeps warnings until they are taken. What the gem says once of the client that it was given is no scenario's.
class Recorder
  FIELDS = %w[message error_type name rule count_distinct identifier_keys metric class_name error_message].freeze

  def warn(line)
    (@lines ||= []) << line.transform_keys(&:to_s)
  end

  def take
    lines, @lines = Array(@lines).reject { |line| line["message"] == "rate_limit_redis_client" }, []
    lines.map { |line| FIELDS.to_h { |field| [field, line[field]] }.merge("identifier_keys" => Array(line["identifier_keys"]).map(&:to_s).sort) }
  end
end

# A registry as prometheus-client has it, as far as the gem uses one. `series`: every one that was written.
class Registry
  Metric = Struct.new(:name, :series) do
    def increment(by: 1, labels: {})
      series[of(labels)] = series.fetch(of(labels), 0) + by
    end

    def set(value, labels: {})
      series[of(labels)] = value
    end

    def of(labels)
      "#{name}{#{labels.sort.map { |label, value| "#{label}=#{value.to_s.to_json}" }.join(",")}}"
    end
  end

  attr_reader :series

  def initialize
    @series, @metrics = {}, {}
  end

  def get(name)
    @metrics[name.to_sym]
  end

  def counter(name, docstring:, labels:, store_settings: {}) # rubocop:disable Lint/UnusedMethodArgument -- as that client has it
    @metrics[name.to_sym] ||= Metric.new(name, @series)
  end
  alias gauge counter
end
