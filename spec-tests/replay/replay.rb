# frozen_string_literal: true

# Replays recordings of labkit-ruby against the gem that `require "labkit_ratelimit"` finds: `ruby replay.rb PORT FILE`, with an empty
# Redis on PORT of this machine. A line for each case, and a closing `N passed, N failed`; exit 0 if none failed.

require_relative "comparison"
require_relative "differences"
require_relative "host"

# As gitlab-labkit has it: the gem's default sink.
module Labkit
  module Metrics
    Client = Replay::Metrics
  end
end

require "labkit_ratelimit"
require_relative "play"

# The command.
module Replay
  LIST = File.expand_path("../recordings/differences.json", __dir__)

  module_function

  # In: the command's words. Out: whether every case passed.
  def main(arguments)
    port, file = arguments
    differences = Differences.new(LIST)
    keyspace = Keyspace.new(Integer(port))
    passed, failed = JSON.parse(File.read(file)).partition { |recorded| replay(recorded, differences, keyspace) }.map(&:size)
    puts "#{passed} passed, #{failed} failed"
    failed.zero? && passed.positive?
  end

  def replay(recorded, differences, keyspace)
    expected, rows = differences.apply(recorded)
    lines = Comparison.new(expected).with(Play.new(expected, keyspace).run)
    report(recorded["name"], rows, lines)
  rescue Differences::Stale => error
    report(recorded["name"], [], ["the list of differences is stale: #{error.message}"])
  rescue StandardError => error
    report(recorded["name"], [], ["the replay broke: #{error.full_message(highlight: false)}"])
  end

  def report(name, rows, lines)
    allowed = rows.empty? ? "" : " (differs as section 13 says: #{rows.join("; ")})"
    puts "#{lines.empty? ? "ok  " : "FAIL"} #{name}#{allowed}", *lines.map { |line| "       #{line}" }
    lines.empty?
  end
end

$stdout.sync = true
exit Replay.main(ARGV) if $PROGRAM_NAME == __FILE__
