# frozen_string_literal: true

require "pathname"
require "rbs"

# That signatures say what methods there are. `rake typed` holds what they say of arguments and values against the specs.
RSpec.describe "signatures", :mistyped do
  # What hosts do not use, and what has no signature therefore.
  internal = %i[
    Beside ClusterCalls Documents Findings Headers Host HostRedis InForce Listing Logs MatcherReader Mistake Naming Native NativeHalf Options Pattern Probe Record
    RedisCalls
    RuleDraft Shown Sinks Words Accept
  ]
  # Methods of public classes that the gem itself calls.
  own = {
    "Labkit::RateLimit::Result" => %i[decide decided], "Labkit::RateLimit::Result::Info" => %i[decided],
    "Labkit::RateLimit::Result::Evaluation" => %i[decided], "Labkit::RateLimit::Source" => %i[pair],
    "Labkit::RateLimit::Metrics" => %i[checked peeked build], "Labkit::RateLimit::Findings" => %i[line]
  }

  # What `pp` adds to Data.
  printing = %i[pretty_print pretty_print_cycle]

  environment = RBS::EnvironmentLoader.new.tap do |loader|
    loader.add(path: Pathname(File.expand_path("../sig", __dir__)))
    loader.add(library: "pathname", version: nil)
  end
  environment = RBS::Environment.from_loader(environment).resolve_type_names
  builder = RBS::DefinitionBuilder.new(env: environment)
  declared = environment.class_decls.keys.select { |name| name.to_s.start_with?("::Labkit::RateLimit") }

  ours = ->(owner) { owner.to_s.match?(/Labkit|#<Class:0x/) || (defined?(Data) && owner == Data) }

  it "speaks of every class that is not internal" do
    spaces = [Labkit::RateLimit, Labkit::RateLimit::Result, Labkit::RateLimit::Identifier]
    there = spaces.flat_map { |space| (space.constants(false) - internal).map { |name| space.const_get(name, false) }.grep(Module).map(&:name) }
    # The clock has its name from the native half.
    signed = declared.map { |name| Object.const_get(name.to_s).name } - ["Labkit::RateLimit", "Labkit::RateLimit::Findings"]
    expect(signed.uniq).to match_array(there.uniq)
  end

  it "speaks of every constant" do
    declared.each do |name|
      space = Object.const_get(name.to_s)
      there = space.constants(false).reject { |constant| constant == :UNREAD || space.const_get(constant, false).is_a?(Module) }
      signed = environment.constant_decls.keys.select { |constant| constant.namespace == name.to_namespace }.map(&:name)
      expect(signed).to match_array(there), "#{name}: #{signed} #{there}"
    end
  end

  declared.each do |name|
    it "has all methods of #{name}, and no others" do
      kind = Object.const_get(name.to_s)
      [[kind, builder.build_instance(name), :public_instance_method], [kind.singleton_class, builder.build_singleton(name), :public_instance_method]]
        .each do |space, definition, method|
        there = space.public_instance_methods.select { |one| ours.call(space.public_send(method, one).owner) } - own.fetch(name.to_s[2..], []) - printing
        signed = definition.methods.select { |_, one| one.public? }
        expect(there - signed.keys).to eq([])
        expect(signed.select { |_, one| one.implemented_in.to_s.start_with?("::Labkit") }.keys - space.public_instance_methods).to eq([])
      end
    end
  end
end
