# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../../ruby/lib", __dir__))
require "labkit_ratelimit"
require_relative "rounds"

# The limiters that are measured. None of them ever refuses.
module Limiters
  USERS = Array.new(1000) { |n| "user-#{n}".freeze }.freeze

  # Shorter than a client's own time-out, as in a host, and long enough for a machine that is busy with other things.
  DEADLINE = 0.9
  # A check that fails is no measurement.
  LOGGER = Object.new
  def LOGGER.warn(line)
    abort("a check failed: #{line}")
  end

  module_function

  # @param rules [Integer] how many count, each by user
  def counting(name, rules, **options)
    limiter(name, Array.new(rules) { |n| rule("by_user_#{n}", characteristics: [:user]) }, **options)
  end

  # Three rules, none for a GET.
  def matching_nothing(name, **options)
    rules = Array.new(3) { |n| rule("writes_#{n}", characteristics: [:user], match: { method: "PUT" }) }
    limiter(name, rules, **options)
  end

  # One rule, in memory.
  def by_ip(name, **options)
    limiter(name, [rule("by_ip", characteristics: [:ip], **options)], store: :memory)
  end

  # Checks that no rule matches.
  def unmatched(limiter)
    identifiers = USERS.map { |user| { user: user, method: "GET" }.freeze }
    raise "matched" if limiter.check(identifiers[0]).matched?

    Rounds::Case.for_each(identifiers.cycle.take(10_000), 10_000) { |all| all.each { |one| limiter.check(one) } }
  end

  def rule(name, **options)
    Labkit::RateLimit::Rule.new(name: name, limit: 1_000_000_000, period: 3600, **options)
  end

  def limiter(name, rules, **options)
    Labkit::RateLimit::Limiter.new(name: name, rules: rules, deadline: DEADLINE, logger: LOGGER, **options)
  end
end
