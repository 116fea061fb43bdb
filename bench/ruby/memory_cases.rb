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
  CALLS = 1000
  private_constant :ADDRESSES, :CALLS

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
      nothing: unmatched(Limiters.matching_nothing("bench_none", store: :memory)),
      check: checked(Limiters.by_ip("bench_by_ip")),
      check_matching: checked(Limiters.by_ip("bench_matching", match: { method: "GET", path: { prefix: "/api" } })),
      app: served(app), attack: served(Rack::Attack.new(app))
    }
  end

  private

  def checked(limiter)
    raise "not counted" unless limiter.check({ ip: "198.18.0.1", method: "GET", path: "/api/v4" }).matched?

    for_each(ADDRESSES) do |addresses|
      addresses.each { |ip| limiter.check({ ip: ip, method: "GET", path: "/api/v4/projects" }) }
    end
  end

  def unmatched(limiter)
    raise "matched" if limiter.check({ user: "user", method: "GET" }).matched?

    for_each(Limiters::USERS) { |users| users.each { |user| limiter.check({ user: user, method: "GET" }) } }
  end

  # A middleware marks what it has seen, so each request has an environment of its own.
  def served(app)
    for_each(@environments) { |environments| environments.each { |environment| app.call(environment.dup) } }
  end

  def for_each(words, &work)
    Rounds::Case.for_each(words, CALLS, &work)
  end
end
