# frozen_string_literal: true

# What a check in memory costs: 3 properties, 1 rule. Prints calls a second; `ruby -Ilib spec/native/bench.rb`.

require "benchmark/ips"
require_relative "native_helper"
include NativeHelper # rubocop:disable Style/MixinUsage

limiter = core(rule(limit: 1_000_000_000, match: { "method" => "GET", "path" => { "prefix" => "/api" } }))
attributes = { user: "u42", method: "GET", path: "/api/v4/projects" }
other = attributes.merge(method: "PUT")

Benchmark.ips do |bench|
  bench.config(time: 3, warmup: 1)
  bench.report("a call that does nothing") { limiter.logs? }
  bench.report("Native::Core#check") { limiter.check(attributes, nil, nil) }
  bench.report("Native::Core#check, no match") { limiter.check(other, nil, nil) }
  bench.report("the same, and its action") { limiter.check(attributes, nil, nil).action }
end
