# frozen_string_literal: true

# What the Ruby gem costs, beside one plain script on the same pool, and beside rack-attack. Prints versions and rows as
# JSON, for `bench/run`. Contract: `measure.rb PORT ROUNDS`, a Redis of our own listening at PORT of 127.0.0.1. Before
# each round on Redis it prints `round` and waits for a line, while bench/run asks the same server. JSON comes last.

require "json"
require_relative "memory_cases"
require_relative "redis_cases"
require_relative "rounds"

port, rounds = ARGV.map { |word| Integer(word) }

# One number, what it must be, and what bench/run may know beside it: `beside`, `ceiling`.
def row(what, value, unit, target = nil, **more)
  { what: what, value: value, unit: unit, target: target, **more }
end

# A line of the short table: as many times as fast as a peer.
def beside(store, what, peer, times)
  { beside: { store: store, what: what, peer: peer, times: times } }
end

def at_most(number)
  { at_most: number }
end

redis = RedisCases.new(port)
memory = MemoryCases.new
measured = Rounds.interleave(rounds, redis.cases, Rounds::MANY) do
  puts "round"
  $stdout.flush
  $stdin.gets
end
local = Rounds.interleave(rounds, memory.cases.merge(redis.silent_cases), Rounds::FEW)

# A ratio, of processor time unless another is named.
ratio = ->(one, other, kind = :cpu) { measured.ratio(kind, one, other) }
micros = ->(name) { measured.median(:cpu, name) }

rows = [
  row("no rule of 3 matches, Redis given", local.median(:cpu, :nothing), "µs", at_most(1.5)),
  row("the same, in memory", local.median(:cpu, :nothing_in_memory), "µs", at_most(1.5)),
  row("one raw EVALSHA that counts", micros[:raw], "µs"),
  row("check of 1 rule", micros[:one], "µs"),
  row("check of 3 rules", micros[:three], "µs"),
  row("1 rule / raw EVALSHA", ratio[:one, :raw], "×", at_most(1.3)),
  row("3 rules / raw EVALSHA", ratio[:three, :raw], "×", at_most(1.5)),
  row("3 rules / 3 raw EVALSHAs", ratio[:three, :raw_thrice], "×", at_most(0.5),
      **beside("Redis", "check of 3 rules", "3 raw EVALSHAs, as labkit-ruby has them", ratio[:raw_thrice, :three])),
  row("the same, by wall time", ratio[:three, :raw_thrice, :wall], "×", at_most(0.5)),
  row("checks of 3 rules a second", 1e6 / measured.median(:wall, :three), "/s", ceiling: { rules: 3, connections: 1 })
]

# The host's metric client apart: it does nothing here.
rows.push(
  row("metrics on, their client apart: no match", local.median(:cpu, :nothing_apart), "µs", at_most(1.5)),
  row("metrics on, their client apart: 1 rule / raw EVALSHA", ratio[:one_apart, :raw], "×", at_most(1.3)),
  row("metrics on, their client apart: 3 rules / raw EVALSHA", ratio[:three_apart, :raw], "×", at_most(1.5))
)
if redis.metrics?
  rows.push(
    row("metrics on, their client and all: no match", local.median(:cpu, :nothing_told), "µs"),
    row("metrics on, their client and all: 1 rule / raw EVALSHA", ratio[:one_told, :raw], "×"),
    row("metrics on, their client and all: 3 rules / raw EVALSHA", ratio[:three_told, :raw], "×"),
    row("that client alone, for a check of 3 rules", micros[:client_alone], "µs")
  )
end

# The app's own time is no part of the middleware's.
attack = local.combined(:cpu, :attack, :app) { |all, app| all - app }
faster = local.combined(:cpu, :attack, :app, :check) { |all, app, check| (all - app) / check }
rows.push(
  row("check in memory, 3 properties, 1 rule", local.median(:cpu, :check) * 1000, "ns"),
  row("the same, the rule matching two of them", local.median(:cpu, :check_matching) * 1000, "ns"),
  row("rack-attack, 1 throttle, MemoryStore", attack, "µs"),
  row("rack-attack / check in memory", faster, "×", { at_least: 20 },
      **beside("memory", "check, 3 properties, 1 rule", "rack-attack, 1 throttle", faster))
)

puts JSON.generate(versions: ["Ruby #{RUBY_VERSION}", *redis.versions, *memory.versions], rows: rows)
