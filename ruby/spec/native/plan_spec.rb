# frozen_string_literal: true

require_relative "native_helper"
require "digest"

RSpec.describe "calls that the host runs" do
  let(:user) { { user: "u1" } }

  def plan(core, mode = :check)
    core.plan(mode, user, nil, nil)
  end

  it "are a script, keys and arguments" do
    pending = plan(host_core(rule, rule("banning", limit: 5, ban_for_s: 600), deadline_s: 0.25))
    sha, body = pending.script
    expect(sha).to eq(Digest::SHA1.hexdigest(body))
    expect(pending.script).to equal(pending.script)
    expect([pending.script, sha, body]).to all(be_frozen)
    expect(plan(host_core).script).to equal(pending.script)
    expect(pending.keys).to eq(["labkit:rl:{lim:per_user:user:u1}", "labkit:rl:{lim:banning:user:u1}", "labkit:rl:{lim:banning:user:u1}:ban"])
    expect(pending.argv).to eq(["1 wo- 60000 2 wob 600000 60000 5 "])
    expect((pending.keys + pending.argv).map(&:encoding).uniq).to eq([Encoding::BINARY])
    expect(pending.deadline).to eq(0.25)
    expect(plan(host_core).deadline).to eq(0.1)
  end

  it "are settled once" do
    limiter = host_core
    pending = plan(limiter)
    decision = limiter.settle(pending, "3 41500 1", nil)
    expect([decision.action, decision.count(0), decision.retry_after(0)]).to eq([:block, 3.0, 41.5])
    expect { limiter.settle(pending, "3 41500 1", nil) }.to raise_error(ArgumentError)
    expect { pending.keys }.to raise_error(ArgumentError)
  end

  it "come one after the other on a cluster" do
    limiter = host_core(rule, rule("second"), topology: :cluster)
    pending = plan(limiter)
    expect(pending.keys).to eq(["labkit:rl:{lim:per_user:user:u1}"])
    following = limiter.settle(pending, "1 60000 0", nil)
    expect(following.keys).to eq(["labkit:rl:{lim:second:user:u1}"])
    expect(limiter.settle(following, "1 60000 0", nil).size).to eq(2)
  end

  it "fail by a fault, which names the rule, and no value of the identifier" do
    limiter = host_core
    { ["connection", "Redis::CannotConnectError", "refused"] => "Redis::CannotConnectError",
      ["command", "Redis::CommandError", "WRONGTYPE labkit:rl:{lim:per_user:user:u1}"] => "Redis::CommandError",
      ["timeout", nil, nil] => "DeadlineExceeded" }.each do |fault, class_name|
      decision = limiter.settle(plan(limiter), nil, fault)
      expect([decision.error?, decision.action]).to eq([true, :allow])
      line = limiter.take_logs.fetch(0)
      expect(line).to include(class_name: class_name, rule: "per_user", identifier_keys: ["user"])
      expect(line[:error_message]).not_to include("u1")
    end
    expect(limiter.settle(plan(limiter), nil, nil).error?).to be(true)
    expect(limiter.settle(plan(limiter), [1, 2], nil).error?).to be(true)
    expect(limiter.settle(plan(limiter), "\xFF 💥", nil).error?).to be(true)
    expect(limiter.settle(plan(limiter), "", nil).error?).to be(true)
    expect { limiter.settle(plan(limiter), nil, "fault") }.to raise_error(TypeError)
    expect { limiter.settle(Object.new, nil, nil) }.to raise_error(TypeError)
  end

  it "are not asked for while the circuit is open" do
    limiter = host_core(on_error: "block")
    5.times { limiter.settle(plan(limiter), nil, %w[connection E gone]) }
    expect(limiter.take_logs.last[:message]).to eq("rate_limit_circuit_open")
    decision = plan(limiter)
    expect([decision.error?, decision.action, limiter.logs?]).to eq([true, :block, false])
    limiter.close_circuit
    expect(plan(limiter).keys.size).to eq(1)
  end

  it "are counted in memory where that is asked for" do
    limiter = host_core(rule(limit: 1), on_error: "local")
    decisions = Array.new(2) { limiter.settle(plan(limiter), nil, %w[connection E gone]) }
    expect(decisions.map(&:action)).to eq(%i[allow block])
    expect(decisions.map(&:degraded?)).to eq([true, true])
  end

  it "are none where nothing is counted" do
    expect(plan(host_core(rule("all", action: "skip"))).skipped?).to be(true)
    expect(plan(host_core(rule(match: { "user" => "u2" }))).matched?).to be(false)
  end

  it "are settled by the limiter that planned them" do
    pending = plan(host_core)
    other = host_core
    expect(other.settle(pending, "1 60000 0", nil).error?).to be(true)
    expect(other.take_logs.first[:class_name]).to eq("WrongLimiter")
  end

  it "peek without writing" do
    expect(plan(host_core, :peek).argv).to match([/\A1 r/])
    expect { host_core.plan(:guess, user, nil, nil) }.to raise_error(ArgumentError)
  end

  it "clear, one call after the other on a cluster" do
    limiter = host_core(rule, rule("second"), topology: :cluster)
    clear = limiter.plan_clear(user)
    expect(clear.keys).to eq(["labkit:rl:{lim:per_user:user:u1}", "labkit:rl:{lim:per_user:user:u1}:ban"])
    expect([clear.argv, clear.deadline, clear.script.first.size]).to eq([[], 0.1, 40])
    again = limiter.settle_clear(clear, "1", nil)
    expect(again).to equal(clear)
    expect(limiter.settle_clear(clear, nil, %w[connection E gone])).to eq(1)
    expect(limiter.take_logs.first[:class_name]).to eq("E")
    expect { limiter.settle_clear(clear, "1", nil) }.to raise_error(ArgumentError)
    expect { clear.keys }.to raise_error(ArgumentError)
    expect(host_core(rule("all", action: "skip")).plan_clear(user)).to eq(0)
    expect(core.plan_clear(user)).to eq(0)
  end
end
