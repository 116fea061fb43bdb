# frozen_string_literal: true

require_relative "native_helper"

RSpec.describe "documents" do
  let(:contract) do
    ["available_limiters.yaml", <<~YAML]
      lim:
        description: d
        available_properties: [user, ip]
        allowed_skip_rules: [office]
        default_rules:
          - {name: per_user, action: limit, limit: 2, period_s: 60, characteristics: [user]}
    YAML
  end

  def documents(rate_limits = nil, **others)
    files = rate_limits ? [["rate_limits.yaml", rate_limits]] : []
    { available: contract, rate_limits: files, properties: [], allowed_skip_rules: [], strict: true }.merge(others)
  end

  def limiter(documents, *rules)
    NativeHelper::Native::Core.new("lim", rules, { store: :memory, max_keys: 100, documents: documents })
  end

  it "are the rules, tier by tier" do
    built = limiter(documents("lim: [{name: per_ip, action: log, limit: 9, period_s: 60, characteristics: [ip]}]"))
    expect(built.rules.map { |rule| rule[:name] }).to eq(%w[per_ip per_user])
    expect(built.properties).to match_array(%i[ip user])
  end

  it "are replaced, and a decision knows by which rules it was made" do
    built = limiter(documents)
    first = check(built, { user: 1 })
    built.reload(documents("lim: [{name: per_ip, action: log, limit: 9, period_s: 60, characteristics: [ip]}]"))
    second = check(built, { user: 1 })
    expect([first.rules_version, second.rules_version, built.rules_version]).to eq([1, 2, 2])
    expect([first.size, second.size, second.count(1)]).to eq([1, 2, 2.0])
    expect(built.properties).to match_array(%i[ip user])
  end

  it "change nothing where they hold a mistake, which is told with its place" do
    built = limiter(documents)
    expect { built.reload(documents("lim:\n  - {name: per_ip, action: log, limit: 0, period_s: 60}\n")) }
      .to raise_error(NativeHelper::Native::BuildError) { |error|
        expect(error.findings).to include(a_hash_including(code: "limit_below_one", file: "rate_limits.yaml", line: 2, column: 40, severity: "error"))
      }
    expect([built.rules_version, built.rules.size]).to eq([1, 1])
    expect(built.take_logs.map { |line| line[:message] }).to eq(["rate_limit_invalid_documents"])
  end

  it "stop a limiter from being built where that is asked for, and else are logged" do
    bad = "lim: [{name: x}]"
    expect { limiter(documents(bad)) }.to raise_error(NativeHelper::Native::BuildError)
    lenient = limiter(documents(bad, strict: false))
    expect(lenient.rules.map { |rule| rule[:name] }).to eq(["per_user"])
    expect(lenient.take_logs.map { |line| line[:message] }).to eq(["rate_limit_invalid_documents"])
  end

  it "stand beside rules in code" do
    file = [["rate_limits.yaml", "lim: [{name: office, action: skip, match: {ip: 10.0.0.1}}]"]]
    given = { available: nil, rate_limits: file, properties: ["ip"], allowed_skip_rules: [:office], strict: true }
    built = limiter(given, rule)
    expect(built.rules.map { |rule| rule[:name] }).to eq(%w[office per_user])
    expect(check(built, { user: 1, ip: "10.0.0.1" }).skipped?).to be(true)
  end

  it "take nothing but pairs of name and text" do
    expect { limiter({ rate_limits: ["x"] }, rule) }.to raise_error(TypeError)
    expect { limiter({ rate_limits: [[1, 2]] }, rule) }.to raise_error(TypeError)
  end

  it "end calls under way by the rules that planned them" do
    built = NativeHelper::Native::Core.new("lim", [], { store: :host, documents: documents })
    pending = built.plan(:check, { user: 1 }, nil, nil)
    built.reload(documents("lim: [{name: all, action: skip}]", available: contract.map { |text| text.sub("office", "office, all") }))
    decision = built.settle(pending, "3 41500 1", nil)
    expect([decision.action, decision.rules_version, built.rules_version]).to eq([:block, 1, 2])
    expect(built.plan(:check, { user: 1 }, nil, nil).skipped?).to be(true)
  end
end
