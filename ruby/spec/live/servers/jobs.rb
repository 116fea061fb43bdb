# frozen_string_literal: true

require "connection_pool"
require "json"
require "labkit_ratelimit"
require "redis"
require "sidekiq"

LIMIT = Integer(ENV.fetch("LIVE_LIMIT"))

# What happens is written down in Redis, so that the spec can read it.
module Told
  def self.that(what, **fields)
    line = JSON.generate(what: what, now: Time.now.to_f, **fields)
    Sidekiq.redis { |connection| connection.call("RPUSH", "told", line) }
  end
end

# A limiter whose results are told, with the job they were for.
class ToldLimiter
  def initialize(name, redis)
    rule = Labkit::RateLimit::Rule.new(name: "per_class", limit: LIMIT, period: 2, characteristics: [:worker])
    @limiter = Labkit::RateLimit::Limiter.new(name: name, redis: redis, deadline: 5, rules: [rule])
  end

  def check(identifier)
    result = @limiter.check(identifier)
    found = { action: result.action, failed: result.error?, retry_after: result.retry_after, reset_at: result.info&.reset_at.to_f }
    Told.that("checked", **Thread.current[:told_job], **found)
    result
  end
end

# Takes part in a push, as Sidekiq's client middlewares do.
class ToldPush
  def call(_worker, job, queue, _pool)
    Told.that("pushed", jid: job["jid"], queue: queue, at: job["at"])
    yield
  end
end

# Says that it ran.
class Work
  include Sidekiq::Worker

  def perform(number)
    Told.that("ran", number: number, jid: jid)
  end
end

Sidekiq.configure_server do |config|
  redis = { url: ENV.fetch("LIVE_REDIS") }
  config.redis = redis
  # How often it looks for what is due, in seconds.
  (config.respond_to?(:[]=) ? config : config.options)[:poll_interval_average] = 0.5
  config.client_middleware { |chain| chain.add ToldPush }

  # A queue for each way to have a Redis.
  { "own_pool" => ConnectionPool.new(size: 5) { Redis.new(redis) }, "pool_of_sidekiq" => Sidekiq.redis_pool }.each do |queue, pool|
    identify = lambda do |job, its_queue|
      next unless its_queue == queue

      Thread.current[:told_job] = { jid: job["jid"], queue: queue }
      { worker: job["class"] }
    end
    config.server_middleware do |chain|
      # Sidekiq takes each class once.
      chain.add Class.new(Labkit::RateLimit::SidekiqMiddleware), limiter: ToldLimiter.new(queue, pool), identify: identify
    end
  end
end
