# frozen_string_literal: true

module Labkit
  module RateLimit
    # The other gem's rule: it must never be loaded into our module.
    class Rule
      STAND_IN = true
    end
  end
end
