# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Identifier do
  it "makes Symbols of names, in a frozen copy" do
    given = { "user" => 1, ip: "a" }
    identifier = described_class.new(given)
    expect(identifier.attributes).to eq(user: 1, ip: "a")
    expect(identifier.attributes).to be_frozen
    expect([identifier[:user], identifier["user"], identifier["none"], identifier.to_h]).to eq([1, 1, nil, { "user" => 1, "ip" => "a" }])
    expect(described_class.new.attributes).to eq({})
    expect([described_class.new([["user", 1]]).attributes, described_class.new(["user"]).attributes]).to eq([{ user: 1 }, { user: nil }])
  end

  it "is equal by attributes, not eql" do
    expect([described_class.new(a: 1) == described_class.new("a" => 1), described_class.new(a: 1) == { a: 1 }]).to eq([true, false])
    expect(described_class.new(a: 1)).not_to eql(described_class.new(a: 1))
  end

  it "strips the query of an endpoint" do
    read = { "/a?b?c" => "/a", "" => nil, "?" => "", "?a" => "", "/a" => "/a", nil => nil, 5 => 5, :"/a?b" => :"/a?b" }
    read.each { |value, endpoint| expect(described_class.normalize_endpoint(value)).to eq(endpoint) }
    expect(described_class.new("endpoint" => "/a?b", path: "/c?d").attributes).to eq(endpoint: "/a", path: "/c?d")
    expect(described_class.normalize_endpoint("/\xFF?a")).to eq("/\xFF")
    expect(described_class.normalize_endpoint("/a?b".encode("UTF-16LE"))).to eq("/a".encode("UTF-16LE"))
  end

  it "refuses names that are none, and names that are there twice, out of every call", :mistyped do
    limited = limiter(rule)
    calls = [->(given) { limited.check(given) }, ->(given) { limited.peek(given) }, ->(given) { limited.clear(given) }]
    calls.each do |call|
      expect { call.call({ 1 => 2 }) }.to raise_error(described_class::InvalidKeyError)
      expect { call.call({ "\xFF" => 2 }) }.to raise_error(described_class::InvalidKeyError, /broken in its encoding/)
      expect { call.call({ :user => 1, "user" => 1 }) }.to raise_error(described_class::DuplicateNormalizedKeyError, /:user.*"user"/)
      expect { call.call({ x: 1, "x" => 2, user: 1 }) }.to raise_error(described_class::InvalidKeyError)
      [nil, "user", 5].each { |given| expect { call.call(given) }.to raise_error(NoMethodError) }
    end
    expect(described_class::DuplicateNormalizedKeyError.ancestors).to include(described_class::InvalidKeyError, ArgumentError)
  end
end
