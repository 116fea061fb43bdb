# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Limiter do
  let(:clock) { Labkit::RateLimit::ManualClock.new(1_800_000_000) }

  def actions(limited, times, identifier = { user: 1 })
    Array.new(times) { limited.check(identifier).action }
  end

  it "lets a limit through, then refuses until the window ends" do
    limited = limiter(rule, clock: clock)
    expect(actions(limited, 3)).to eq(%i[allow allow block])
    expect(limited.check({ "user" => 2 }).action).to eq(:allow)
    clock.advance_us(60_000_000)
    expect(actions(limited, 1)).to eq([:allow])
  end

  it "peeks, clears, and raises on a block where asked to" do
    limited = limiter(rule)
    2.times { expect(limited.check!({ user: 1 }).action).to eq(:allow) }
    expect(limited.peek({ user: 1 }).action).to eq(:allow)
    expect { limited.check!({ user: 1 }) }.to raise_error(Labkit::RateLimit::Exceeded, /per_user, retry after 60 s/) do |error|
      expect(error.result).to be_block
    end
    expect(limited.clear({ user: 1 })).to eq(1)
    expect(limited.peek({ user: 1 }).info.count).to eq(0.0)
  end

  it "takes an identifier by position, and rules in a copy", :mistyped do
    rules = [rule]
    limited = described_class.new(name: "spec", rules: rules, logger: logger)
    rules.clear
    expect(limited.check({ user: 1 }).rule).to equal(limited.rules.first)
    expect { limited.check(user: 1) }.to raise_error(ArgumentError)
    expect(limiter.check({ user: 1 })).not_to be_matched
    expect { described_class.new(name: "spec", rules: nil) }.to raise_error(NoMethodError)
  end

  it "charges any Numeric, and fails open on what is none", :mistyped do
    limited = limiter(rule(limit: 10))
    expect([1, 2.5, 1r, 0].map { |cost| limited.check({ user: 1 }, cost: cost).info.count }).to eq([1.0, 3.5, 4.5, 4.5])
    bad = [-1, Float::NAN, Float::INFINITY, nil, "5", :a, Complex(1, 1)]
    expect(bad.map { |cost| limited.check({ user: 1 }, cost: cost) }).to all(have_attributes(action: :allow, error?: true))
    expect(logger.lines.map { |line| line["class_name"] }).to eq((["ArgumentError"] * 3) + (["NoMethodError"] * 4))
  end

  describe "callables" do
    it "run at each check; what requires a parameter gets the context" do
      seen = []
      limits = [->(context) { seen << context; 5 }, -> { 4 }, ->(context = :none) { context == :none ? 3 : 0 }, proc { |c| c ? 2 : 1 },
                Class.new { def call = 6 }.new, ->(context, key: 2) { context.size + key }]
      resolved = limits.each_with_index.map do |limit, at|
        limiter(rule("r#{at}", limit: limit)).check({ user: 1 }, rule_context: { a: 1 }).info.resolved_limit
      end
      expect(resolved).to eq([5, 4, 3, 2, 6, 3])
      limiter(rule(limit: limits.first)).check({ user: 1 })
      expect(seen).to eq([{ a: 1 }, nil])
    end

    it "give what Integer() takes" do
      taken = { 5.9 => 5, "5" => 5, " 7 " => 7, "0x10" => 16, "1_0" => 10, 5r => 5, -3 => 0 }
      taken.each { |value, limit| expect(limiter(rule(limit: -> { value })).check({ user: 1 }).info.resolved_limit).to eq(limit) }
    end

    it "fail their rule by what they raise or give, with its class and message" do
      failing = { -> { raise KeyError, "no such" } => ["KeyError", "no such"], -> {} => ["TypeError", /nil/],
                  -> { "abc" } => ["ArgumentError", /abc/], ->(_a, _b) { 1 } => ["ArgumentError", /arguments/] }
      failing.each do |limit, (name, message)|
        expect(limiter(rule(limit: limit)).check({ user: 1 })).to be_error
        expect(logger.lines.last).to include("class_name" => name, "error_message" => a_string_matching(message), rule: "per_user")
      end
    end

    it "let what is no StandardError through" do
      [Interrupt, SystemExit, NotImplementedError].each do |error|
        limited = limiter(rule(limit: -> { raise error, "out" }))
        expect { limited.check({ user: 1 }) }.to raise_error(error)
      end
    end
  end

  describe "names" do
    it "are refused in development", :mistyped do
      expect { limiter(rule, name: "My-Limiter") }.to raise_error(Labkit::RateLimit::InvalidRules, /name_invalid/)
      expect { limiter(rule, rule) }.to raise_error(Labkit::RateLimit::InvalidRules, /duplicate_rule_name/)
      [nil, "", :lim].each { |name| expect { limiter(rule, name: name) }.to raise_error(ArgumentError) }
    end

    it "are mended in production, with a warning each; a duplicate is dropped" do
      in_production do
        limited = limiter(rule("Per-User", limit: 1, match: { k: 1 }), rule("b"), rule("per_user", limit: 9), name: "Foo Bar")
        expect(limited.rules.map(&:name)).to eq(%w[per_user b])
        result = limited.check({ user: 1, k: 1 })
        expect([result.rule.name, result.info.resolved_limit, limited.name]).to eq(["per_user", 1, "_oo__ar"])
        expect(logger.lines).to eq([
                                     { message: "rate_limit_invalid_name", name: "Foo Bar", sanitized: "_oo__ar" },
                                     { message: "rate_limit_invalid_rule_name", original_name: "Per-User", sanitized_name: "per_user" },
                                     { message: "rate_limit_duplicate_rule_name", name: "per_user", dropped_occurrence: 2 }
                                   ])
        expect { limiter(rule, name: "") }.to raise_error(ArgumentError)
        expect { rule(limit: 0) }.to raise_error(ArgumentError)
      end
    end
  end

  it "reads configuration when it is built, not after" do
    own = Labkit::RateLimit::Configuration.new
    allow(Labkit::RateLimit).to receive(:config).and_return(own)
    expect([own.redis, own.logger, Labkit::RateLimit.configure { |config| config.logger = logger }]).to eq([nil, nil, logger])
    limited = described_class.new(name: "configured", rules: [rule])
    own.logger = nil
    limited.check({ user: [] })
    expect(logger.lines.last).to include("message" => "rate_limit_error", name: "configured")
  end

  it "checks once by the module" do
    check = -> { Labkit::RateLimit.check(name: "once", identifier: { user: 7 }, rules: [rule(limit: 1)], logger: logger) }
    expect(Array.new(2) { check.call.action }).to eq(%i[allow block])
  end

  it "says once in a process that counters live in memory" do
    script = <<~RUBY
      require "labkit_ratelimit"
      rule = Labkit::RateLimit::Rule.new(name: "r", limit: 1, period: 1, characteristics: [])
      2.times { |at| Labkit::RateLimit::Limiter.new(name: "l\#{at}", rules: [rule]).check({}) }
    RUBY
    output = IO.popen([RbConfig.ruby, "-I", File.expand_path("../lib", __dir__), "-e", script], &:read)
    expect(output.lines.map { |line| JSON.parse(line).slice("message", "name") }).to eq([{ "message" => "rate_limit_memory_store", "name" => "l0" }])
  end

  it "takes options, and refuses others", :mistyped do
    limited = limiter(rule("a", limit: 1), rule("b", limit: 1), evaluation: :all)
    2.times { limited.check({ user: 1 }) }
    expect(limited.peek({ user: 1 }).evaluations.size).to eq(2)
    [{ evaluation: :some }, { on_error: :raise }].each do |options|
      expect { limiter(rule, **options) }.to raise_error(Labkit::RateLimit::InvalidRules, /option_invalid/)
    end
    expect { limiter(rule, colour: 1) }.to raise_error(ArgumentError, /colour/)
  end

  it "says which options are wrong, and what each may be; with documents too", :mistyped do
    wrong = { store: :redis, topology: :x, on_error: :nope, evaluation: nil, deadline: 0 }
    said = [/^store: store is memory or nil, not :redis/, /^topology: topology is single or cluster or nil, not :x/,
            /^on_error: on_error is allow or block or local, not :nope/, /^evaluation: evaluation is first_block or all, not nil/,
            /^deadline: deadline is a number of seconds above 0, not 0/]
    from_documents = ->(options) { described_class.from_documents(name: "t", rules: [rule], properties: [:user], logger: logger, strict: false, **options) }
    [->(options) { limiter(rule, **options) }, from_documents].each do |build|
      expect { build.call(wrong) }.to raise_error(Labkit::RateLimit::InvalidRules) { |error|
        expect(error.findings.map { |finding| finding[:code] }.uniq).to eq(["option_invalid"])
        expect(error.message.lines).to match_array(said)
      }
      [nil, "0.1", Float::NAN, Float::INFINITY, -1, :x].zip([true, false, true, true, true, true]).each do |deadline, refused|
        call = -> { build.call(deadline: deadline, store: "memory", topology: "single", on_error: "local") }
        refused ? expect(&call).to(raise_error(ArgumentError, /^deadline:/)) : call.call
      end
    end
  end

  it "says that what it was given for a Redis is none, and nothing of what that holds", :mistyped do
    ["redis://:s3cret@198.18.0.1/0", Class, 5, Object.new].each do |given|
      expect { limiter(rule, redis: given) }.to raise_error(Labkit::RateLimit::InvalidRules) { |error|
        expect(error.message).to match(/^redis: .*; #{given.class} is neither/)
        expect(error.message).not_to include("s3cret")
      }
    end
    lender = Class.new { def self.with = yield(nil) }
    expect(limiter(rule, redis: lender).check({ user: 1 })).to be_error
  end

  describe "documents" do
    let(:contract) { source("available_limiters.yaml", <<~YAML) }
      available_limiters:
        spec:
          description: Specs
          available_properties: [user]
          default_rules:
            - {name: per_user, action: limit, limit: 2, period_s: 60, characteristics: [user]}
    YAML

    def source(name, text)
      Labkit::RateLimit::Source.new(name, text)
    end

    def file(limit)
      source("rate_limits.yaml", "spec: [{name: per_user, action: limit, limit: #{limit}, period_s: 60, characteristics: [user], match: {user: {regex: .}}}]")
    end

    it "bring rules, which may be loaded anew" do
      limited = described_class.from_documents(name: "spec", available_limiters: contract, store: :memory, logger: logger)
      expect(limited.rules).to eq([rule])
      expect(actions(limited, 3)).to eq(%i[allow allow block])
      old = limited.check({ user: 1 })
      limited.reload(available_limiters: contract, rate_limits: [file(5)])
      expect([limited.rules.first.limit, limited.check({ user: 1 }).action]).to eq([5, :allow])
      expect(limited.rules.first.match[:user].match?("x")).to be(true)
      expect([old.rule.limit, old.evaluations.first.rule.limit]).to eq([2, 2])
    end

    it "raise with findings, and leave the rules in force" do
      bad = source("rate_limits.yaml", "spec:\n  - {name: per_user, action: limit, limit: 0, period_s: 60, colour: 1}\n")
      build = -> { described_class.from_documents(name: "spec", available_limiters: contract, rate_limits: [bad], store: :memory, logger: logger) }
      expect(&build).to raise_error(Labkit::RateLimit::InvalidDocuments) do |error|
        expect(error.findings.map { |finding| finding.values_at(:code, :file, :line) }).to include(["limit_below_one", "rate_limits.yaml", 2])
        expect(error.message).to match(/^rate_limits.yaml:2:\d+: rate_limits.spec\[0\].limit: .*\(limit_below_one\)$/)
      end
      limited = described_class.from_documents(name: "spec", available_limiters: contract, store: :memory, logger: logger)
      expect { limited.reload(available_limiters: contract, rate_limits: [bad]) }.to raise_error(Labkit::RateLimit::InvalidDocuments)
      expect(limited.rules).to eq([rule])
    end

    it "stand over rules of code, which stay the same objects while they are in force" do
      given = rule("by_code", limit: ->(context) { context || 3 }, match: { user: /./ })
      limited = described_class.from_documents(name: "spec", rules: [given], properties: [:user], rate_limits: [file(5)], store: :memory, logger: logger)
      expect(limited.rules.map(&:name)).to eq(%w[per_user by_code])
      expect(limited.rules.last).to equal(given)
      expect(limited.check({ user: 1 }).evaluations.map { |evaluation| evaluation.info.resolved_limit }).to eq([5, 3])
    end

    it "may be files" do
      Dir.mktmpdir do |folder|
        path = File.join(folder, "available_limiters.yaml")
        File.write(path, contract.text)
        expect(described_class.from_documents(name: "spec", available_limiters: path, store: :memory, logger: logger).rules).to eq([rule])
      end
    end
  end

  it "outlives compaction of the heap and its stress", if: GC.respond_to?(:compact) do
    limited = limiter(rule(limit: ->(context) { context }, match: { user: /1/ }))
    GC.verify_compaction_references(toward: :empty, **(RUBY_VERSION < "3.2" ? { double_heap: true } : { expand_heap: true }))
    GC.stress = true
    result = limited.check({ user: "1" }, rule_context: 5)
    shown = [result.rule.name, result.evaluations.first.info.resolved_limit, result.to_response_headers["RateLimit-Limit"]]
    GC.stress = false
    expect(shown).to eq(["per_user", 5, "5"])
  ensure
    GC.stress = false
  end

  it "is what hosts' specs stub" do
    double = instance_double(described_class, check: Labkit::RateLimit::Result.new, peek: nil, clear: 0)
    expect(double.check({ user: 1 }, cost: 2, rule_context: nil)).not_to be_block
    seen = nil
    allow(described_class).to receive(:new).and_wrap_original { |original, **keywords| seen = original.call(**keywords) }
    expect(limiter(rule)).to equal(seen)
  end
end
