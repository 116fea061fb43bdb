# frozen_string_literal: true

require_relative "native_helper"

RSpec.describe "Native::Core" do
  let(:user) { { user: "u1" } }

  it "counts up to the limit and refuses from there" do
    limiter = core
    decisions = Array.new(3) { check(limiter, user) }
    expect(decisions.map(&:action)).to eq(%i[allow allow block])
    expect(decisions.map { |decision| decision.count(0) }).to eq([1.0, 2.0, 3.0])
    last = decisions.last
    expect(last).to be_frozen
    expect([last.matched?, last.exceeded?, last.skipped?, last.warned?, last.error?, last.degraded?])
      .to eq([true, true, false, false, false, false])
    expect([last.rule, last.reported, last.most_constraining, last.skipped_by]).to eq([0, 0, 0, nil])
    expect([last.size, last.told.size, last.place(0), last.outcome(0), last.over?(0)]).to eq([1, 5, 0, "block", true])
    expect(last.told).to eq([5, 0, "block", 2, 60])
    expect([last.limit(0), last.period(0), last.remaining(0), last.banned?(0)]).to eq([2, 60, 0.0, false])
    expect(last.retry_after(0)).to be_within(1).of(60)
    expect(last.reported_retry_after).to eq(last.retry_after(0))
    expect(last.reset_after(0)).to be_within(1).of(60)
    expect(last.reset_at_us(0)).to be_within(2_000_000).of((Time.now.to_f + 60) * 1_000_000)
  end

  it "keeps identifiers apart, and knows the name and the properties" do
    limiter = core(rule(match: { "method" => "GET" }, characteristics: %w[user ip]))
    expect(limiter.name).to eq("lim")
    expect(limiter.properties).to match_array(%i[method user ip])
    expect(check(limiter, { method: "GET", user: 1, ip: "a" }).count(0)).to eq(1.0)
    expect(check(limiter, { method: "GET", user: 1, ip: "b" }).count(0)).to eq(1.0)
    expect(check(limiter, { method: "PUT", user: 1, ip: "b" }).matched?).to be(false)
  end

  it "looks at Symbol keys alone" do
    limiter = core(rule(match: { "user" => nil }))
    expect(check(limiter, { "user" => 1 }).matched?).to be(true)
    expect(check(limiter, { user: 1 }).matched?).to be(false)
  end

  it "asks no default of the Hash" do
    attributes = Hash.new { |*| raise "never" }
    expect(check(core, attributes).action).to eq(:allow)
  end

  it "takes more properties than it looks up at once" do
    names = Array.new(20) { |n| "p#{n}" }
    limiter = core(rule(characteristics: names))
    attributes = names.to_h { |name| [name.to_sym, "#{name} #{"x" * 40}"] }
    expect(Array.new(3) { check(limiter, attributes).action }).to eq(%i[allow allow block])
    expect(check(limiter, attributes.merge(p19: "other")).action).to eq(:allow)
  end

  it "charges a cost, peeks and clears" do
    limiter = core(rule(limit: 10))
    expect(check(limiter, user, 2.5).count(0)).to eq(2.5)
    expect(check(limiter, user, 3).count(0)).to eq(5.5)
    expect(check(limiter, user, Rational(1, 2)).count(0)).to eq(6.0)
    expect(check(limiter, user, 0).count(0)).to eq(6.0)
    expect(limiter.peek(user, nil).count(0)).to eq(6.0)
    expect(limiter.clear(user)).to eq(1)
    expect(limiter.peek(user, nil).count(0)).to eq(0.0)
  end

  it "fails open of a bad cost" do
    [-1, Float::NAN, Float::INFINITY, "5", Object.new].each do |cost|
      limiter = core
      decision = check(limiter, user, cost)
      expect([decision.error?, decision.action, decision.size]).to eq([true, :allow, 0])
      expect(limiter.take_logs.map { |line| line[:class_name] }).to eq(["BadCost"])
    end
    expect(check(core(on_error: "block"), user, -1).action).to eq(:block)
  end

  it "tells of skips, warnings, shadows and bans" do
    rules = [rule("skip", action: "skip", match: { "user" => "root" }), rule("warn", action: "warn", limit: 1),
             rule("log", action: "log", limit: 1), rule("ban", limit: 1, ban_for_s: 600)]
    limiter = core(*rules)
    skipped = check(limiter, { user: "root" })
    expect([skipped.skipped?, skipped.rule, skipped.skipped_by, skipped.reported, skipped.size]).to eq([true, 0, 0, nil, 0])
    first = check(limiter, user)
    expect(first.warned?).to be(false)
    second = check(limiter, user)
    expect(second.warned?).to be(true)
    expect(Array.new(second.size) { |at| second.outcome(at) }).to eq(%w[warn log banned])
    expect([second.banned?(2), second.place(2), second.rule, second.reported]).to eq([true, 3, 3, 2])
  end

  it "gives headers in two formats, frozen in no place that a caller writes to" do
    decision = check(core, user)
    expect(decision.headers(nil, :gitlab)).to include("RateLimit-Name" => "per_user", "RateLimit-Limit" => "2",
                                                      "RateLimit-Observed" => "1", "RateLimit-Remaining" => "1")
    expect(decision.headers(0, :ietf)).to include("RateLimit-Policy" => '"per_user";q=2;w=60')
    expect(decision.headers(nil, :gitlab)["RateLimit-Name"]).not_to be_frozen
    expect { decision.headers(nil, :other) }.to raise_error(ArgumentError)
    expect { decision.count(1) }.to raise_error(IndexError)
  end

  it "logs what it must, once" do
    limiter = core(rule(count_distinct: "page"))
    expect(limiter.logs?).to be(false)
    expect(check(limiter, { user: 1, secret: 2 }).degraded?).to be(true)
    expect(limiter.logs?).to be(true)
    expect(limiter.take_logs).to eq([{ message: "rate_limit_missing_count_distinct", error_type: nil, name: "lim",
                                       rule: "per_user", count_distinct: "page", class_name: nil, error_message: nil,
                                       identifier_keys: %w[user secret] }])
    expect([limiter.logs?, limiter.take_logs]).to eq([false, []])
  end

  it "keeps no more warnings than somebody may read" do
    limiter = core
    2000.times { check(limiter, user, -1) }
    expect(limiter.take_logs.size).to eq(1000)
  end

  it "shows its rules as they were written" do
    written = rule(match: { "path" => { "prefix" => "/api" }, "n" => [{ "ne" => 1 }, { "one_of" => ["a", 2.5, nil, true] }] },
                   limit: 5.0, ban_for_s: 60, description: "d", final: true,
                   overrides: [{ match: { "user" => "vip" }, limit: 9 }])
    shown = core(written).rules.first
    expect(shown).to include(name: "per_user", action: "limit", limit: 5.0, period_s: 60, ban_for_s: 60, burst: nil,
                             algorithm: "fixed_window", final: true, description: "d", match: written[:match],
                             characteristics: ["user"])
    expect(shown[:overrides]).to eq([{ match: { "user" => "vip" }, limit: 9, period_s: nil, burst: nil, ban_for_s: nil }])
    expect(shown).to be_frozen
    again = core(shown).rules.first
    expect(again).to eq(shown)
  end

  it "finds every mistake at once" do
    cyclic = [{ "not" => nil }]
    cyclic[0]["not"] = cyclic
    bad = { name: "Bad Name", action: "refuse", limit: 0, period_s: "60", algorithm: "leaky", characteristics: ["a", 5, "a"],
            match: { "x" => [1], "y" => { "regex" => "(" }, "z" => Float::NAN, "w" => cyclic } }.freeze
    expect { core(bad, rule("other", limit: 2**200), on_error: "never", evaluation: 5) }
      .to raise_error(NativeHelper::Native::BuildError) { |error|
        found = error.findings.to_h { |finding| [finding[:path], finding[:code]] }
        expect(found).to include(
          "rules[0].name" => "name_invalid", "rules[0].action" => "action_unknown", "rules[0].limit" => "limit_below_one",
          "rules[0].period_s" => "wrong_type", "rules[0].algorithm" => "algorithm_unknown",
          "rules[0].characteristics[1]" => "property_invalid", "rules[0].characteristics[2]" => "duplicate_characteristic", "rules[0].match.x[0]" => "matcher_bare_list",
          "rules[0].match.y.regex" => "matcher_bad_regex", "rules[0].match.z" => "matcher_bad_value",
          "rules[0].match.w" => "matcher_too_deep", "rules[1].limit" => "wrong_type",
          "on_error" => "option_invalid", "evaluation" => "option_invalid"
        )
        expect(error.message).to include("lim", "name_invalid", "option_invalid")
        expect(error.findings.first.keys).to eq(%i[code path message mend severity file line column])
      }
  end

  it "goes by a clock that it is given" do
    clock = NativeHelper::Native::ManualClock.new(1_700_000_000)
    limiter = core(rule(limit: 1), clock: clock)
    expect(Array.new(2) { check(limiter, user).action }).to eq(%i[allow block])
    clock.advance_us(60_000_000)
    expect(check(limiter, user).reset_at_us(0)).to eq(1_700_000_120_000_000)
    clock.advance_us(-1)
    expect(clock.now_us).to eq(1_700_000_059_999_999)
  end

  it "takes no attributes but a Hash, and no rule but one" do
    expect { check(core, nil) }.to raise_error(TypeError)
    expect { check(core, [[:user, 1]]) }.to raise_error(TypeError)
    expect { NativeHelper::Native::Core.new("lim", [5], {}) }.to raise_error(TypeError)
    expect { NativeHelper::Native::Core.new(5, [], {}) }.to raise_error(TypeError)
    expect { NativeHelper::Native::Decision.allocate }.to raise_error(TypeError)
    expect { NativeHelper::Native::Core.allocate }.to raise_error(TypeError)
  end
end
