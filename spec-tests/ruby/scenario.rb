# frozen_string_literal: true

require "json"
require "time"
require_relative "sinks"

# One scenario: its limiter and its steps.
class Scenario
  KEYS = %w[name why limiter rules available_limiters rate_limits options stores steps expect_build_error].freeze
  OPS = %w[check peek clear headers advance redis store logs metrics].freeze
  START_S = 1_700_000_000

  def initialize(data, backend)
    @data, @backend = data, backend
    refuse_unknown(data, KEYS, "scenario")
    refuse_unknown(data.fetch("options", {}), %w[evaluation on_error], "scenario's options")
    @logger, @metrics, @findings = Recorder.new, Registry.new, []
    @clock = Labkit::RateLimit::ManualClock.new(START_S)
  end

  def name
    @data["name"]
  end

  def on?(store)
    steps = @data.fetch("steps", [])
    real, back = steps.any? { |step| step.key?("redis") || step.key?("store") }, steps.any? { |step| step.fetch("advance", 0).negative? }
    @data.fetch("stores", [store]).include?(store) && !(store == "memory" ? real : back)
  end

  # Gives the index, the op and the actual of the build and of each step.
  def run
    @backend&.flush
    build
    yield(-1, "build", @findings.empty? ? nil : { "findings" => @findings })
    @data.fetch("steps", []).each_with_index { |step, at| yield(at, *play(step)) } if @findings.empty?
  end

  private

  def refuse_unknown(map, known, what)
    odd = (map.keys - known).first or return
    raise "unknown key `#{odd}` of a #{what} (publishes come with the rule store)"
  end

  def build
    store = @backend ? { redis: @backend, topology: @backend.topology } : { store: :memory, clock: @clock }
    # A busy machine must not fail a scenario.
    asked = @data.fetch("options", {}).transform_keys(&:to_sym)
    options = { name: @data["limiter"], logger: @logger, metrics: @metrics, deadline: 5, **store, **asked }
    rules = @data["rules"]&.each_with_index&.filter_map { |rule, at| noting("rules[#{at}]") { rule(rule) } }
    noting("") do
      documents = documents()
      @limiter = documents.empty? ? Labkit::RateLimit::Limiter.new(rules: rules, **options) : from_documents(options, documents, rules)
    end
  end

  # Each mistake is noted once, with its place.
  def noting(path)
    yield
  rescue Labkit::RateLimit::InvalidRules, Labkit::RateLimit::InvalidDocuments => error
    error.findings.each do |finding|
      at = [path, finding[:path]].reject { |part| part.to_s.empty? }.join(".")
      @findings << { "code" => finding[:code].to_s, "path" => at, "message" => finding[:message] }
    end
    nil
  end

  def rule(given)
    Labkit::RateLimit::Rule.new(characteristics: [], **given.to_h { |field, value| [field.to_sym, value(value)] })
  end

  def documents
    @data.slice("available_limiters", "rate_limits").to_h do |kind, given|
      source = ->(document, at) { Labkit::RateLimit::Source.new("#{kind}#{at}.json", JSON.generate(document)) }
      [kind.to_sym, kind == "rate_limits" ? given.each_with_index.map(&source) : source.call(given, nil)]
    end
  end

  def from_documents(options, documents, rules)
    Labkit::RateLimit::Limiter.from_documents(**options, **documents, **(rules ? { rules: rules } : {}))
  end

  # A value of the scenario as Ruby has it.
  def value(given)
    return given.map { |item| value(item) } if given.is_a?(Array)
    return given unless given.is_a?(Hash)

    case given.keys
    in ["$float"] then { "nan" => Float::NAN, "inf" => Float::INFINITY }.fetch(given["$float"])
    in ["$bytes"] then [given["$bytes"]].pack("H*")
    in ["$pattern"] then Regexp.new(given["$pattern"])
    in ["raise"] then ->(_context) { raise given["raise"] }
    in ["context"] | ["context", "default"] then ->(context) { (context || {}).fetch(given["context"], given["default"]) }
    else given.transform_values { |item| value(item) }
    end
  end

  def play(step)
    refuse_unknown(step, [*OPS, "cost", "context", "expect"], "step")
    op = OPS.find { |known| step.key?(known) } or raise "no step this runner knows: #{step}"
    [op, send("play_#{op}", step[op], step)]
  end

  def play_check(identifier, step)
    options = step.key?("cost") ? { cost: value(step["cost"]) } : {}
    result(@limiter.check(identifier.transform_values { |item| value(item) }, **options, rule_context: value(step["context"])))
  end

  def play_peek(identifier, step)
    result(@limiter.peek(identifier.transform_values { |item| value(item) }, rule_context: value(step["context"])))
  end

  def play_clear(identifier, _step)
    { "deleted" => @limiter.clear(identifier.transform_values { |item| value(item) }) }
  end

  def play_headers(given, _step)
    @last.to_response_headers(**given.transform_keys(&:to_sym).transform_values(&:to_sym)).to_h do |name, text|
      case name
      when "RateLimit-Reset" then [name, (Integer(text) - @second).to_s]
      when "RateLimit-ResetTime" then [name, (Time.httpdate(text).to_i - @second).to_s]
      else [name, text]
      end
    end
  end

  def play_advance(seconds, _step)
    us = (seconds * 1_000_000).round
    @backend ? @backend.age(@data["limiter"], us) : @clock.advance_us(us)
    nil
  end

  def play_redis(given, _step)
    @backend.raw(given.fetch("command"))
  end

  def play_store(given, _step)
    @backend.down = given == "down"
    @limiter.close_circuit if given == "up"
    nil
  end

  def play_logs(_given, _step)
    @logger.take
  end

  def play_metrics(_given, _step)
    @metrics.series
  end

  def result(result)
    @last, @second = result, @backend ? Time.now.to_i : @clock.now_us / 1_000_000
    evaluations = result.evaluations.map do |evaluation|
      { "rule" => evaluation.rule.name, "result" => evaluation.result.to_s, "exceeded" => evaluation.exceeded?,
        "info" => info(evaluation.info, evaluation) }
    end
    reported = result.evaluations.find { |evaluation| evaluation.rule.equal?(result.rule) }
    flags = %w[matched exceeded skipped warned error degraded].to_h { |flag| [flag, result.public_send("#{flag}?")] }
    { "action" => result.action.to_s, **flags, "rule" => result.rule&.name, "info" => result.info && info(result.info, reported),
      "evaluations" => evaluations }
  end

  def info(info, evaluation)
    { "limit" => info.resolved_limit, "period_s" => info.resolved_period, "count" => info.count, "remaining" => info.remaining,
      "reset_after" => evaluation.reset_after, "retry_after" => info.retry_after, "banned" => info.banned }
      .transform_values { |number| number.is_a?(Float) && !number.finite? ? { "$float" => number.to_s.sub("Infinity", "inf").downcase } : number }
  end
end
