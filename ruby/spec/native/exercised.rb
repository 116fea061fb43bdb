# frozen_string_literal: true

require_relative "native_helper"
require "pathname"

# What the specs of the garbage collector run, here and in processes of their own.
module Exercised
  # One of everything that the module does.
  def exercise(limiter, planned, host)
    attributes = { user: "u#{rand(100)}", path: "/api/#{"x" * rand(60)}", object: Pathname("/p"), big: 2**70 }
    decision = limiter.check(attributes, 1, host)
    decision.headers(nil, :gitlab)
    made = [decision.action, decision.outcome(0), limiter.rules, limiter.properties]
    limiter.peek(attributes, host)
    limiter.check(attributes, -1, host)
    limiter.take_logs
    pending = planned.plan(:check, attributes, nil, host)
    made.push(pending.keys, pending.argv, pending.script)
    settled = planned.settle(pending, "1 60000 0", nil)
    planned.plan_clear(attributes).keys
    limiter.clear(attributes)
    made << mistakes
    # All of it is still what it was.
    made.inspect.include?("labkit:rl:") ? [decision.count(0), settled.count(0)] : made
  end

  def mistakes
    NativeHelper::Native::Core.new("lim", [{ name: "Bad", action: "limit" }], {})
  rescue NativeHelper::Native::BuildError => e
    e.findings
  end

  def rules
    [rule(match: { "path" => NativeHelper::Native::Pattern.new(0), "big" => { "ne" => 5 } },
          limit: NativeHelper::Native::Callable.new(0), characteristics: %w[user object])]
  end

  def host
    NativeHelper::Host.new(numbers: [-> { Integer("1000") }], patterns: [->(text) { %r{\A/api}.match?(text) }])
  end
end
