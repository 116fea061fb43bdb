# frozen_string_literal: true

module Labkit
  module Metrics
    # Keeps what was counted, as prometheus-client-mmap is called.
    class Client
      # One metric.
      class Metric
        attr_reader :values

        def initialize
          @values = Hash.new(0)
        end

        def increment(labels = {}, by = 1)
          @values[labels] += by
        end

        def set(labels, value)
          @values[labels] = value
        end
      end

      class << self
        attr_reader :aggregations

        def counter(name, _help, _labels)
          metrics[name] ||= Metric.new
        end

        def gauge(name, _help, _labels, aggregation)
          (@aggregations ||= {})[name] = aggregation
          metrics[name] ||= Metric.new
        end

        def metrics
          @metrics ||= {}
        end
      end
    end
  end
end
