# frozen_string_literal: true

# Running servers: Puma and Sidekiq, each in a process of its own, on a Redis that can be killed.
# Short ways to what these specs need.
module Live
  # Where a server's Ruby finds the gem: the native half, and the Ruby files, that this process has loaded.
  LIBRARIES = [%r{\A(.*)/labkit_ratelimit/labkit_ratelimit_native\.\w+\z}, %r{\A(.*)/labkit_ratelimit\.rb\z}].map do |file|
    $LOADED_FEATURES.grep(file) { Regexp.last_match(1) }.first
  end.join(File::PATH_SEPARATOR).freeze
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
