# frozen_string_literal: true

# Many checks in a process of their own: `soak.rb KIND COUNT [PORT]`. Prints by how many kB its memory grew after the first tenth.

ENV["RAILS_ENV"] = "test"
require "labkit_ratelimit"

RateLimit = Labkit::RateLimit

# What is checked, in each kind of soak.
module Soak
  IDENTIFIERS = Array.new(1000) { |at| { user: at, ip: "198.51.100.#{at % 250}", path: at.even? ? "/api/v4/projects" : "/groups", id: "s#{at}" }.freeze }.freeze
  QUIET = Object.new.tap { |logger| logger.define_singleton_method(:warn) { |_fields| nil } }.freeze

  module_function

  def rule(name, **fields)
    RateLimit::Rule.new(name: name, limit: 5, period: 60, characteristics: [:user], **fields)
  end

  def rules(kind)
    plain = [rule("per_user"), rule("per_ip", characteristics: [:ip], action: :log), rule("banned", ban_for: 60)]
    return plain unless kind == "callables"

    [rule("lambda", limit: -> { 10 }, match: { path: %r{\A/api/v\d+/} }), rule("sets", count_distinct: :id, action: :log),
     rule("context", limit: ->(context) { context[:limit] }, period: ->(_context) { "60" }, match: { path: [{ nre: "x$" }, /o/] })]
  end

  def limiter(kind, port)
    return failing if kind == "failures"

    where = { store: :memory }
    if port
      require "redis"
      where = { redis: Redis.new(host: "127.0.0.1", port: port), deadline: 5 }
    end
    RateLimit::Limiter.new(name: "soak", rules: rules(kind), logger: QUIET, **where)
  end

  # Every check of it fails: in a callable, and is logged.
  def failing
    rules = [rule("broken", limit: -> { raise "no number" })]
    RateLimit::Limiter.new(name: "soak", rules: rules, logger: QUIET, store: :memory)
  end

  def run(limiter, count)
    context = { limit: 7 }
    count.times do |at|
      identifier = IDENTIFIERS[at % 1000]
      result = limiter.check(identifier, rule_context: context)
      next unless (at % 100).zero?

      # What is done with a result now and then.
      result.to_response_headers
      limiter.peek(identifier, rule_context: context)
      limiter.clear(identifier)
    end
  end

  def resident_kb
    3.times { GC.start }
    File.read("/proc/self/status")[/^VmRSS:\s+(\d+)/, 1].to_i
  end
end

kind, count, port = ARGV
count = Integer(count)
limiter = Soak.limiter(kind, port)
Soak.run(limiter, count / 10)
before = Soak.resident_kb
Soak.run(limiter, count)
puts Soak.resident_kb - before
