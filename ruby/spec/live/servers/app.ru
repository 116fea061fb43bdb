# frozen_string_literal: true

require "connection_pool"
require "json"
require "labkit_ratelimit"
require "redis"

# One limiter, built and used by the process that forks the workers. Nothing here knows of the fork.
POOL = ConnectionPool.new(size: 5) { Redis.new(url: ENV.fetch("LIVE_REDIS")) }
LIMITER = Labkit::RateLimit::Limiter.new(
  name: "live", redis: POOL, logger: Class.new { def warn(fields) = Kernel.warn(JSON.generate(fields)) }.new,
  deadline: Float(ENV.fetch("LIVE_DEADLINE")), rules: [
    Labkit::RateLimit::Rule.new(
      name: "per_path", limit: Integer(ENV.fetch("LIVE_LIMIT")), period: Integer(ENV.fetch("LIVE_PERIOD")), characteristics: [:path]
    )
  ]
)
abort "not used before the fork" if LIMITER.check({ path: "before the fork" }).error?

# Says on each response what the limiter found, and who served it.
class Telling
  def initialize(app)
    @app = app
  end

  def call(env)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    status, headers, body = @app.call(env)
    seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    [status, headers.merge("x-seconds" => seconds.to_s, "x-worker" => Process.pid.to_s, **found(env["labkit.rate_limit.result"])), body]
  end

  private

  def found(result)
    return { "x-failed-open" => "1" } if result.error?

    { "x-count" => result.info.count.to_i.to_s, "x-reset-at" => result.info.reset_at.to_f.to_s }
  end
end

use Telling
use(Labkit::RateLimit::Middleware, limiter: LIMITER) { |env| { path: env["PATH_INFO"] } }
run ->(_env) { [200, { "content-type" => "text/plain", "content-length" => "3" }, ["ok\n"]] }
