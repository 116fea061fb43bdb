# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "rack"
require "rack/attack"
require "rack/mock"
require_relative "limiters"
require_relative "rounds"

# A check in memory, beside rack-attack's middleware with one throttle on ActiveSupport's MemoryStore.
class MemoryCases
  ADDRESSES = Array.new(1000) { |n| "198.18.#{n / 250}.#{n % 250}".freeze }.freeze
  # Made before, as the environments of requests are.
  IDENTIFIERS = ADDRESSES.map { |ip| { ip: ip, method: "GET", path: "/api/v4/projects" }.freeze }.freeze
  CALLS = 10_000
  private_constant :ADDRESSES, :IDENTIFIERS, :CALLS

  def initialize
    Rack::Attack.cache.store = ActiveSupport::Cache::MemoryStore.new
    Rack::Attack.throttle("by_ip", limit: 1_000_000_000, period: 3600, &:ip)
    @environments = ADDRESSES.map do |ip|
      Rack::MockRequest.env_for("/api/v4/projects", "REMOTE_ADDR" => ip).freeze
    end
  end

  # @return [Array<String>]
  def versions
    ["rack-attack #{Gem.loaded_specs.fetch("rack-attack").version}", "activesupport #{ActiveSupport::VERSION::STRING}"]
  end

  # @return [Hash{Symbol => Rounds::Case}]
  def cases
    answer = [200, {}, []].freeze
    app = ->(_) { answer }
    {
      nothing_in_memory: Limiters.unmatched(Limiters.matching_nothing("bench_none", store: :memory)),
      check: checked(Limiters.by_ip("bench_by_ip")),
      check_matching: checked(Limiters.by_ip("bench_matching", match: { method: "GET", path: { prefix: "/api" } })),
      app: served(app), attack: served(Rack::Attack.new(app))
    }
  end

  private

  def checked(limiter)
    raise "not counted" unless limiter.check(IDENTIFIERS[0]).matched?

    for_each(IDENTIFIERS) { |identifiers| identifiers.each { |identifier| limiter.check(identifier) } }
  end

  # A middleware marks what it has seen, so each request has an environment of its own.
  def served(app)
    for_each(@environments) { |environments| environments.each { |environment| app.call(environment.dup) } }
  end

  def for_each(words, &work)
    Rounds::Case.for_each(words.cycle.take(CALLS), CALLS, &work)
  end
end
