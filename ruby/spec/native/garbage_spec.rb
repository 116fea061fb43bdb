# frozen_string_literal: true

require_relative "native_helper"
require "pathname"

RSpec.describe "the garbage collector" do
  let(:user) { { user: "u1" } }

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

  let(:host) { NativeHelper::Host.new(numbers: [-> { Integer("1000") }], patterns: [->(text) { %r{\A/api}.match?(text) }]) }

  it "may run at every allocation" do
    limiter = core(*rules)
    planned = host_core(*rules)
    exercise(limiter, planned, host)
    GC.stress = true
    counts = Array.new(3) { exercise(limiter, planned, host) }
    GC.stress = false
    expect(counts).to all(eq([1.0, 1.0]))
  ensure
    GC.stress = false
  end

  it "may move everything" do
    limiter = core(*rules)
    planned = host_core(*rules)
    # Properties whose Symbols Ruby made before the limiter named them, and keeps on its heap.
    dynamic = Array.new(50) { |n| "dynamic_#{n}_#{rand(1 << 40)}" }
    symbols = dynamic.map(&:to_sym)
    by_symbols = symbols.map { |symbol| core(rule(characteristics: [symbol.name])) }
    GC.auto_compact = true
    kept = Array.new(200) { limiter.check({ user: "u#{rand(100)}", path: "/api", object: Pathname("/p"), big: 1 }, nil, host) }
    20.times do
      exercise(limiter, planned, host)
      GC.compact
      GC.verify_compaction_references(toward: :empty)
      by_symbols.zip(symbols) do |one, symbol|
        expect(one.properties).to eq([symbol])
        expect(one.peek({ symbol => "x" }, nil).matched?).to be(true)
      end
    end
    expect(kept.map(&:action).uniq).to eq([:allow])
    expect(by_symbols.first.plan(:peek, { symbols.first => "x" }, nil, nil)).to be_a(NativeHelper::Native::Decision)
  ensure
    GC.auto_compact = false
  end

  it "takes limiters, decisions and pending calls away" do
    count = lambda {
      GC.start
      ObjectSpace.each_object(NativeHelper::Native::Core).count
    }
    before = count.call
    1000.times do
      limiter = host_core
      limiter.plan(:check, user, nil, nil)
    end
    expect(count.call - before).to be < 100
  end

  it "keeps a million checks within 5 MB" do
    grown = ruby(<<~RUBY)
      limiter = core(rule(limit: 1_000_000_000, match: { "method" => "GET", "path" => { "prefix" => "/api" } }))
      attributes = { user: "u1", method: "GET", path: "/api/v4" }
      resident = -> { GC.start; File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i }
      200_000.times { limiter.check(attributes, nil, nil) }
      before = resident.call
      1_000_000.times { limiter.check(attributes, nil, nil) }
      print resident.call - before
    RUBY
    expect(Integer(grown)).to be < 5 * 1024
  end

  it "keeps many identifiers within the store's bounds" do
    grown = ruby(<<~RUBY)
      limiter = core(max_keys: 1000)
      resident = -> { GC.start; File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i }
      20_000.times { |n| limiter.check({ user: n }, nil, nil) }
      before = resident.call
      300_000.times { |n| limiter.check({ user: -n }, nil, nil) }
      print resident.call - before
    RUBY
    expect(Integer(grown)).to be < 5 * 1024
  end
end
