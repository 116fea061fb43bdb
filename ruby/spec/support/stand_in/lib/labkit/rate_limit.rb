# frozen_string_literal: true

module Labkit
  # The other gem's module: it must never be mixed with ours.
  module RateLimit
    STAND_IN = true
    autoload :Rule, "labkit/rate_limit/rule"

    def self.configure
      raise "the stand-in was asked"
    end
  end
end
