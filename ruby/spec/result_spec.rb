# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Result do
  let(:members) { %i[resolved_limit resolved_period count remaining reset_at] }

  def info(**changes)
    described_class::Info.new(resolved_limit: 5, resolved_period: 60, count: 2.0, remaining: 3.0, reset_at: Time.at(1_900_000_000).utc, **changes)
  end

  def evaluation(name = "r", exceeded: false, action: :limit, **changes)
    described_class::Evaluation.new(rule: rule(name, action: action), exceeded: exceeded, info: info(**changes))
  end

  it "is built by hand, and answers by its evaluations" do
    empty = described_class.new
    expect(empty).to have_attributes(action: :allow, matched?: false, exceeded?: false, skipped?: false, error?: false, degraded?: false,
                                     rule: nil, info: nil, evaluations: [], most_constraining: nil, to_response_headers: {})
    expect(described_class.error).to be_error
    expect([empty == described_class.new, empty.frozen?]).to eq([false, false])
    [{ matched: false }, { action: :allow }].each { |keywords| expect { described_class.new(**keywords) }.to raise_error(ArgumentError) }
    block = evaluation("b", exceeded: true, remaining: 0)
    result = described_class.new.add_evaluation(evaluation("a")).add_evaluation(block).degraded!
    expect(result).to have_attributes(action: :block, matched?: true, exceeded?: true, degraded?: true, rule: block.rule, info: block.info)
    skip = rule("s", action: :skip)
    skipped = described_class.new.add_evaluation(evaluation("a")).skip!(skip)
    expect(skipped).to have_attributes(rule: skip, info: nil, skipped?: true, exceeded?: false, to_response_headers: {})
    expect(skipped.most_constraining.rule.name).to eq("a")
  end

  # The core is what decides: a result that is taken apart and put together by hand must say the same.
  it "says by hand what the core says" do
    rules = [rule("log", limit: 1, action: :log), rule("warn", limit: 2, action: :warn), rule("ban", limit: 3, ban_for: 90), rule("last", limit: 9)]
    limited = limiter(*rules)
    6.times do
      decided = limited.check({ user: 1 })
      by_hand = decided.evaluations.reduce(described_class.new) { |result, evaluation| result.add_evaluation(evaluation.with(exceeded: evaluation.exceeded)) }
      readers = %i[action block? matched? exceeded? skipped? warned? error? degraded? rule info most_constraining to_response_headers retry_after]
      readers.each { |reader| expect(by_hand.public_send(reader)).to eq(decided.public_send(reader)), reader.to_s }
      expect(by_hand.to_response_headers(format: :ietf)).to eq(decided.to_response_headers(format: :ietf))
      decided.evaluations.zip(by_hand.evaluations) do |one, other|
        expect(other.to_response_headers).to eq(one.to_response_headers)
        expect([other.result, other.block?, other.retry_after]).to eq([one.result, one.block?, one.retry_after])
      end
    end
  end

  it "can be written to after a decision" do
    result = limiter(rule, rule("s", action: :skip)).check({ user: 1 })
    expect([result.skipped?, result.degraded!.degraded?, result.rule.name, result.evaluations.size]).to eq([true, true, "s", 1])
  end

  it "has the types of labkit-ruby" do
    limited = limiter(rule(limit: 1))
    first, over = Array.new(2) { limited.check({ user: 1 }).info }
    expect([first.count, first.remaining, over.count]).to all(be_a(Float))
    expect([first.resolved_limit, first.resolved_period, over.remaining]).to all(be_an(Integer))
    expect([first.reset_at.class, first.reset_at.utc?]).to eq([Time, true])
    expect([first.members, first.to_h.keys, first.frozen?, first.respond_to?(:reset_after)]).to eq([members, members, true, false])
    expect(over.retry_after).to be_between(59, 60)
    expect(over.members - members).to eq([:retry_after])
  end

  describe "evaluations" do
    it "rank by block, then over, then remaining; equal rank is equal" do
      loose = evaluation("a", remaining: 9)
      tight = evaluation("b", remaining: 1)
      logged = evaluation("c", exceeded: true, action: :log, remaining: 0)
      block = evaluation("d", exceeded: true, remaining: 0)
      expect([loose, logged, block, tight].sort.map { |one| one.rule.name }).to eq(%w[d c b a])
      twin = evaluation("z", remaining: 9)
      expect([loose == twin, loose.eql?(twin), loose <=> twin, loose <=> 1]).to eq([true, false, 0, nil])
      expect(loose.clamp(twin, twin)).to equal(loose)
      expect([loose.members, loose.frozen?, loose.with(exceeded: true).block?, logged.block?]).to eq([%i[rule exceeded info], true, true, false])
    end

    it "say when: retry_after of a block, reset_after" do
      limited = limiter(rule(limit: 1, ban_for: 90))
      result = Array.new(2) { limited.check({ user: 1 }) }.last
      expect([result.evaluations.first.result, result.info.banned?]).to eq(["banned", true])
      expect([result.retry_after, result.reset_after, result.evaluations.first.reset_after]).to all(be_between(89, 90))
      expect(evaluation(reset_at: Time.now + 5).reset_after).to be_between(4, 5)
    end
  end
end
