# frozen_string_literal: true

module Labkit
  # Where gitlab-labkit is absent, and says nothing of the environment, its rule is stated here.
  unless respond_to?(:dev_or_test?)
    # @return [Boolean] whether mistakes in names raise: RAILS_ENV is development or test. Unset is production
    def self.dev_or_test?
      %w[development test].include?(ENV.fetch("RAILS_ENV", nil))
    end
  end

  module RateLimit
    # gitlab-labkit, where it is installed beside this gem.
    #
    # @api private
    module Beside
      class << self
        # A constant of gitlab-labkit. What is not installed is not loaded; what cannot be loaded is not there.
        #
        # @param path [Array<Symbol>] below `Labkit`
        # @return [Object, nil]
        def constant(*path)
          path.reduce(Labkit) do |scope, name|
            scope.const_get(name, false) if scope.is_a?(Module) && scope.const_defined?(name, false)
          end
        rescue LoadError, NameError
          nil
        end
      end
    end
  end
end
