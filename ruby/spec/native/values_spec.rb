# frozen_string_literal: true

require_relative "native_helper"
require "bigdecimal"
require "digest"
require "ipaddr"
require "pathname"

RSpec.describe "values of properties" do
  let(:texted) do
    Class.new do
      def to_s = "own text"
    end
  end
  let(:raising) do
    Class.new do
      def to_s = raise("no text")
    end
  end

  it "have the text form of the contract in keys" do
    { "a" => "a", :sym => "sym", 7 => "7", -7 => "-7", 2**62 => (2**62).to_s, 2**63 => (2**63).to_s, -(2**80) => (-(2**80)).to_s,
      1.0 => "1", 1e20 => "100000000000000000000", -0.0 => "0", 0.1 => "0.1", true => "true", false => "false",
      nil => "_unknown_", "" => "_unknown_", Rational(1, 2) => "0.5", BigDecimal("2.50") => "2.5", Rational(3, 1) => "3",
      IPAddr.new("10.0.0.1") => "10.0.0.1", Pathname("/a") => "/a", texted.new => "own text",
      Class.new(String).new("sub") => "sub", "grün" => "grün".b, :grün => "grün".b,
      Complex(1, 2) => "1+2i" }.each { |value, text| expect(keyed(value)).to eq(text.b), value.inspect }
  end

  it "are text where their bytes are UTF-8, and hashed where they are not" do
    expect(keyed("grün".b)).to eq("grün".b)
    expect(keyed("gr\xFCn")).to eq(Digest::SHA256.hexdigest("gr\xFCn"))
    latin = "grün".encode("ISO-8859-1")
    expect(keyed(latin)).to eq(Digest::SHA256.hexdigest(latin.b))
    expect(keyed("x" * 201)).to eq(Digest::SHA256.hexdigest("x" * 201))
    expect(matched?("grün", "grün".b)).to be(true)
    expect(matched?("gr\xFCn", "gr\xFCn".b)).to be(true)
    expect(matched?({ "regex" => "." }, "gr\xFCn")).to be(false)
  end

  it "are compared by type and value" do
    expect(matched?(1, 1.0)).to be(true)
    expect(matched?(1, "1")).to be(false)
    expect(matched?(1, true)).to be(false)
    expect(matched?("a", :a)).to be(true)
    expect(matched?(:a, "a")).to be(true)
    expect(matched?(2**70, (2**70).to_s)).to be(true)
    expect(matched?((2**70).to_s, 2**70)).to be(true)
    expect(matched?(Rational(1, 2), 0.5)).to be(true)
    expect(matched?(texted.new, "own text")).to be(true)
    expect(matched?(nil, nil)).to be(true)
    expect(matched?(nil, "")).to be(false)
  end

  it "are bad where they are lists, maps, no number, or have no text of their own" do
    limiter = core(rule(match: { "value" => "x" }))
    [[[1], "a list"], [{ a: 1 }, "a map"], [Float::NAN, "NaN"], [Float::INFINITY, "an infinite number"],
     [Object.new, "an object without a text of its own"], [BasicObject.new, "an object without a text of its own (NameError)"],
     [BigDecimal("NaN"), "NaN"], [raising.new, "an object whose to_s fails (RuntimeError)"],
     [Class.new { def to_s = 5 }.new, "an object whose to_s gives no String"]].each do |value, word|
      decision = check(limiter, { value: value, user: 1, other: [] })
      expect([decision.error?, decision.action]).to eq([true, :allow])
      line = limiter.take_logs.fetch(0)
      expect(line).to include(message: "rate_limit_error", class_name: "BadIdentifier", rule: nil,
                              identifier_keys: %w[value user other])
      expect(line[:error_message]).to include("`value` is #{word}:")
    end
  end

  it "may be anything where no rule mentions them" do
    expect(check(core, { user: 1, other: [], another: raising.new }).error?).to be(false)
  end

  it "are read before the text of another one changes them" do
    name = +"first"
    changing = Class.new { define_method(:to_s) { name.replace("second" * 100) && "text" } }.new
    pending = host_core(rule(characteristics: %w[name object])).plan(:check, { name: name, object: changing }, nil, nil)
    expect(pending.keys.first).to eq("labkit:rl:{lim:per_user:name:#{Digest::SHA256.hexdigest("second" * 100)}:object:text}")
  end

  it "pass on what is no StandardError" do
    limiter = core(rule(characteristics: %w[value]))
    stopping = Class.new { def to_s = raise(Interrupt, "stop") }.new
    expect { check(limiter, { value: stopping }) }.to raise_error(Interrupt, "stop")
    thrown = catch(:out) { check(limiter, { value: Class.new { def to_s = throw(:out, :thrown) }.new }) }
    expect(thrown).to eq(:thrown)
    expect(limiter.logs?).to be(false)
  end
end
