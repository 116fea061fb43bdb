# frozen_string_literal: true

require_relative "native_helper"

# Against a build that panics when it is asked to: `rake compile:probe`.
RSpec.describe "a panic" do
  let(:library) { File.expand_path("../../tmp/#{RUBY_VERSION[/\A\d+\.\d+/]}/probe", __dir__) }

  def probe(script)
    expect(Dir["#{library}/labkit_ratelimit/labkit_ratelimit_native.*"]).not_to be_empty, "run `rake compile:probe`"
    ruby("native = NativeHelper::Native\n#{script}", library: library)
  end

  it "is a failed-open check and a line in the log, and nothing on standard error" do
    expect(probe(<<~RUBY)).to eq("[:allow, true, 0, 1] panic user,other true\n[:allow, 1.0]\n")
      limiter = core
      native.panic!
      decision = limiter.check({ user: 1, other: 2 }, nil, nil)
      lines = limiter.take_logs
      line = lines.first
      puts "\#{[decision.action, decision.error?, decision.size, lines.size]} \#{line[:class_name]} \#{line[:identifier_keys].join(",")} " \\
           "\#{line[:error_message].include?("boundary.rs") && line[:error_message].include?("asked for")}"
      decision = limiter.check({ user: 1 }, nil, nil)
      p [decision.action, decision.count(0)]
    RUBY
  end

  it "blocks where on_error says so, in peeks and settled calls too" do
    expect(probe(<<~RUBY)).to eq("[:block, :block, :block]\n[1, 1]\n")
      limiter = core(on_error: "block")
      planned = host_core(on_error: "block")
      native.panic!
      checked = limiter.check({ user: 1 }, nil, nil)
      native.panic!
      peeked = limiter.peek({ user: 1 }, nil)
      limiter.take_logs
      pending = planned.plan(:check, { user: 1 }, nil, nil)
      native.panic!
      settled = planned.settle(pending, "1 60000 0", nil)
      p [checked, peeked, settled].map(&:action)
      native.panic!
      planned.plan(:check, { user: 1 }, nil, nil)
      p [planned.take_logs.size - 1, limiter.check({ user: 1 }, nil, nil).count(0).to_i]
    RUBY
  end

  it "is an InternalError on control paths" do
    expect(probe(<<~RUBY)).to eq("#{"Labkit::RateLimit::Native::InternalError\n" * 4}allow\n")
      limiter = core
      clear = host_core.plan_clear({ user: 1 })
      planned = host_core
      documents = { available: nil, rate_limits: [], properties: [], allowed_skip_rules: [], strict: true }
      [-> { core }, -> { limiter.clear({ user: 1 }) }, -> { limiter.reload(documents) }, -> { planned.settle_clear(clear, "1", nil) }].each do |call|
        native.panic!
        call.call
        puts "nothing raised"
      rescue native::InternalError => e
        puts e.class
      end
      puts limiter.check({ user: 1 }, nil, nil).action
    RUBY
  end
end
