# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Matcher do
  values = [nil, true, false, 0, 1, 1.0, "1", "", "get", :get, "GET", "/api/x", "a\nb", [], [1], { a: 1 }, Float::NAN, "\xFF", "10.1.2.3", Set["get"]]

  inputs = [
    "get", :get, 1, 1.0, nil, false, { eq: "get" }, { "ne" => "get" }, { ne: nil }, { re: "ge" }, { re: "^b$" }, /GET/i,
    { nre: "^/api" }, { nre: "" }, { oneOf: [1, "get", nil] }, { one_of: [] }, { noneOf: [1] }, { none_of: [nil] },
    { regex: "^g" }, { regex: /^b$/ }, { not: { prefix: "/api" } }, { not: 1 }, { prefix: "/api" }, { cidr: "10.0.0.0/8" },
    [/./, { nre: "^/api" }], [{ not: [{ re: "e" }] }]
  ]

  # A limiter is asked: what a matcher says of a value, a check must do.
  inputs.each do |input|
    it "agrees with the core on #{input.inspect}" do
      matcher = described_class.build(input)
      limited = limiter(rule(match: { v: input }, characteristics: []))
      values.each do |value|
        result = limited.check({ v: value })
        next if result.error? # A list, a map, NaN: no value at all.

        expect(matcher.match?(value)).to be(result.matched?), "#{value.inspect}: #{result.matched?}"
      end
    end
  end

  it "takes a Set for its text, as a check does" do
    matcher = described_class.build({ re: "get" })
    expect([matcher.match?(Set["get"]), limiter(rule(match: { v: { re: "get" } })).check({ v: Set["get"] }).matched?]).to eq([true, true])
  end

  it "knows lists, maps and NaN as equal to nothing" do
    [[1], { a: 1 }, Float::NAN].each do |value|
      expect([1, { oneOf: [1] }, { re: "1" }, nil].map { |input| described_class.build(input).match?(value) }).to all(be(false))
      expect([{ ne: 1 }, { noneOf: [1] }].map { |input| described_class.build(input).match?(value) }).to all(be(true))
    end
  end

  it "holds type and value, as labkit-ruby has them" do
    built = { "x" => [:eq, "x"], { "eq" => 1 } => [:eq, 1], { oneOf: [1, 2] } => [:oneOf, Set[1, 2]], /a/ => [:re, /a/],
              { re: "a" } => [:re, /a/], [{ eq: 1 }] => [:all, [described_class.build(1)]] }
    built.each { |input, pair| expect(described_class.build(input).deconstruct).to eq(pair) }
    expect(described_class.build({ oneOf: [1] }).value).to be_frozen
    expect(described_class.build("x")).to eq(described_class.build({ eq: "x" }))
    expect(described_class.build(described_class.build(1))).to eq(described_class.build(1))
  end

  it "refuses what is none" do
    refused = [[], %w[a b], [[{ eq: 1 }]], {}, { eq: 1, ne: 2 }, { glob: "a" }, { 1 => 2 }, { re: "(" }, { re: 5 }, { re: nil },
               { re: :a }, { oneOf: "a" }, { oneOf: Set[1] }, { noneOf: [] }, { oneOf: [[1]] }, { eq: [1] }, { cidr: "x" },
               { regex: "(?=a)" }, Object.new, 9.times.reduce(1) { |inner, _| { not: inner } }]
    refused.each { |input| expect { described_class.build(input) }.to raise_error(ArgumentError), input.inspect }
    endless = []
    endless << { not: endless }
    expect { described_class.build(endless) }.to raise_error(ArgumentError)
  end

  it "bounds a pattern in time, where Ruby can" do
    pattern = described_class.build(/a/ix).value
    expect([pattern, pattern.options]).to eq([/a/ix, /a/ix.options])
    if Regexp.respond_to?(:timeout)
      expect(pattern.timeout).to eq(0.05)
      expect(described_class.build(Regexp.new("a", timeout: 2.5)).value.timeout).to eq(2.5)
      slow = described_class.build({ re: "^(a+)+\\1$" })
      expect { slow.match?("#{"a" * 40}!") }.to raise_error(Regexp::TimeoutError)
    end
  end
end
