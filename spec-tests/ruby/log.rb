# frozen_string_literal: true

require "json"

# An access log under rules: every request decided at its own time.
class Log
  FIELDS = %w[limiter available_limiters rate_limits seconds].freeze

  def initialize(file, backend)
    @data, @backend = JSON.parse(File.read(file)), backend
    odd = (@data.keys - FIELDS).first and raise "unknown key `#{odd}` of a log"
    @now = @data["seconds"].dig(0, 0) || 0
    @clock = Labkit::RateLimit::ManualClock.new(@now)
    @limiter = Labkit::RateLimit::Limiter.from_documents(name: @data["limiter"], **documents, **store)
  end

  # Gives each decision, and at last how many there were and how long they took.
  def play
    @backend&.flush
    results, spent = [], 0.0
    @data["seconds"].each do |at, requests|
      pass(at - @now)
      @now = at
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      requests.each { |request| results << @limiter.check(request) }
      spent += Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    end
    results.each { |result| yield written(result) }
    yield({ "done" => results.size, "seconds" => spent })
  end

  private

  def documents
    source = ->(text, name) { text && Labkit::RateLimit::Source.new(name, text) }
    files = @data["rate_limits"].each_with_index.map { |text, at| source.call(text, "rate_limits.#{at}.yaml") }
    { available_limiters: source.call(@data["available_limiters"], "available_limiters.yaml"), rate_limits: files }.compact
  end

  def store
    return { store: :memory, max_keys: 1_000_000, clock: @clock } unless @backend

    { redis: @backend, topology: @backend.topology, deadline: 5 }
  end

  def pass(seconds)
    return if seconds.zero?

    @backend ? @backend.age(@data["limiter"], seconds * 1_000_000) : @clock.advance_us(seconds * 1_000_000)
  end

  def written(result)
    over = result.evaluations.select(&:exceeded?).map { |evaluation| evaluation.rule.name.to_s }
    { "action" => result.action.to_s, "error" => result.error?, "rule" => result.rule&.name&.to_s, "exceeded" => over }
  end
end
