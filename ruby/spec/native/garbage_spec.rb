# frozen_string_literal: true

require_relative "exercised"
require_relative "native_helper"

RSpec.describe "the garbage collector" do
  include Exercised

  let(:user) { { user: "u1" } }

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

  # In a process of its own: Ruby 3.1 itself falls over moving what other gems have made.
  it "may move everything" do
    said = ruby(<<~RUBY)
      require #{File.expand_path("exercised", __dir__).inspect}
      include Exercised

      limiter, planned = core(*rules), host_core(*rules)
      # Properties whose Symbols Ruby made before the limiter named them, and keeps on its heap.
      symbols = Array.new(50) { |n| "dynamic_\#{n}_\#{rand(1 << 40)}" }.map(&:to_sym)
      by_symbols = symbols.map { |symbol| core(rule(characteristics: [symbol.name])) }
      GC.auto_compact = true
      kept = Array.new(200) { limiter.check({ user: "u\#{rand(100)}", path: "/api", object: Pathname("/p"), big: 1 }, nil, host) }
      20.times do
        exercise(limiter, planned, host)
        GC.compact
        GC.verify_compaction_references(toward: :empty)
        by_symbols.zip(symbols) do |one, symbol|
          raise "another property" unless one.properties == [symbol] && one.peek({ symbol => "x" }, nil).matched?
        end
      end
      raise "another action" unless kept.map(&:action).uniq == [:allow]
      raise "no decision" unless by_symbols.first.plan(:peek, { symbols.first => "x" }, nil, nil).is_a?(Native::Decision)
      print "all as it was"
    RUBY
    expect(said).to eq("all as it was")
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
