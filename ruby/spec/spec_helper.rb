# frozen_string_literal: true

ENV["RAILS_ENV"] = "test"

require "benchmark"
require "delegate"
require "fileutils"
require "labkit_ratelimit"
require "timeout"
require "tmpdir"

Dir[File.expand_path("support/*.rb", __dir__)].each { |file| require file }

RSpec.configure do |config|
  config.disable_monkey_patching!
  config.expect_with(:rspec) { |expectations| expectations.syntax = :expect }
  config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
  config.order = :random
  Kernel.srand(config.seed)
  # The specs of the native half have words of their own.
  config.prepend Making, file_path: %r{/spec/[^/]+_spec\.rb\z}
end
