# frozen_string_literal: true

# The host's namespace. gitlab-labkit, where it is installed, defines more of it.
module Labkit
  # `Labkit::RateLimit` may be the constant of two gems. This makes it ours before anybody names it: naming a
  # constant whose autoload is pending would load the other gem's file in the middle of ours.
  #
  # @api private
  module RateLimitClaim
    # The feature under which gitlab-labkit autoloads its module.
    FEATURE = "labkit/rate_limit"

    class << self
      # Drops a pending autoload of the other gem.
      #
      # @raise [LoadError] if the other gem's module is loaded already: limiters that exist cannot be exchanged
      # @return [void]
      def take
        return if pending? && drop
        return if !Labkit.const_defined?(:RateLimit, false) || ours?

        raise LoadError, "Labkit::RateLimit of gitlab-labkit is loaded already, and limiters that were built with it " \
                         'cannot be exchanged: require "labkit_ratelimit" before anything names Labkit::RateLimit'
      end

      # Makes a later `require "labkit/rate_limit"`, or one of a file below it, find itself answered, wherever it
      # would have led.
      #
      # @return [void]
      def seal
        own = File.expand_path("../labkit/rate_limit.rb", __dir__)
        others = $LOAD_PATH.flat_map do |folder|
          Dir.glob("#{FEATURE}{.rb,/**/*.rb}", base: folder).map { |file| File.expand_path(file, folder) }
        end
        [own, *others].each do |file|
          $LOADED_FEATURES << file unless $LOADED_FEATURES.include?(file)
        end
      end

      private

      def pending?
        !Labkit.autoload?(:RateLimit).nil?
      end

      # Loads nothing.
      def drop
        Labkit.send(:remove_const, :RateLimit)
        true
      end

      def ours?
        Labkit::RateLimit.const_defined?(:Native, false) || Labkit::RateLimit.const_defined?(:Record, false)
      end
    end
  end
end
