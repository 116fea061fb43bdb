# frozen_string_literal: true

module Labkit
  module RateLimit
    # Where metrics go: registries of two Prometheus clients, and gitlab-labkit's client, told apart by how their
    # `counter` wants to be called.
    #
    # @api private
    module Sinks
      class << self
        # @param registry [Object]
        # @return [Positional, Keywords]
        def for(registry)
          keywords = registry.method(:counter).parameters.any? { |kind, name| kind == :keyreq && name == :docstring }
          keywords ? Keywords.new(registry) : Positional.new(registry)
        rescue NameError
          # It forwards what it does not have itself, or is no registry: then its first metric fails.
          Positional.new(registry)
        end
      end

      # A registry takes a name once; gitlab-labkit's client gives what is there.
      #
      # @api private
      module Once
        private

        def once(name)
          known(name) || yield
        rescue StandardError
          # Another thread came first.
          known(name) || raise
        end

        def known(name)
          @registry.get(name) if @registry.respond_to?(:get)
        end
      end

      # prometheus-client-mmap, and `Labkit::Metrics::Client`.
      class Positional
        include Once

        # @param registry [Object]
        def initialize(registry)
          @registry = registry
        end

        # @return [Object] a counter of the registry
        def counter(name, help, _labels)
          once(name) { @registry.counter(name, help, {}) }
        end

        # @return [Object] a gauge of the registry: over processes the greatest counts
        def gauge(name, help, _labels)
          once(name) { @registry.gauge(name, help, {}, :max) }
        end

        # Adds 1.
        #
        # @return [void]
        def increment(metric, labels)
          metric.increment(**labels)
        end

        # @return [void]
        def set(metric, labels, value)
          metric.set(labels, value)
        end

        # Tells what rules came to, in one method: behind a wait for a server each call of another one weighs.
        #
        # @param told [Array] as {Native::Decision#told} gives it
        # @param labels [Metrics::Labels]
        # @param metrics [Array] the counter of evaluations, and the gauges of limits and of periods
        # @yieldparam family [Symbol] of a metric that failed; the others are told
        # @yieldparam error [StandardError]
        # @return [void]
        def evaluated(told, labels, metrics)
          counter, limits, periods = metrics
          at = 1
          while (place = told[at])
            result = told[at + 1]
            names = labels.evaluations[place][result] || labels.evaluation(place, result)
            begin
              counter.increment(**names)
            rescue StandardError => e
              yield :rule_evaluations_total, e
            end
            if (limit = told[at + 2])
              gauges = labels.gauges(place)
              begin
                limits.set(gauges, limit)
              rescue StandardError => e
                yield :limit, e
              end
              begin
                periods.set(gauges, told[at + 3])
              rescue StandardError => e
                yield :period_seconds, e
              end
            end
            at += 4
          end
        end
      end

      # prometheus-client.
      class Keywords
        include Once

        # @param registry [Object]
        def initialize(registry)
          @registry = registry
        end

        # @return [Object] a counter of the registry
        def counter(name, help, labels)
          once(name) { @registry.counter(name, docstring: help, labels: labels) }
        end

        # Stores within one process know of no aggregation, and say so.
        #
        # @return [Object] a gauge of the registry: over processes the greatest counts
        def gauge(name, help, labels)
          once(name) do
            @registry.gauge(name, docstring: help, labels: labels, store_settings: { aggregation: :max })
          rescue StandardError
            @registry.gauge(name, docstring: help, labels: labels)
          end
        end

        # Adds 1.
        #
        # @return [void]
        def increment(metric, labels)
          metric.increment(by: 1, labels: labels)
        end

        # @return [void]
        def set(metric, labels, value)
          metric.set(value, labels: labels)
        end

        # Tells what rules came to, in one method: behind a wait for a server each call of another one weighs.
        #
        # @param told [Array] as {Native::Decision#told} gives it
        # @param labels [Metrics::Labels]
        # @param metrics [Array] the counter of evaluations, and the gauges of limits and of periods
        # @yieldparam family [Symbol] of a metric that failed; the others are told
        # @yieldparam error [StandardError]
        # @return [void]
        def evaluated(told, labels, metrics)
          counter, limits, periods = metrics
          at = 1
          while (place = told[at])
            result = told[at + 1]
            names = labels.evaluations[place][result] || labels.evaluation(place, result)
            begin
              counter.increment(by: 1, labels: names)
            rescue StandardError => e
              yield :rule_evaluations_total, e
            end
            if (limit = told[at + 2])
              gauges = labels.gauges(place)
              begin
                limits.set(limit, labels: gauges)
              rescue StandardError => e
                yield :limit, e
              end
              begin
                periods.set(told[at + 3], labels: gauges)
              rescue StandardError => e
                yield :period_seconds, e
              end
            end
            at += 4
          end
        end
      end
    end
  end
end
