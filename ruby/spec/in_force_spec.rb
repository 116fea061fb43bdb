# frozen_string_literal: true

# Rules of documents as objects, while documents come and go.
RSpec.describe Labkit::RateLimit::InForce do
  def document(rules)
    Labkit::RateLimit::Source.new("rate_limits.yaml", "spec: [#{rules.join(", ")}]")
  end

  def written(name, match: "{}")
    "{name: #{name}, action: limit, limit: 2, period_s: 60, characteristics: [user], match: #{match}}"
  end

  def documented(*rules, code: [], **options)
    options = { store: :memory, **options } unless options.key?(:redis)
    Labkit::RateLimit::Limiter.from_documents(
      name: "spec", rules: code, rate_limits: [document(rules)], properties: [:user], logger: logger, **options
    )
  end

  def reload(limited, *rules)
    limited.reload(rate_limits: [document(rules)], properties: [:user])
  end

  it "reads patterns of documents in the syntax that every language shares, wherever they stand" do
    ['{user: {re: "(?P<n>x)"}}', '{user: {not: {nre: "(?P<n>x)"}}}', '{user: [{re: "(?P<n>x)"}, {eq: x}]}'].each do |match|
      limited = documented(written("named", match: match))
      expect(limited.check({ user: "x" })).to be_matched
      expect(limited.rules.first.match[:user].match?("x")).to be(true)
    end
    # In code `^` holds at every line.
    limited = documented(written("start", match: '{user: {re: "^b"}}'))
    expect(limited.rules.first.match[:user].match?("a\nb")).to be(false)
    expect(limited.check({ user: "a\nb" })).not_to be_matched
  end

  it "goes on when a reload brings such a pattern" do
    limited = documented(written("plain"))
    reload(limited, written("named", match: '{user: {nre: "(?P<n>x)"}}'))
    expect(limited.check({ user: "y" }).rule.name).to eq("named")
    expect(limited.check({ user: "x" })).not_to be_matched
  end

  it "gives the caller's own object for each rule of code that no document replaces" do
    rules = [
      rule("symbol", match: { user: :a }), rule("big", match: { user: 2**70 }), rule("bytes", match: { user: "\xFF".b }),
      rule("list", match: { user: { oneOf: [:a] } }), rule("bypass", action: :skip, limit: 1, period: 2),
      rule("lazy", limit: -> { 5 }), rule("replaced")
    ]
    limited = documented(written("replaced", match: "{user: z}"), code: rules)
    kept = rules.take(6).to_h { |known| [known.name, known] }
    expect(limited.rules.to_h { |shown| [shown.name, shown] }).to include(kept.transform_values { |it| equal(it) })
    expect(limited.rules.find { |shown| shown.name == "replaced" }).not_to equal(rules.last)
  end

  it "takes documents into a limiter that was built in code" do
    registry = Class.new do
      def counter(*) = Class.new { def increment(**) = nil }.new
      def gauge(*) = Class.new { def set(*) = nil }.new
    end.new
    limited = limiter(rule("code"), metrics: registry)
    limited.reload(rate_limits: [document([written("brought")])], properties: [:user])
    expect(limited.rules.map(&:name)).to contain_exactly("code", "brought")
    expect(limited.check({ user: 1 }).evaluations.map { |one| one.rule.name }).to contain_exactly("code", "brought")
  end

  it "gives a result its own rules, however often they are replaced while it waits" do
    limited = nil
    redis = Class.new do
      define_method(:evalsha) do |*, **|
        6.times { |n| limited.reload(rate_limits: [yield_document(n)], properties: [:user]) }
        "1 60000 0"
      end
      define_method(:yield_document) do |n|
        Labkit::RateLimit::Source.new("r.yaml", "spec: [{name: other_#{n}, action: limit, limit: 9, period_s: 60, characteristics: [user]}]")
      end
    end
    limited = documented(written("first"), redis: redis.new, topology: :single)
    result = limited.check({ user: 1 })
    expect(result.evaluations.map { |one| one.rule.name }).to eq(["first"])
    expect(limited.rules.map(&:name)).to eq(["other_5"])
  end

  it "logs a file that cannot be read, and goes on with what there is, unless it is strict" do
    limited = Labkit::RateLimit::Limiter.from_documents(
      name: "spec", rules: [rule("code")], rate_limits: ["no/such.yaml"], properties: [:user], strict: false,
      logger: logger, store: :memory
    )
    expect(limited.rules.map(&:name)).to eq(["code"])
    expect(logger.lines).to contain_exactly(
      include("message" => "rate_limit_invalid_documents", "class_name" => "UnreadableDocument",
              "error_message" => a_string_including("no/such.yaml"))
    )
    expect { limited.reload(rate_limits: ["no/such.yaml"]) }.to raise_error(Labkit::RateLimit::InvalidDocuments)
    expect(logger.lines.size).to eq(2)
    expect(limited.check({ user: 1 }).rule.name).to eq("code")
  end

  it "raises with a finding for a file that cannot be read" do
    expect { Labkit::RateLimit::Limiter.from_documents(name: "spec", rate_limits: ["no/such.yaml"], store: :memory) }
      .to raise_error(Labkit::RateLimit::InvalidDocuments) { |error|
        expect(error.findings.first).to include(code: "unreadable_file", file: "no/such.yaml")
      }
  end

  context "with a pool whose connections turn out to be a cluster's" do
    # Keeps which keys came together.
    let(:cluster) do
      Class.new do
        const_set(:SEEN, Queue.new)
        def self.name = "RedisClient::Cluster"

        def evalsha(_sha, keys:, argv:) # rubocop:disable Lint/UnusedMethodArgument
          self.class::SEEN << keys
          raise "down"
        end

        def close; end
      end
    end

    # The second to ask gets its connection later: by then both have planned for one server.
    let(:pool) do
      first = Queue.new << true
      Class.new do
        define_method(:initialize) { |kind| @kind = kind }
        define_method(:with) do |&block|
          sleep(first.pop(true) ? 0.05 : 0)
        rescue ThreadError
          sleep 0.15
        ensure
          block.call(@kind.new)
        end
      end.new(cluster)
    end

    it "plans anew what was planned for one server" do
      limited = limiter(rule("a"), rule("b"), redis: pool, deadline: 2)
      Array.new(2) { Thread.new { limited.check({ user: 1 }) } }.each(&:join)
      seen = Array.new(cluster::SEEN.size) { cluster::SEEN.pop }
      expect(seen.map { |keys| keys.map { |key| key[/\{.*\}/] }.uniq.size }).to all(eq(1))
    end

    it "keeps documents that were loaded before the first check" do
      limited = documented(written("old"), redis: pool)
      reload(limited, written("new"))
      limited.check({ user: 1 })
      expect(limited.rules.map(&:name)).to eq(["new"])
    end
  end
end
