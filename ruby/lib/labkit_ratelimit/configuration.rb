# frozen_string_literal: true

module Labkit
  module RateLimit
    # What limiters take where they are given nothing: read when one is built, not after.
    class Configuration
      # @return [Object, nil] anything that answers `with { |connection| }`, or a client
      attr_accessor :redis

      # @return [Object, nil] anything that answers `warn(hash)`
      attr_accessor :logger
    end
  end
end
