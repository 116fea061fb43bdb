# frozen_string_literal: true

# Running servers: Puma and Sidekiq, each in a process of its own, on a Redis that can be killed.
module Live
  # Where a server's Ruby finds the gem.
  LIBRARY = File.expand_path("../../lib", __dir__).freeze
  SERVERS = File.expand_path("servers", __dir__).freeze

  # Something did not come to pass in time.
  Late = Class.new(StandardError)

  # What was seen, for people who read the log.
  def measured(text)
    RSpec.configuration.reporter.message("  measured: #{text}")
  end

  # Waits until the block holds.
  def eventually(what, within:)
    ends = now + within
    until (found = yield)
      raise Late, "not within #{within} s: #{what}" if now > ends

      sleep 0.02
    end
    found
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

Dir[File.expand_path("support/*.rb", __dir__)].each { |file| require file }

RSpec.configure { |config| config.include(Live, file_path: %r{/spec/live/}) }
