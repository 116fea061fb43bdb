# frozen_string_literal: true

require_relative "native_helper"
require "English"
require "timeout"

RSpec.describe "callables and patterns of the host" do
  let(:native) { NativeHelper::Native }
  let(:called) { rule(limit: native::Callable.new(0)) }
  let(:user) { { user: "u1" } }

  def host(*numbers, patterns: [])
    NativeHelper::Host.new(numbers: numbers, patterns: patterns)
  end

  it "are asked in each check" do
    limit = 0
    limiter = core(called)
    asked = host(-> { limit += 1 })
    expect(Array.new(3) { check(limiter, user, nil, asked).limit(0) }).to eq([1, 2, 3])
    expect(limiter.rules.first[:limit].id).to eq(0)
  end

  it "may give any number" do
    { 5 => 5, 5.9 => 5, Rational(11, 2) => 5, 0 => 0, -3 => 0, (2**64) - 1 => (2**64) - 1 }.each do |given, limit|
      expect(check(core(called), user, nil, host(-> { given })).limit(0)).to eq(limit), given.inspect
    end
    [2**64, -> {}, "5", nil, Float::NAN, 2**200].each do |given|
      expect(check(core(called), user, nil, host(-> { given })).error?).to be(true), given.inspect
    end
    expect(check(core(called), user, nil, host(-> { -(2**200) })).limit(0)).to eq(0)
  end

  it "fail their rule by a StandardError, whose class and message are logged" do
    limiter = core(rule("first"), called)
    decision = check(limiter, user, nil, host(-> { raise KeyError, "no such plan" }))
    expect([decision.error?, decision.size, decision.told[1..], decision.place(0)]).to eq([true, 0, [0, "allow", 2, 60], 0])
    expect(limiter.take_logs).to match([a_hash_including(rule: "per_user", class_name: "KeyError", error_message: "no such plan")])
  end

  it "fail their rule too where the exception cannot say what it is" do
    silent = Class.new(StandardError) { def message = raise("not even that") }
    limiter = core(called)
    expect(check(limiter, user, nil, host(-> { raise silent })).error?).to be(true)
    expect(limiter.take_logs.first[:error_message]).to eq("")
  end

  it "are needed where a rule names one" do
    expect(check(core(called), user, nil, nil).error?).to be(true)
  end

  [Interrupt, SystemExit, NoMemoryError, SignalException.new("TERM"), Class.new(ScriptError), SystemStackError].each do |other|
    it "let #{other.is_a?(Class) ? other.name || "an Exception" : other.class} out as it came, with nothing counted" do
      limiter = core(rule("first"), called)
      raised = other.is_a?(Class) ? other.new("stop") : other
      expect { check(limiter, user, nil, host(-> { raise raised })) }.to raise_error(Exception) { |error| expect(error).to equal(raised) }
      expect { host_core(rule("first"), called).plan(:check, user, nil, host(-> { raise raised })) }
        .to raise_error(Exception) { |error| expect(error).to equal(raised) }
      expect(limiter.logs?).to be(false)
      expect(check(limiter, user, nil, host(-> { 5 })).count(0)).to eq(1.0)
    end
  end

  it "let a throw out, and a deep recursion, and the limiter goes on" do
    limiter = core(called)
    100.times do
      expect(catch(:out) { check(limiter, user, nil, host(-> { throw :out, :thrown })) }).to eq(:thrown)
    end
    endless = -> { endless.call }
    expect { check(limiter, user, nil, host(endless)) }.to raise_error(SystemStackError)
    expect(check(limiter, user, nil, host(-> { 5 })).action).to eq(:allow)
  end

  it "let an outer time-out out" do
    limiter = core(called)
    expect { Timeout.timeout(0.05) { check(limiter, user, nil, host(-> { sleep 5 })) } }.to raise_error(Timeout::Error)
    expect(limiter.logs?).to be(false)
  end

  it "let a killed thread go" do
    limiter = core(called)
    ensured = false
    thread = Thread.new do
      check(limiter, user, nil, host(-> { sleep }))
    ensure
      ensured = true
    end
    Thread.pass until thread.stop?
    thread.kill.join
    expect([ensured, thread.status]).to eq([true, false])
    raising = Thread.new { check(limiter, user, nil, host(-> { sleep })) }
    raising.report_on_exception = false
    Thread.pass until raising.stop?
    raising.raise(Interrupt, "out")
    expect { raising.join }.to raise_error(Interrupt, "out")
    expect(check(limiter, user, nil, host(-> { 5 })).action).to eq(:allow)
  end

  it "leave the exception that is being handled in place" do
    limiter = core(called)
    begin
      raise "outer"
    rescue StandardError
      check(limiter, user, nil, host(-> { raise "inner" }))
      expect($ERROR_INFO).to have_attributes(message: "outer")
    end
  end

  it "may check the same limiter" do
    limiter = core(called)
    inner = nil
    decision = check(limiter, user, nil, host(lambda {
      inner = check(limiter, { user: "other" }, nil, host(-> { 7 }))
      9
    }))
    expect([decision.limit(0), inner.limit(0)]).to eq([9, 7])
  end

  it "may change what they were not given" do
    name = +"u1"
    attributes = { user: name }
    asked = host(lambda {
      name.replace("somebody else entirely " * 100)
      attributes.clear
      GC.start
      5
    })
    pending = host_core(called).plan(:check, attributes, nil, asked)
    expect(pending.keys).to eq(["labkit:rl:{lim:per_user:user:u1}"])
  end

  it "are asked for text, and only where every cheaper matcher holds" do
    seen = []
    limiter = core(rule(match: { "path" => native::Pattern.new(0), "method" => "GET" }))
    asked = host(patterns: [->(text) { (seen << text) && text.start_with?("/api") }])
    matched = lambda { |path, method = "GET"|
      check(limiter, { path: path, method: method, user: 1 }, nil, asked).matched?
    }
    expect([matched["/api/v4"], matched["/web"], matched["/api", "PUT"], matched[nil], matched[5.0], matched["gr\xFCn"]])
      .to eq([true, false, false, false, false, false])
    expect(seen).to eq(["/api/v4", "/web", "", "5"])
    expect(seen.map(&:encoding).uniq).to eq([Encoding::UTF_8])
  end

  it "may stand under re, nre, not and in lists" do
    pattern = native::Pattern.new(0)
    [{ "re" => pattern }, [pattern, { "ne" => "b" }], { "not" => { "nre" => pattern } }].each do |matcher|
      limiter = core(rule(match: { "path" => matcher }))
      asked = host(patterns: [->(text) { text == "a" }])
      expect([check(limiter, { path: "a" }, nil, asked).matched?, check(limiter, { path: "c" }, nil, asked).matched?])
        .to eq([true, false])
    end
  end
end
