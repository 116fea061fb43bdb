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
    # The files below it that gitlab-labkit 5.6.1 has.
    BELOW = %w[configuration evaluator identifier limiter matcher metrics result rule].freeze
    private_constant :BELOW

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
      # would have led: by its feature, wherever the other gem comes into the load path, even later; and by the path
      # of every file that the load path leads to now. A file of a later version of the other gem, which is not named
      # here and comes into the load path later, is not held.
      #
      # @return [void]
      def seal
        lib = File.expand_path("..", __dir__)
        # What is loaded from one folder of the load path, Ruby looks for in no other.
        own = [FEATURE, *BELOW.map { |name| "#{FEATURE}/#{name}" }].map { |feature| "#{lib}/#{feature}.rb" }
        others = $LOAD_PATH.flat_map do |folder|
          Dir.glob("#{FEATURE}{.rb,/**/*.rb}", base: folder).map { |file| File.expand_path(file, folder) }
        end
        [*own, *others].each do |file|
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
