# frozen_string_literal: true

require "connection_pool"
require "json"
require "redis"

# One limiter that others use at the same time: many callers, one identifier, one Redis.
class Share
  FIELDS = %w[limiter rules identifier callers calls].freeze

  def initialize(file, address)
    @data = JSON.parse(File.read(file))
    odd = (@data.keys - FIELDS).first and raise "unknown key `#{odd}` of a share"
    pool = ConnectionPool.new(size: @data["callers"], timeout: 20) { Redis.new(url: "redis://#{address}", timeout: 20, reconnect_attempts: 0) }
    rules = @data["rules"].map { |rule| Labkit::RateLimit::Rule.new(characteristics: [], **rule.transform_keys(&:to_sym)) }
    @limiter = Labkit::RateLimit::Limiter.new(name: @data["limiter"], rules: rules, redis: pool, deadline: 20)
  end

  # A round for each line of standard input. Gives that it may begin, and the counts of each round.
  def play
    yield({ "ready" => true })
    $stdin.each_line do
      threads = Array.new(@data["callers"]) { Thread.new { Array.new(@data["calls"]) { outcome }.tally } }
      yield({ "allowed" => 0, "blocked" => 0, "failed" => 0 }.merge(*threads.map(&:value)) { |_, left, right| left + right })
    end
  end

  private

  def outcome
    result = @limiter.check(@data["identifier"])
    return "failed" if result.error? || result.degraded?

    result.block? ? "blocked" : "allowed"
  end
end
