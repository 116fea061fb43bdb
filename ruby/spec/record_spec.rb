# frozen_string_literal: true

# On Ruby 3.1 this is the class of ours, later it is Data: both must answer alike.
RSpec.describe Labkit::RateLimit::Record do
  let(:kind) { stub_const("Measure", Class.new(described_class.define(:amount, :unit))) }
  let(:one) { kind.new(amount: 1, unit: "km") }

  it "is Data where there is Data" do
    expect(described_class).to eq(defined?(Data.define) ? Data : described_class)
  end

  it "is built by keywords and by order" do
    expect([kind.new(1, "km"), kind[1, "km"], kind.new(unit: "km", amount: 1)]).to all(eq(one))
    expect { kind.new(amount: 1) }.to raise_error(ArgumentError, /missing keyword: :unit/)
    expect { kind.new(1) }.to raise_error(ArgumentError, /missing keyword: :unit/)
    expect { kind.new(amount: 1, unit: 2, colour: 3) }.to raise_error(ArgumentError, /unknown keyword: :colour/)
    expect { kind.new(1, 2, 3) }.to raise_error(ArgumentError)
  end

  it "compares as Data does" do
    expect([one == kind.new(1.0, "km"), one.eql?(kind.new(1.0, "km")), one.eql?(kind.new(1, "km"))]).to eq([true, false, true])
    expect({ one => 1 }[kind.new(1, "km")]).to eq(1)
    expect(one).not_to eq(Class.new(described_class.define(:amount, :unit)).new(1, "km"))
  end

  it "is frozen, and changes by with" do
    expect(one).to be_frozen
    expect(one.with(amount: 2)).to eq(kind.new(2, "km"))
    expect(one.with).to eq(one)
    expect { one.with(1) }.to raise_error(ArgumentError)
    expect { one.with(colour: 1) }.to raise_error(ArgumentError)
    expect { one.instance_variable_set(:@amount, 2) }.to raise_error(FrozenError)
  end

  it "shows itself" do
    expect([one.to_h, one.members, kind.members]).to eq([{ amount: 1, unit: "km" }, %i[amount unit], %i[amount unit]])
    expect(one.to_h { |name, value| [value, name] }).to eq(1 => :amount, "km" => :unit)
    expect(one.inspect).to eq('#<data Measure amount=1, unit="km">')
    expect(one.to_s).to eq(one.inspect)
    expect([one.deconstruct_keys([:unit]), one.deconstruct_keys(nil)]).to eq([{ unit: "km" }, { amount: 1, unit: "km" }])
    expect { one.deconstruct_keys(1) }.to raise_error(TypeError)
  end
end
