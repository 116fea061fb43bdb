# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Rule do
  let(:members) { %i[name match limit period action characteristics count_distinct ban_for] }

  # The codes and paths of all that is wrong.
  def mistakes
    yield
    []
  rescue Labkit::RateLimit::InvalidRules => e
    e.findings.map { |finding| finding.values_at(:code, :path) }
  end

  it "is a value: members in order, equality, hash, frozen" do
    one = rule
    expect(one.members).to eq(members)
    expect(described_class.members.first(8)).to eq(members)
    expect(one.to_h.keys).to eq(members)
    expect(one).to eq(rule)
    expect(one).to eql(rule)
    expect(one.hash).to eq(rule.hash)
    expect(one).not_to eq(rule(limit: 3))
    expect([rule(limit: 2.0) == one, rule(limit: 2.0).eql?(one)]).to eq([true, false])
    expect([one, one.name, one.match, one.characteristics]).to all(be_frozen)
    expect(one.inspect).to start_with('#<data Labkit::RateLimit::Rule name="per_user", match={}, limit=2, period=60')
  end

  it "takes positional arguments by the order of the members" do
    expect(described_class.new("a", {}, 2, 60, :limit, [:user])).to eq(rule("a"))
    expect(described_class["a", {}, 2, 60, :limit, [:user]]).to eq(rule("a"))
    expect { described_class.new(*Array.new(14)) }.to raise_error(ArgumentError)
  end

  it "is matched by patterns" do
    case rule
    in { name: String => name, limit: 2 } then expect(name).to eq("per_user")
    end
    case rule
    in [name, *] then expect(name).to eq("per_user")
    end
  end

  it "lists further members where they are not at their default" do
    paced = rule(algorithm: :gcra, burst: 5)
    expect(paced.members - members).to eq(%i[algorithm burst])
    expect(described_class.new(**paced.to_h)).to eq(paced)
    expect([paced.final, rule.algorithm, paced.overrides]).to eq([false, :fixed_window, []])
  end

  it "changes by with, keeping its matchers, running the same checks", :mistyped do
    given = rule(match: { path: { re: "^/api" }, user: { oneOf: [1] } })
    changed = given.with(limit: 7, period_s: 30)
    expect([changed.limit, changed.period, changed.match]).to eq([7, 30, given.match])
    expect(changed.match[:user].match?(1)).to be(true)
    expect { given.with(limit: 0) }.to raise_error(ArgumentError)
    expect { given.with(3) }.to raise_error(ArgumentError)
  end

  it "has two spellings for two members" do
    spelled = described_class.new(name: "a", limit: 2, period_s: 60, ban_for_s: 5, characteristics: [:user])
    expect(spelled).to eq(rule("a", ban_for: 5))
    expect([spelled.period_s, spelled.ban_for_s]).to eq([60, 5])
    expect(mistakes { rule(period_s: 60) }).to include(%w[duplicate_key period_s])
  end

  it "gives back what it was given" do
    limit = ->(context) { context }
    given = rule(:a, limit: limit, period: 60.9, ban_for: 5r, characteristics: ["user", :ip], match: { "k" => 1, k: 2 })
    expect(given.to_h).to include(name: "a", limit: limit, period: 60.9, ban_for: 5r, characteristics: %i[user ip])
    expect(given.match).to eq(k: Labkit::RateLimit::Matcher.build(2))
    expect([:user, "user", nil].map { |value| rule(characteristics: value).characteristics }).to eq([[:user], [:user], []])
    expect([rule(action: "log").action, rule(count_distinct: "ip").count_distinct]).to eq(%i[log ip])
  end

  it "takes Durations without knowing of them" do
    require "active_support"
    require "active_support/duration"
    minute = ActiveSupport::Duration.minutes(1)
    given = rule(period: minute, ban_for: minute)
    expect(given.period).to be(minute)
    expect(limiter(given).check({ user: 1 }).info.resolved_period).to eq(60)
    expect { rule(period: ActiveSupport::Duration.seconds(0)) }.to raise_error(ArgumentError)
  end

  it "says all that is wrong at once" do
    found = mistakes do
      rule("", limit: 0, period: "60", action: "block", burst: 3, colour: 1, match: { a: { re: "(" }, b: { glob: "x" } })
    end
    expect(found.map(&:last)).to include("name", "limit", "period_s", "action", "burst", "colour", "match.a.re", "match.b")
    expect(mistakes { described_class.new(characteristics: []) }.map(&:last)).to include("name", "limit", "period_s")
  end

  refused = {
    limit: [0, 0.5, -1, nil, "5", :five, Float::NAN, Float::INFINITY, 10**25], period: [0, nil, "60", 31_622_401],
    ban_for: [0, -5, "60"], action: %w[block allow], count_distinct: [1, :user], name: ["", nil, 5, "Per-user", "a" * 65],
    characteristics: [%w[user user], ["user-id"]]
  }
  refused.each do |member, values|
    values.each do |value|
      it "refuses #{member} #{value.inspect[0, 20]}" do
        given = { name: "a", limit: 2, period: 60, characteristics: [:user], member => value }
        expect { described_class.new(**given) }.to raise_error(Labkit::RateLimit::InvalidRules)
      end
    end
  end

  it "raises NoMethodError where labkit-ruby does" do
    given = [{ match: nil }, { match: ["a"] }, { match: { 1 => 2 } }, { action: nil }, { action: 42 }, { characteristics: { a: 1 } }]
    given.each { |keywords| expect { rule(**keywords) }.to raise_error(NoMethodError) }
    expect { described_class.new(name: "a", limit: 1, period: 1) }.to raise_error(ArgumentError, /characteristics/)
  end

  it "ignores the numbers of a rule that skips, and keeps them" do
    skip = rule(limit: 0, period: "x", action: :skip)
    expect([skip.limit, skip.period]).to eq([0, "x"])
    expect(described_class.new(name: "s", action: :skip).limit).to be_nil
    expect { rule(action: :skip, ban_for: 5) }.to raise_error(ArgumentError)
  end

  it "keeps a bad name in production, where the limiter mends it" do
    in_production { expect(rule("Per-User").name).to eq("Per-User") }
    in_production { expect { rule("") }.to raise_error(ArgumentError) }
  end
end
