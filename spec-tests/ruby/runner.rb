# frozen_string_literal: true

# Runs conformance scenarios with the gem and prints what came back: see spec-tests/PROTOCOL.md.

ENV["RAILS_ENV"] = "test"
require "labkit_ratelimit"
require_relative "backend"
require_relative "log"
require_relative "scenario"
require_relative "share"

words, options = ARGV.dup, {}
options[words.shift] = words.shift while words.first&.start_with?("--")
store = options.delete("--store")
log, share = options.delete("--log"), options.delete("--share")
addresses = options.delete("--#{store}")&.split(",")
abort "give --store memory, --store redis --redis HOST:PORT or --store cluster --cluster HOST:PORT,..." unless
  options.empty? && (store == "memory" || (addresses && %w[redis cluster].include?(store)))

backend = Backend.new(addresses, clustered: store == "cluster") if addresses
library = $LOADED_FEATURES.grep(/labkit_ratelimit_native/).first
puts JSON.generate("runner" => { "language" => "ruby", "version" => Labkit::RateLimit::VERSION, "store" => store, "library" => library })
print = ->(line) { $stdout.puts(JSON.generate(line)) || $stdout.flush }
exit Log.new(log, backend).play(&print) && true if log
exit Share.new(share, addresses.first).play(&print) && true if share
done = 0
words.each do |file|
  JSON.parse(File.read(file)).map { |data| Scenario.new(data, backend) }.select { |scenario| scenario.on?(store) }.each do |scenario|
    scenario.run { |step, op, actual| puts JSON.generate("scenario" => scenario.name, "step" => step, "op" => op, "actual" => actual) }
    done += 1
  rescue StandardError => error
    raise error, "#{file}: #{scenario.name}: #{error.message}"
  end
end
puts JSON.generate("done" => done)
