# frozen_string_literal: true

module Labkit
  module RateLimit
    Rule = Class.new
  end
end
