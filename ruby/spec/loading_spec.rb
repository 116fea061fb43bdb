# frozen_string_literal: true

require "open3"

# Every case is a process of its own: a constant is loaded once.
RSpec.describe "loading beside gitlab-labkit" do
  let(:lib) { File.expand_path("../lib", __dir__) }
  let(:stand_in) { File.expand_path("support/stand_in/lib", __dir__) }

  def ruby(script, folders: [lib, stand_in], env: {})
    flags = folders.flat_map { |folder| ["-I", folder] }
    env = { "RAILS_ENV" => nil, "RUBYOPT" => nil, **env }
    output, status = Open3.capture2e(env, RbConfig.ruby, "-W0", *flags, "-e", script)
    [output.strip, status.success?]
  end

  # Whose the module is, and whether anything of the other is in it.
  let(:tell) do
    <<~RUBY
      module_ = Labkit::RateLimit
      puts [module_.const_defined?(:STAND_IN, false), module_.configure { :ours },
            module_::Rule.new(name: "r", limit: 1, period: 1, characteristics: []).name].inspect
    RUBY
  end
  let(:ours) { '[false, :ours, "r"]' }

  orders = {
    "alone" => 'require "labkit_ratelimit"',
    "by the gem's own name" => 'require "labkit-ratelimit"',
    "by the other's feature, with no other gem" => 'require "labkit/rate_limit"',
    "after the other, whose autoload is pending" => 'require "gitlab-labkit"; require "labkit_ratelimit"',
    "before the other" => 'require "labkit_ratelimit"; require "gitlab-labkit"',
    "twice around the other" => 'require "labkit_ratelimit"; require "gitlab-labkit"; require "labkit-ratelimit"',
    "before the other and its feature" =>
      'require "labkit_ratelimit"; require "gitlab-labkit"; require "labkit/rate_limit"',
    "after the other and before its feature" =>
      'require "gitlab-labkit"; require "labkit_ratelimit"; require "labkit/rate_limit"',
    "after somebody asked whether the other is there" => <<~RUBY,
      require "gitlab-labkit"
      raise "not there" unless defined?(Labkit::RateLimit) && Labkit.const_defined?(:RateLimit)
      require "labkit_ratelimit"
    RUBY
    "and then a file of the other's" => <<~RUBY,
      require "gitlab-labkit"
      require "labkit_ratelimit"
      require "labkit/rate_limit/rule"
      raise "mixed" if Labkit::RateLimit::Rule.const_defined?(:STAND_IN, false)
    RUBY
    "and then the other's feature by its path" => <<~RUBY
      require "gitlab-labkit"
      require "labkit_ratelimit"
      require File.join($LOAD_PATH.find { |folder| folder.end_with?("stand_in/lib") }, "labkit/rate_limit")
    RUBY
  }

  orders.each do |order, script|
    it "is ours #{order}" do
      folders = order.include?("no other") || order == "alone" ? [lib] : [lib, stand_in]
      expect(ruby("#{script}\n#{tell}", folders: folders)).to eq([ours, true])
    end

    next if order.include?("no other") || order == "alone"

    it "is ours #{order}, the other first in the load path" do
      expect(ruby("#{script}\n#{tell}", folders: [stand_in, lib])).to eq([ours, true])
    end
  end

  it "is ours where the load path goes by a link" do
    Dir.mktmpdir do |folder|
      link = File.join(folder, "link")
      File.symlink(stand_in, link)
      script = 'require "gitlab-labkit"; require "labkit_ratelimit"; require "labkit/rate_limit"; require File.join($LOAD_PATH.first, "labkit/rate_limit")'
      expect(ruby("#{script}\n#{tell}", folders: [link, lib])).to eq([ours, true])
    end
  end

  it "is ours where its feature is asked for first, and found here first" do
    expect(ruby("require \"labkit/rate_limit\"; require \"gitlab-labkit\"\n#{tell}")).to eq([ours, true])
    output, = ruby('require "labkit/rate_limit"; require "labkit_ratelimit"', folders: [stand_in, lib])
    expect(output).to match(/gitlab-labkit is loaded already.*\(LoadError\)/m)
  end

  it "refuses a native half of another version" do
    Dir.mktmpdir do |folder|
      FileUtils.mkdir_p("#{folder}/labkit_ratelimit")
      File.write("#{folder}/labkit_ratelimit/labkit_ratelimit_native.rb", 'module Labkit::RateLimit::Native; VERSION = "0.0.1"; end')
      output, success = ruby('require "labkit_ratelimit"', folders: [folder, lib])
      expect([success, output]).to match([false, /found a native library of version 0.0.1: install the gem again.*\(LoadError\)/])
    end
  end

  # Of the same version, as an earlier build of a checkout is.
  it "refuses a native half of another build" do
    Dir.mktmpdir do |folder|
      FileUtils.mkdir_p("#{folder}/labkit_ratelimit")
      built = File.join(lib, "labkit_ratelimit", RUBY_VERSION[/\A\d+\.\d+/], "labkit_ratelimit_native")
      stale = ["remove_method :told", "remove_method :told; define_method(:told) { |more| more }"]
      stale.each do |change|
        script = "require #{built.inspect}; class Labkit::RateLimit::Native::Decision; #{change}; end"
        File.write("#{folder}/labkit_ratelimit/labkit_ratelimit_native.rb", script)
        output, success = ruby('require "labkit_ratelimit"', folders: [folder, lib])
        expect([success, output]).to match([false, /of another build, without Decision#told: install the gem again.*\(LoadError\)/])
      end
    end
  end

  it "asks the native half for all that it has" do
    native = Labkit::RateLimit::Native
    half = Labkit::RateLimit::NativeHalf
    methods = half::METHODS.transform_values { |by_arity| by_arity.values.flatten.sort }
    classes = native.constants.grep_v(:InternalError).to_h { |name| [name, native.const_get(name)] }.select { |_, kind| kind.is_a?(Class) }
    expect(methods).to eq(classes.transform_values { |kind| kind.public_instance_methods(false).sort })
    expect(half::MADE.keys).to match_array(classes.select { |_, kind| kind.singleton_methods(false).include?(:new) }.keys)
    expect(half::FUNCTIONS.values.flatten).to match_array(native.singleton_methods(false))
  end

  it "is ours where the constant's own autoload finds our file" do
    expect(ruby("require \"gitlab-labkit\"\nLabkit::RateLimit\n#{tell}")).to eq([ours, true])
  end

  it "is ours where the other gem comes into the load path later" do
    script = <<~RUBY
      require "labkit_ratelimit"
      $LOAD_PATH.unshift(#{stand_in.inspect})
      require "gitlab-labkit"
      require "labkit/rate_limit"
      require "labkit/rate_limit/rule"
      raise "mixed" if Labkit::RateLimit::Rule.const_defined?(:STAND_IN, false)
    RUBY
    expect(ruby(script + tell, folders: [lib])).to eq([ours, true])
  end

  it "refuses where the other's module is loaded, and says so" do
    script = <<~RUBY
      require "gitlab-labkit"
      Labkit::RateLimit::STAND_IN
      begin
        require "labkit_ratelimit"
      rescue LoadError => e
        puts e.message
      end
      puts Labkit::RateLimit.const_defined?(:Limiter, false)
    RUBY
    output, = ruby(script, folders: [stand_in, lib])
    expect(output).to match(/gitlab-labkit is loaded already.*require "labkit_ratelimit" before.*\nfalse\z/m)
  end

  it "calls the other's word for the environment where there is one" do
    script = 'require "gitlab-labkit"; require "labkit_ratelimit"; p Labkit.dev_or_test?'
    expect(ruby(script, env: { "STAND_IN_DEV" => "1" }).first).to eq("true")
    expect(ruby(script).first).to eq("false")
  end

  it "has its own rule for the environment elsewhere, read at every call" do
    script = 'require "labkit_ratelimit"; p Labkit.dev_or_test?; ENV["RAILS_ENV"] = "development"; p Labkit.dev_or_test?'
    expect(ruby(script, folders: [lib]).first).to eq("false\ntrue")
  end

  describe "the other's logger and metrics" do
    let(:failing) do
      <<~RUBY
        rule = Labkit::RateLimit::Rule.new(name: "r", limit: 1, period: 1, characteristics: [:user])
        limiter = Labkit::RateLimit::Limiter.new(name: "l", rules: [rule], store: :memory)
        limiter.check({ user: 1 })
        limiter.check({ user: [] })
      RUBY
    end

    it "are used where they are" do
      script = "require \"gitlab-labkit\"\nrequire \"labkit_ratelimit\"\n#{failing}\n" \
               "puts Labkit::Metrics::Client.metrics.keys.sort, Labkit::Metrics::Client.aggregations.values.uniq.inspect"
      output, = ruby(script)
      expect(output).to match(/^stand-in logger: {"message":"rate_limit_error","name":"l"/)
      expect(output).to include("gitlab_labkit_rate_limiter_checks_total", "gitlab_labkit_rate_limiter_limit", "[:max]")
    end

    it "are done without where they are not" do
      output, = ruby("require \"labkit_ratelimit\"\n#{failing}", folders: [lib])
      line = JSON.parse(output)
      expect(line).to include("severity" => "WARN", "message" => "rate_limit_error", "name" => "l", "rule" => nil)
      expect(line["time"]).to match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/)
    end
  end
end
