# frozen_string_literal: true

# A stand-in for gitlab-labkit: the same autoloads, nothing behind them but marks that it was loaded.
module Labkit
  def self.dev_or_test?
    ENV["STAND_IN_DEV"] == "1" || %w[development test].include?(ENV.fetch("RAILS_ENV", nil))
  end

  autoload :RateLimit, "labkit/rate_limit"
  autoload :Logging, "labkit/logging"
  autoload :Metrics, "labkit/metrics"
end
