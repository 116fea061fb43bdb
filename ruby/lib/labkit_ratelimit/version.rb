# frozen_string_literal: true

module Labkit
  module RateLimit
    # The version of this gem; the library it found must be of the same.
    VERSION = "0.1.0"
  end
end
