# frozen_string_literal: true

require "connection_pool"
require "redis"
require "tmpdir"
require_relative "limiters"
require_relative "rounds"

# Checks on Redis, beside raw EVALSHAs through the same pool.
class RedisCases
  # As labkit-ruby counts: KEYS the counter, ARGV the period in seconds and the cost.
  RAW = <<~LUA
    local count = redis.call('INCRBYFLOAT', KEYS[1], ARGV[2])
    local ttl = redis.call('TTL', KEYS[1])
    if ttl < 0 then
      redis.call('EXPIRE', KEYS[1], ARGV[1])
      ttl = tonumber(ARGV[1])
    end
    return {count, ttl}
  LUA
  CALLS = 50
  USER_NUMBERS = (0...Limiters::USERS.size).to_a.freeze
  private_constant :RAW, :CALLS, :USER_NUMBERS

  def initialize(port)
    @pool = ConnectionPool.new(size: 5) { Redis.new(host: "127.0.0.1", port: port) }
    @sha = @pool.with { |redis| redis.script(:load, RAW) }
    @keys = Array.new(3) { |n| Limiters::USERS.map { |user| "labkit:rl:{bench:raw_#{n}:user:#{user}}" } }
    @registry = registry
  end

  # @return [Boolean] whether a Prometheus client is here
  def metrics?
    !@registry.nil?
  end

  # @return [Array<String>]
  def versions
    ["redis-rb #{Redis::VERSION}", "connection_pool #{ConnectionPool::VERSION}", *@client_version]
  end

  # @return [Hash{Symbol => Rounds::Case}]
  def cases
    cases = {
      raw: for_each(USER_NUMBERS) { |users| users.each { |user| raw(user, 1) } },
      raw_thrice: for_each(USER_NUMBERS) { |users| users.each { |user| raw(user, 3) } },
      one: check(Limiters.counting("bench_one", 1, redis: @pool)),
      three: check(Limiters.counting("bench_three", 3, redis: @pool)),
      nothing: nothing(Limiters.matching_nothing("bench_nothing", redis: @pool))
    }
    metrics? ? cases.merge(told) : cases
  end

  private

  def for_each(words = Limiters::USERS, calls = CALLS, &work)
    Rounds::Case.for_each(words, calls, &work)
  end

  # So many calls as labkit-ruby makes them, one for each rule.
  def raw(user, calls)
    calls.times do |n|
      @pool.with { |redis| redis.evalsha(@sha, keys: [@keys[n][user]], argv: [3600, 1]) }
    end
  end

  def check(limiter)
    result = limiter.check({ user: Limiters::USERS[0] })
    raise "not counted: #{result.inspect}" unless result.matched? && !result.error?

    for_each do |users|
      users.each { |user| raise "refused" unless limiter.check({ user: user }).action == :allow }
    end
  end

  def nothing(limiter)
    raise "matched" if limiter.check({ user: Limiters::USERS[0], method: "GET" }).matched?

    for_each(Limiters::USERS, 500) { |users| users.each { |user| limiter.check({ user: user, method: "GET" }) } }
  end

  # The same with metrics, and what their client takes for each: increments with labels, and gauges.
  def told
    options = { redis: @pool, metrics: @registry }
    {
      nothing_told: nothing(Limiters.matching_nothing("bench_nothing_told", **options)),
      one_told: check(Limiters.counting("bench_one_told", 1, **options)),
      three_told: check(Limiters.counting("bench_three_told", 3, **options)),
      client_for_none: for_each { |users| users.each { count_checks } },
      client_for_one: for_each { |users| users.each { client_alone(1) } },
      client_for_three: for_each { |users| users.each { client_alone(3) } }
    }
  end

  def client_alone(rules)
    rules.times do |n|
      labels = RULES[n]
      evaluations.increment(**labels)
      limit.set(GAUGES[n], 1_000_000_000)
      period.set(GAUGES[n], 3600)
    end
    count_checks
  end

  RULES = Array.new(3) do |n|
    { rate_limiter: "bench", rule: "by_user_#{n}", action: "limit", result: "allow" }.freeze
  end.freeze
  GAUGES = RULES.map { |labels| labels.slice(:rate_limiter, :rule).freeze }.freeze
  CHECKS = { rate_limiter: "bench", action: "allow", matched: "true", error: "false" }.freeze
  private_constant :RULES, :GAUGES, :CHECKS

  def count_checks
    checks.increment(**CHECKS)
  end

  def checks
    @checks ||= @registry.counter(:bench_checks_total, "Checks", {})
  end

  def evaluations
    @evaluations ||= @registry.counter(:bench_evaluations_total, "Evaluations", {})
  end

  def limit
    @limit ||= @registry.gauge(:bench_limit, "Limits", {}, :max)
  end

  def period
    @period ||= @registry.gauge(:bench_period, "Periods", {}, :max)
  end

  # prometheus-client-mmap's, writing to files as it does in a host.
  def registry
    require "prometheus/client"
    return unless Prometheus::Client.respond_to?(:configuration)

    folder = Dir.mktmpdir("labkit-ratelimit-bench")
    at_exit { FileUtils.rm_rf(folder) }
    Prometheus::Client.configuration.multiprocess_files_dir = folder
    require "prometheus/client/version"
    @client_version = "prometheus-client-mmap #{Prometheus::Client::VERSION}"
    Prometheus::Client::Registry.new
  rescue LoadError
    nil
  end
end
