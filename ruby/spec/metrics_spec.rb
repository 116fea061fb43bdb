# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::Metrics do
  # Told what is counted, as prometheus-client-mmap is called.
  let(:mmap) do
    Class.new do
      attr_reader :told, :made

      def initialize
        @told = []
        @made = {}
      end

      def counter(name, _help, base_labels)
        @made[name] = [:counter, base_labels]
        metric(name)
      end

      def gauge(name, _help, base_labels, aggregation)
        @made[name] = [:gauge, base_labels, aggregation]
        metric(name)
      end

      def metric(name)
        told = @told
        Object.new.tap do |metric|
          metric.define_singleton_method(:increment) { |**labels| told << [name.to_s.delete_prefix("gitlab_labkit_rate_limiter_"), labels] }
          metric.define_singleton_method(:set) { |labels, value| told << [name.to_s.delete_prefix("gitlab_labkit_rate_limiter_"), labels, value] }
        end
      end
    end.new
  end

  def own(**labels)
    { rate_limiter: "spec", **labels }
  end

  before { described_class::FAILURE_LOGGED.make_false }

  it "tells each evaluated rule, in order, and the check once" do
    limited = limiter(rule("w", limit: 1, action: :warn), rule("a", limit: ->(_) { 2 }), rule("s", action: :skip), metrics: mmap)
    limited.check({ user: 1 })
    expect(mmap.told).to eq([
                              ["rule_evaluations_total", own(rule: "w", action: "warn", result: "allow")], ["limit", own(rule: "w"), 1], ["period_seconds", own(rule: "w"), 60],
                              ["rule_evaluations_total", own(rule: "a", action: "limit", result: "allow")], ["limit", own(rule: "a"), 2], ["period_seconds", own(rule: "a"), 60],
                              ["rule_evaluations_total", own(rule: "s", action: "skip", result: "skip")],
                              ["checks_total", own(action: "allow", matched: "true", error: "false")]
                            ])
    expect(mmap.made.values.uniq).to eq([[:counter, {}], [:gauge, {}, :max]])
  end

  it "tells results: warn, banned, block; peeks alone; failures and what was missing as errors", :mistyped do
    limited = limiter(rule("w", limit: 1, action: :warn), rule("b", limit: 1, ban_for: 5), metrics: mmap)
    2.times { limited.check({ user: 1 }) }
    expect(mmap.told.last(7).filter_map { |_, labels| labels[:result] || labels[:action] }).to eq(%w[warn banned block])
    mmap.told.clear
    limited.peek({ user: 1 })
    limited.clear({ user: 1 })
    limited.check({ user: [] })
    limiter(rule("d", count_distinct: :page), name: "spec", metrics: mmap).check({ user: 1 })
    expect { limited.check({ 1 => 2 }) }.to raise_error(ArgumentError)
    expect(mmap.told).to eq([["peeks_total", own(error: "false")], ["checks_total", own(action: "allow", matched: "false", error: "true")],
                             ["checks_total", own(action: "allow", matched: "false", error: "true")]])
  end

  it "keeps what was counted before a failure" do
    limited = limiter(rule("a"), rule("b", limit: -> { raise "no" }), metrics: mmap)
    limited.check({ user: 1 })
    expect(mmap.told.map { |name, labels| [name, labels[:rule]].compact }).to eq([%w[rule_evaluations_total a], %w[limit a], %w[period_seconds a], ["checks_total"]])
  end

  it "touches no result where it fails, and is logged once in a process" do
    broken = Class.new { def counter(*) = raise(KeyError, "full"); def gauge(*) = raise(KeyError, "full") }.new
    limited = limiter(rule, metrics: broken)
    expect(Array.new(3) { limited.check({ user: 1 }).action }).to eq(%i[allow allow block])
    expect(logger.lines).to eq([{ "error_type" => "rate_limit_metrics_error", name: "spec", metric: "rule_evaluations_total",
                                  "class_name" => "KeyError", "error_message" => "full" }])
  end

  it "takes a client that forwards, and complains in the log alone of what is no registry" do
    forwarding = Class.new(BasicObject) do
      def initialize(client) = @client = client
      def method_missing(...) = @client.public_send(...)
      def respond_to_missing?(name, _) = name != :method
    end
    expect(limiter(rule, metrics: forwarding.new(mmap)).check({ user: 1 })).not_to be_error
    expect(mmap.told.map(&:first)).to include("checks_total")
    expect(limiter(rule, metrics: Object.new).check({ user: 1 })).not_to be_error
    expect(logger.lines.map { |line| line["class_name"] }).to eq(["NoMethodError"])
  end

  it "takes the metric of who registered it a moment ago" do
    registry = Class.new do
      define_method(:initialize) { |client| (@client = client) && @there = {} }
      def get(name) = @there[name]
      def counter(name, *rest) = taken(name, @client.counter(name, *rest))
      def gauge(name, *rest) = taken(name, @client.gauge(name, *rest))
      def taken(name, metric) = (@there[name] = metric) && raise(KeyError, "#{name} is registered already")
    end
    limiter(rule, metrics: registry.new(mmap)).check({ user: 1 })
    expect([mmap.told.map(&:first), logger.lines]).to eq([%w[rule_evaluations_total limit period_seconds checks_total], []])
  end

  it "asks again for a null metric" do
    null = stub_const("NullMetric", Class.new { def increment(**) = nil; def set(*) = nil })
    asked = 0
    client = Class.new { define_method(:counter) { |*| (asked += 1) && null.new }; define_method(:gauge) { |*| null.new } }.new
    limited = limiter(rule, metrics: client)
    2.times { limited.check({ user: 1 }) }
    expect(asked).to eq(4)
  end

  it "fills a registry of prometheus-client" do
    kind = Class.new do
      attr_reader :values

      def initialize(labels)
        (@labels = labels.sort
         @values = Hash.new(0))
      end

      def increment(by: 1, labels: {}) = @values[checked(labels)] += by

      def set(value, labels: {}) = @values[checked(labels)] = value

      def checked(labels) = labels.keys.sort == @labels ? labels : raise(ArgumentError, "labels")
    end
    registry = Class.new do
      define_method(:get) { |name| metrics[name] }
      define_method(:metrics) { @metrics ||= {} }
      define_method(:counter) { |name, docstring:, labels: []| docstring && metrics[name] = kind.new(labels) }
      define_method(:gauge) do |name, docstring:, labels: [], store_settings: {}|
        raise ArgumentError, "this store takes no settings" unless store_settings.empty?

        docstring && metrics[name] = kind.new(labels)
      end
    end.new
    2.times { limiter(rule("a"), metrics: registry).tap { |limited| limited.check({ user: 1 }) && limited.peek({ user: 1 }) } }
    totals = registry.metrics.to_h { |name, metric| [name.to_s.delete_prefix("gitlab_labkit_rate_limiter_"), metric.values.values.sum] }
    expect(totals).to eq("rule_evaluations_total" => 2, "limit" => 2, "period_seconds" => 60, "checks_total" => 2, "peeks_total" => 2)
    expect(logger.lines).to eq([])
  end

  it "fills a registry of prometheus-client-mmap", if: Gem.loaded_specs.key?("prometheus-client-mmap") || !Gem::Specification.find_all_by_name("prometheus-client-mmap").empty? do
    script = <<~RUBY
      require "tmpdir"
      Dir.mktmpdir do |folder|
        ENV["prometheus_multiproc_dir"] = folder
        require "prometheus/client"
        require "prometheus/client/formats/text"
        require "labkit_ratelimit"
        registry = Prometheus::Client.registry
        rule = Labkit::RateLimit::Rule.new(name: "r", limit: 5, period: 60, characteristics: [])
        2.times { Labkit::RateLimit::Limiter.new(name: "l", rules: [rule], metrics: registry, store: :memory).check({}) }
        puts Prometheus::Client::Formats::Text.marshal_multiprocess
      end
    RUBY
    output = IO.popen([RbConfig.ruby, "-W0", "-I", File.expand_path("../lib", __dir__), "-e", script], &:read)
    expect(output).to include('gitlab_labkit_rate_limiter_checks_total{action="allow",error="false",matched="true",rate_limiter="l"} 2')
    expect(output).to match(/# TYPE gitlab_labkit_rate_limiter_limit gauge/)
    expect(output).to include('gitlab_labkit_rate_limiter_limit{rate_limiter="l",rule="r"} 5')
  end

  it "has a latch of its own where concurrent-ruby is not" do
    latch = described_class::Latch.new
    expect([latch.true?, latch.make_true, latch.make_true, latch.value, latch.make_false, latch.false?]).to eq([false, true, false, true, true, true])
  end
end
