# frozen_string_literal: true

# Keeps what a logger is told.
class ListLogger
  attr_reader :lines

  def initialize
    @lines = []
  end

  def warn(fields)
    @lines << fields
  end
end

# Short ways to what specs need all the time.
module Making
  RateLimit = Labkit::RateLimit

  def rule(name = "per_user", limit: 2, period: 60, characteristics: [:user], **rest)
    RateLimit::Rule.new(name: name, limit: limit, period: period, characteristics: characteristics, **rest)
  end

  def logger
    @logger ||= ListLogger.new
  end

  # On a memory store of its own, where nothing else is said.
  def limiter(*rules, name: "spec", **options)
    options = { store: :memory, **options } unless options.key?(:redis)
    RateLimit::Limiter.new(name: name, rules: rules, logger: logger, **options)
  end

  # The environment says that names are mended.
  def in_production
    before = ENV.fetch("RAILS_ENV", nil)
    ENV["RAILS_ENV"] = "production"
    yield
  ensure
    ENV["RAILS_ENV"] = before
  end
end
