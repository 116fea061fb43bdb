# frozen_string_literal: true

require_relative "labkit_ratelimit/claim"

Labkit::RateLimitClaim.take

module Labkit
  # Decides, per request, whether it may go on.
  #
  # @example
  #   Labkit::RateLimit.configure { |config| config.redis = pool }
  module RateLimit
    class << self
      # @return [Configuration] one per process, read when a limiter is built
      def config
        @config ||= Configuration.new
      end

      # @yieldparam config [Configuration]
      # @return [Object] the block's value
      def configure
        yield config
      end

      # Builds a limiter and checks once. A limiter that is kept costs less.
      #
      # @param name [String]
      # @param identifier [Hash, Identifier]
      # @param rules [Array<Rule>]
      # @param redis [Object, nil]
      # @param logger [Object, nil]
      # @param cost [Numeric]
      # @param rule_context [Object, nil]
      # @return [Result]
      def check(name:, identifier:, rules:, redis: nil, logger: nil, cost: 1, rule_context: nil)
        Limiter.new(name: name, rules: rules, redis: redis, logger: logger)
               .check(identifier, cost: cost, rule_context: rule_context)
      end
    end
  end
end

%w[
  version beside errors record configuration identifier pattern host matcher rule words rule_draft probe
  info headers evaluation result redis_calls cluster_calls host_redis logs sinks metrics source shown in_force naming
  limiter options native_half
].each { |file| require_relative "labkit_ratelimit/#{file}" }

begin
  require "labkit_ratelimit/labkit_ratelimit_native"
rescue LoadError => e
  raise unless e.path == "labkit_ratelimit/labkit_ratelimit_native"

  # A gem that brings the library, and this repository, have one for each Ruby.
  require "labkit_ratelimit/#{RUBY_VERSION[/\A\d+\.\d+/]}/labkit_ratelimit_native"
end

Labkit::RateLimit::NativeHalf.fit

module Labkit
  module RateLimit
    # The time of a memory store, in tests: it stands still until it is told to go on.
    #
    # `ManualClock.new(unix_seconds)` starts at a whole second; `advance_us(microseconds)` moves it, back too where that
    # is negative; `now_us` is its time in microseconds.
    #
    # @example
    #   clock = Labkit::RateLimit::ManualClock.new(1_800_000_000)
    #   limiter = Labkit::RateLimit::Limiter.new(name: "spec", rules: rules, store: :memory, clock: clock)
    #   clock.advance_us(60_000_000)
    ManualClock = Native::ManualClock
    # Opens the middlewares only where they are used: they need Rack, or Sidekiq.
    autoload :Middleware, File.expand_path("labkit_ratelimit/middleware", __dir__)
    autoload :SidekiqMiddleware, File.expand_path("labkit_ratelimit/sidekiq_middleware", __dir__)
    autoload :ClientAddress, File.expand_path("labkit_ratelimit/client_address", __dir__)
  end
end

Labkit::RateLimitClaim.seal
