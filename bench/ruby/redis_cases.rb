# frozen_string_literal: true

require "connection_pool"
require "redis"
require "tmpdir"
require_relative "../../ruby/spec/support/old_process"
require_relative "limiters"
require_relative "rounds"

# Checks on Redis, beside raw EVALSHAs through the same pool.
class RedisCases
  # As labkit-ruby counts: KEYS the counter, ARGV the period in seconds and the cost.
  RAW = OldProcess::COUNTING
  CALLS = 50
  USER_NUMBERS = (0...Limiters::USERS.size).to_a.freeze
  private_constant :RAW, :CALLS, :USER_NUMBERS

  def initialize(port)
    @pool = ConnectionPool.new(size: 5) { Redis.new(host: "127.0.0.1", port: port) }
    @sha = @pool.with { |redis| redis.script(:load, RAW) }
    @keys = Array.new(3) { |n| Limiters::USERS.map { |user| "labkit:rl:{bench:raw_#{n}:user:#{user}}" } }
    @registry = registry
  end

  # A registry whose metrics do nothing: what is left is ours.
  class Nothing
    def counter(*)
      self
    end
    alias gauge counter

    def get(*); end

    # As prometheus-client-mmap takes them: the stand-in makes no objects of its own.
    def increment(_labels = {}, _by = 1); end

    def set(_labels, _value); end
  end
  private_constant :Nothing

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
      **told("apart", Nothing.new)
    }
    metrics? ? cases.merge(told("told", @registry), client_alone: client_alone) : cases
  end

  # Nothing is sent, as no rule matches.
  #
  # @return [Hash{Symbol => Rounds::Case}]
  def silent_cases
    registries = { nothing: nil, nothing_apart: Nothing.new, nothing_told: @registry }
    registries.delete(:nothing_told) unless metrics?
    registries.to_h do |name, registry|
      [name, Limiters.unmatched(Limiters.matching_nothing("bench_#{name}", redis: @pool, metrics: registry))]
    end
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

  # The same with metrics.
  def told(name, registry)
    options = { redis: @pool, metrics: registry }
    {
      "one_#{name}": check(Limiters.counting("bench_one_#{name}", 1, **options)),
      "three_#{name}": check(Limiters.counting("bench_three_#{name}", 3, **options))
    }
  end

  # What the client takes for the metrics of a check of three rules, and nothing else going on.
  def client_alone
    for_each do |users|
      users.each do
        3.times do |n|
          evaluations.increment(**RULES[n])
          limit.set(GAUGES[n], 1_000_000_000)
          period.set(GAUGES[n], 3600)
        end
        checks.increment(**CHECKS)
      end
    end
  end

  RULES = Array.new(3) do |n|
    { rate_limiter: "bench", rule: "by_user_#{n}", action: "limit", result: "allow" }.freeze
  end.freeze
  GAUGES = RULES.map { |labels| labels.slice(:rate_limiter, :rule).freeze }.freeze
  CHECKS = { rate_limiter: "bench", action: "allow", matched: "true", error: "false" }.freeze
  private_constant :RULES, :GAUGES, :CHECKS

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
