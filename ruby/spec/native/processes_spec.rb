# frozen_string_literal: true

require_relative "native_helper"
require "timeout"

RSpec.describe "threads and processes" do
  it "share a limiter: eight threads count exactly" do
    limiter = core(rule(limit: 5000))
    allowed = Array.new(8) { Thread.new { Array.new(1000) { check(limiter, { user: 1 }) }.count { |d| d.action == :allow } } }
    expect(allowed.sum(&:value)).to eq(5000)
    expect(limiter.peek({ user: 1 }, nil).count(0)).to eq(8000.0)
  end

  it "switch threads inside callables, and count exactly" do
    limiter = core(rule(limit: NativeHelper::Native::Callable.new(0)))
    host = NativeHelper::Host.new(numbers: [-> { Thread.pass || 100 }])
    allowed = Array.new(8) { Thread.new { Array.new(50) { check(limiter, { user: 1 }, nil, host) }.count { |d| d.action == :allow } } }
    expect(allowed.sum(&:value)).to eq(100)
  end

  it "replace rules under other threads' checks" do
    documents = lambda { |limit|
      { available: ["a.yaml", "lim: {description: d, default_rules: [{name: r, action: limit, limit: #{limit}, period_s: 60}]}"],
        rate_limits: [], properties: [], allowed_skip_rules: [], strict: true }
    }
    limiter = NativeHelper::Native::Core.new("lim", [], { store: :memory, max_keys: 10, documents: documents.call(1000) })
    done = false
    threads = Array.new(4) do
      Thread.new do
        odd = 0
        until done
          decision = check(limiter, {})
          # By the version, and by no other, the limit is what it was then.
          odd += 1 unless decision.limit(0) == 999 + decision.rules_version
          Thread.pass
        end
        odd
      end
    end
    500.times do |n|
      limiter.reload(documents.call(1001 + n))
      Thread.pass
    end
    done = true
    expect(threads.sum(&:value)).to eq(0)
    expect(limiter.rules_version).to eq(501)
  end

  it "are used in a child and a grandchild at once" do
    limiter = core(rule(limit: 3))
    planned = host_core
    check(limiter, { user: 1 })
    # Threads that check while it forks.
    busy = Array.new(3) { Thread.new { loop { check(limiter, { user: "busy" }) } } }
    reader, writer = IO.pipe
    child = fork do
      reader.close
      first = check(limiter, { user: 1 }).count(0)
      grandchild = fork do
        again = Array.new(3) { check(limiter, { user: 1 }).action }
        writer.puts([again, planned.plan(:check, { user: 1 }, nil, nil).keys, Thread.new { check(limiter, { user: 2 }).action }.value].inspect)
        exit!(0)
      end
      Process.wait(grandchild)
      writer.puts(first.inspect)
      exit!(0)
    end
    writer.close
    Timeout.timeout(20) { Process.wait(child) }
    expect(reader.read.lines(chomp: true))
      .to eq([[%i[allow block block], ["labkit:rl:{lim:per_user:user:1}"], :allow].inspect, "2.0"])
    expect(check(limiter, { user: 1 }).count(0)).to eq(2.0)
  ensure
    busy&.each(&:kill)
  end

  it "are not for Ractors, and say so" do
    said = ruby(<<~RUBY)
      limiter = core
      begin
        Ractor.new { NativeHelper::Native::ManualClock.new(5) }.take
      rescue Ractor::RemoteError => e
        print e.cause.class
      end
    RUBY
    expect(said.lines.last).to eq("Ractor::UnsafeError")
  end
end
