# frozen_string_literal: true

module Labkit
  module RateLimit
    # What the Ruby half calls of the native one. A library that an earlier build left behind has the same version, and
    # would fail at the first check only.
    #
    # @api private
    module NativeHalf
      # Methods of the module itself, by how many arguments they take.
      FUNCTIONS = { 2 => %i[plain?] }.freeze
      # How many arguments `new` of a class takes.
      MADE = { Core: 3, Callable: 1, Pattern: 1, ManualClock: 1 }.freeze
      # Methods of its classes, by how many arguments they take.
      METHODS = {
        Core: {
          0 => %i[name properties rules rules_version generation found_cluster evaluation close_circuit logs?
                  take_logs],
          1 => %i[clear plan_clear abandon_clear reload], 2 => %i[peek abandon],
          3 => %i[check settle settle_clear], 4 => %i[plan]
        },
        Decision: {
          0 => %i[action matched? exceeded? skipped? warned? error? degraded? rules_version rules rule skipped_by
                  most_constraining reported reported_retry_after size told],
          1 => %i[place outcome over? limit period count remaining reset_at_us reset_after retry_after banned?],
          2 => %i[headers]
        },
        Pending: { 0 => %i[command script keys argv deadline] },
        PendingClear: { 0 => %i[command script keys argv deadline] },
        BuildError: { 0 => %i[findings] },
        Callable: { 0 => %i[id] },
        Pattern: { 0 => %i[id] },
        ManualClock: { 0 => %i[now_us], 1 => %i[advance_us] }
      }.freeze

      class << self
        # @return [void]
        # @raise [LoadError] if the native library is not of this gem
        def fit
          refuse("of version #{Native::VERSION}") unless Native::VERSION == VERSION

          lacking = functions + makers + methods_of_classes
          refuse("of another build, without #{lacking.first(3).join(", ")}") unless lacking.empty?
        end

        private

        def functions
          FUNCTIONS.flat_map do |arity, names|
            names.reject { |name| takes?(arity) { Native.method(name) } }
          end
        end

        def makers
          MADE.filter_map do |kind, arity|
            "#{kind}.new" unless takes?(arity) { Native.const_get(kind, false).method(:new) }
          end
        end

        def methods_of_classes
          METHODS.flat_map do |kind, by_arity|
            by_arity.flat_map do |arity, names|
              names.reject { |name| takes?(arity) { Native.const_get(kind, false).instance_method(name) } }
                   .map { |name| "#{kind}##{name}" }
            end
          end
        end

        def takes?(arity)
          yield.arity == arity
        rescue NameError
          false
        end

        def refuse(what)
          raise LoadError, "labkit-ratelimit #{VERSION} found a native library #{what}: install the gem again " \
                           "(in its repository: rake compile)"
        end
      end
    end
  end
end
