# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Logs do
  it "names a failure as labkit-ruby does: four keys are Strings; never a value" do
    limiter(rule).check({ user: ["s3cr3t"], mail: "a@b" })
    expect(logger.lines.size).to eq(1)
    line = logger.lines.first
    expect(line.keys).to eq(["message", :name, :rule, "error_type", "class_name", "error_message", :identifier_keys])
    expect(line).to include("message" => "rate_limit_error", "error_type" => "rate_limit_error", name: "spec", rule: nil,
                            "class_name" => "ArgumentError", identifier_keys: %w[user mail])
    expect(line.to_s).not_to match(/s3cr3t|a@b/)
  end

  it "names what a distinct rule missed" do
    result = limiter(rule("d", count_distinct: :page), rule("a")).check({ user: 1 })
    expect([result.degraded?, result.error?, result.rule.name]).to eq([true, false, "a"])
    expect(logger.lines).to eq([{ message: "rate_limit_missing_count_distinct", name: "spec", rule: "d", count_distinct: "page", identifier_keys: ["user"] }])
  end

  it "says nothing on success, and a logger that raises changes no result" do
    limited = limiter(rule("d", count_distinct: :page))
    limited.check({ user: 1, page: 2 })
    expect(logger.lines).to eq([])
    broken = Class.new { def warn(_) = raise("disk full") }.new
    failing = Labkit::RateLimit::Limiter.new(name: "spec", rules: [rule, rule("d", count_distinct: :page)], logger: broken, store: :memory)
    expect([failing.check({ user: 1 }).degraded?, failing.check({ user: [] }).error?]).to eq([true, true])
  end

  it "is seen where it raises while a limiter is built" do
    broken = Class.new { def warn(_) = raise("disk full") }.new
    in_production do
      expect { Labkit::RateLimit::Limiter.new(name: "a", rules: [rule("Bad")], logger: broken) }.to raise_error(RuntimeError, "disk full")
    end
  end

  it "writes one JSON object a line where nobody gives a logger" do
    output = StringIO.new
    described_class.stdlib(output).tap { |stdlib| stdlib.warn("message" => "m", name: "l") && stdlib.warn("text") }
    lines = output.string.lines.map { |line| JSON.parse(line) }
    expect(lines.first).to include("severity" => "WARN", "message" => "m", "name" => "l")
    expect(lines.last).to include("message" => "text")
    expect(Time.iso8601(lines.first["time"])).to be_within(5).of(Time.now)
  end
end
