# frozen_string_literal: true

# What callers and specs of labkit-ruby rely on, where no other spec says it.
RSpec.describe "the surface of labkit-ruby" do
  let(:ours) { Labkit::RateLimit }

  it "has its constants" do
    expect([ours::KNOWN_ACTIONS & %i[limit log skip], ours::RULE_NAME_PATTERN, ours::RULE_NAME_MAX_LENGTH]).to eq([%i[limit log skip], /\A[a-z0-9_]+\z/, 64])
    expect(ours::Limiter::NAME_PATTERN).to eq(/\A[a-z0-9_]+\z/)
    expect(ours::Matcher::KNOWN_HASH_KEYS).to start_with(*%i[eq ne re nre oneOf noneOf])
    expect(ours::Matcher::MATCH_TIMEOUT_SECONDS).to eq(0.05)
    expect([ours::KNOWN_ACTIONS, ours::Matcher::KNOWN_HASH_KEYS]).to all(be_frozen)
    expect(ours::Metrics::FAILURE_LOGGED).to respond_to(:make_true, :make_false, :true?, :false?)
    expect(ours::Identifier::DuplicateNormalizedKeyError.superclass).to eq(ours::Identifier::InvalidKeyError)
    expect(ours::Identifier::InvalidKeyError.superclass).to eq(ArgumentError)
    expect([ours::InvalidRules.superclass, ours::Exceeded.superclass, ours::InvalidDocuments.superclass]).to eq([ArgumentError, StandardError, StandardError])
  end

  it "has its keywords", :mistyped do
    keywords = ->(method) { method.parameters.group_by(&:first).transform_values { |pairs| pairs.map(&:last) } }
    expect(keywords[ours.method(:check)]).to eq(keyreq: %i[name identifier rules], key: %i[redis logger cost rule_context])
    expect(keywords[ours::Limiter.instance_method(:initialize)]).to include(keyreq: %i[name rules], key: %i[redis logger])
    expect(keywords[ours::Limiter.instance_method(:check)]).to eq(req: [:identifier], key: %i[cost rule_context])
    expect(keywords[ours::Limiter.instance_method(:peek)]).to eq(req: [:identifier], key: %i[rule_context])
    expect(keywords[ours::Limiter.instance_method(:clear)]).to eq(req: [:identifier])
    expect(keywords[ours::Result.instance_method(:initialize)]).to eq(key: [:error])
    expect { ours::Limiter.new("name", [rule]) }.to raise_error(ArgumentError)
  end

  it "takes rules of anything that answers each_with_index" do
    list = Class.new { def initialize(rules) = @rules = rules; def each_with_index(&block) = block ? @rules.each_with_index(&block) : @rules.each_with_index }
    [[rule], Set[rule], [rule].each, list.new([rule]), { rule => 1 }.keys].each do |rules|
      limited = Labkit::RateLimit::Limiter.new(name: "spec", rules: rules, logger: logger, store: :memory)
      expect(limited.check({ user: 1 }).rule).to eq(rule)
      in_production { expect(Labkit::RateLimit::Limiter.new(name: "spec", rules: rules, logger: logger, store: :memory).rules).to eq([rule]) }
    end
  end

  describe "values" do
    let(:info) { ours::Result::Info.new(resolved_limit: 5, resolved_period: 60, count: 2.0, remaining: 3.0, reset_at: Time.at(0).utc) }
    let(:evaluation) { ours::Result::Evaluation.new(rule: rule, exceeded: false, info: info) }
    let(:matcher) { ours::Matcher.new(type: :eq, value: 1) }

    it "are values: frozen, equal by members, a key of a Hash, copied by with, taken apart" do
      [rule, info, evaluation, matcher].each do |value|
        expect(value).to be_frozen
        twin = value.class.new(**value.to_h)
        expect([value == twin, value.eql?(twin), value.hash == twin.hash, value.equal?(twin)]).to eq([true, true, true, false])
        expect(value.with(**value.to_h)).to eql(value)
        expect(value.deconstruct_keys(nil)).to include(value.to_h)
        expect(value.deconstruct_keys([value.members.first])).to eq(value.to_h.slice(value.members.first))
        expect(value.deconstruct_keys([:none])).to eq({})
        expect(value.inspect).to start_with("#<data #{value.class.name} #{value.members.first}=")
        expect([value.to_s, value.dup, value.clone]).to eq([value.inspect, value, value])
        expect(value.to_h { |name, given| [name.name, [given]] }).to eq(value.members.to_h { |name| [name.name, [value.public_send(name)]] })
        expect { value.with(none: 1) }.to raise_error(ArgumentError)
        expect { value.class.new(**value.to_h, none: 1) }.to raise_error(ArgumentError)
        expect { value.instance_variable_set(:@name, 1) }.to raise_error(FrozenError)
        value.members.each { |name| expect(value).not_to respond_to(:"#{name}=") }
      end
    end

    it "are built by order, and want every member that labkit-ruby wants" do
      expect(ours::Result::Info.new(5, 60, 2.0, 3.0, Time.at(0).utc)).to eq(info)
      expect(ours::Result::Evaluation.new(rule, false, info)).to eql(evaluation)
      expect(ours::Matcher.new(:eq, 1)).to eq(matcher)
      expect { ours::Result::Evaluation.new(rule, false, info, 1) }.to raise_error(ArgumentError)
      %i[resolved_limit resolved_period count remaining reset_at].each do |member|
        expect { ours::Result::Info.new(**info.to_h.except(member)) }.to raise_error(ArgumentError, /missing keyword: :#{member}/)
      end
      expect { ours::Result::Evaluation.new(rule: rule, exceeded: true) }.to raise_error(ArgumentError, /missing keyword: :info/)
    end

    it "are what a limiter's results hold too" do
      limited = limiter(rule(limit: 1))
      evaluations = Array.new(2) { limited.check({ user: 1 }).evaluations.first }
      evaluations.each do |one|
        expect([one.members, one.frozen?, one.rule.equal?(limited.rules.first)]).to eq([%i[rule exceeded info], true, true])
        expect(one.inspect).to match(/\A#<data Labkit::RateLimit::Result::Evaluation rule=#<data .* exceeded=(true|false), info=#<data /)
        case one
        in { rule: { name: "per_user" }, info: { resolved_limit: 1, count: Float } } then nil
        end
      end
      expect(evaluations.last.info.with(count: 7.0).count).to eq(7.0)
      expect(evaluations.map { |one| one.with(exceeded: true).block? }).to eq([true, true])
    end
  end

  describe "a rule's numbers" do
    it "are cut to whole ones, and given back as they were" do
      { 5.0 => 5, 1.5 => 1, 5/2r => 2 }.each do |given, whole|
        limited = limiter(rule(limit: given, period: given))
        info = limited.check({ user: 1 }).info
        expect([info.resolved_limit, info.resolved_period, limited.rules.first.limit, limited.rules.first.period]).to eq([whole, whole, given, given])
      end
    end

    it "may be Durations, which compare as their seconds" do
      require "active_support"
      require "active_support/core_ext/numeric/time"
      require "active_support/core_ext/object/blank"
      hourly = rule(period: 1.hour, limit: -> { 1.minute }, ban_for: 2.hours)
      expect([hourly.period, hourly.ban_for]).to eq([1.hour, 2.hours])
      expect(hourly.period).to be_a(ActiveSupport::Duration)
      expect(limiter(hourly).check({ user: 1 }).info.to_h).to include(resolved_limit: 60, resolved_period: 3600)
      expect { rule(period: 0.5.seconds) }.to raise_error(ArgumentError)
      expect(rule("d", count_distinct: :page).count_distinct).to be_present
    end
  end

  # Section 7: how the monolith's specs get hold of things.
  describe "specs of a host" do
    it "wrap Limiter.new and Rule.new with keywords" do
      seen = []
      [ours::Limiter, ours::Rule].each do |kind|
        allow(kind).to receive(:new).and_wrap_original { |original, **keywords| (seen << kind) && original.call(**keywords) }
      end
      made = limiter(rule)
      expect(made.check({ user: 1 }).rule).to eq(made.rules.first)
      expect(seen).to eq([ours::Rule, ours::Limiter])
      ours.check(name: "spec", identifier: { user: 2 }, rules: [made.rules.first], logger: logger)
      expect(seen.last).to eq(ours::Limiter)
    end

    it "change one number of every limiter that is built" do
      allow(ours::Rule).to receive(:new).and_wrap_original { |original, **keywords| original.call(**keywords, limit: 1) }
      limited = limiter(rule(limit: 100))
      expect(Array.new(2) { limited.check({ user: 1 }).action }).to eq(%i[allow block])
    end

    it "put a verified double in a limiter's place" do
      result = ours::Result.new.add_evaluation(ours::Result::Evaluation.new(rule: rule, exceeded: true, info: nil))
      double = instance_double(ours::Limiter, check: result, peek: ours::Result.error, clear: 2)
      expect(double.check({ user: 1 }, cost: 2, rule_context: { a: 1 })).to be_block
      expect([double.peek({ user: 1 }, rule_context: nil).error?, double.clear({ user: 1 })]).to eq([true, 2])
      expect { double.check }.to raise_error(ArgumentError)
      expect { instance_double(ours::Limiter, reset: 1) }.to raise_error(/does not implement/)
    end

    it "double results, infos and evaluations" do
      info = instance_double(ours::Result::Info, resolved_limit: 1, resolved_period: 60, count: 2.0, remaining: 0, reset_at: Time.now)
      evaluation = instance_double(ours::Result::Evaluation, rule: rule, info: info, exceeded?: true, block?: true, to_response_headers: {})
      result = instance_double(ours::Result, action: :block, block?: true, matched?: true, exceeded?: true, skipped?: false, error?: false,
                                             degraded?: false, rule: rule, info: info, evaluations: [evaluation], most_constraining: evaluation)
      expect([result.block?, result.info.count, result.evaluations.first.exceeded?]).to eq([true, 2.0, true])
      named = instance_double(ours::Rule, name: "a", limit: 1, period: 1, match: {}, action: :limit, characteristics: [], count_distinct: nil, ban_for: nil)
      expect(named.name).to eq("a")
    end

    # What allow_next_instance_of does.
    it "stub the next limiter that is built" do
      allow(ours::Limiter).to receive(:new).and_wrap_original do |original, *positional, **keywords, &block|
        original.call(*positional, **keywords, &block).tap { |instance| allow(instance).to receive(:check).and_return(ours::Result.error) }
      end
      expect(limiter(rule).check({ user: 1 })).to be_error
      expect(ours.check(name: "spec", identifier: { user: 1 }, rules: [rule], logger: logger)).to be_error
    end

    it "leave results without rule or info standing" do
      bare = ours::Result.new.add_evaluation(ours::Result::Evaluation.new(rule: rule, exceeded: true, info: nil))
      expect(bare).to have_attributes(action: :block, block?: true, rule: rule, info: nil, retry_after: nil)
    end
  end
end
