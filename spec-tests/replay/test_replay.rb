# frozen_string_literal: true

# Proves that the replayer sees what it must, without the gem: `ruby test_replay.rb`.

require "minitest/autorun"
require "redis"
require "tempfile"
require_relative "comparison"
require_relative "differences"

ROOM = File.expand_path("../recordings", __dir__)
RECORDED = JSON.parse(File.read("#{ROOM}/labkit-ruby-5.6.1.json")).freeze
LIST = "#{ROOM}/differences.json".freeze

# Copies of recordings, with one thing changed.
module Spoiling
  # What a step asks is no answer.
  ASKED = %w[op identifier cost context command path rule key values via].freeze

  module_function

  def copy(value)
    Marshal.load(Marshal.dump(value))
  end

  # Gives a copy of a case for each answer in it, that answer changed.
  def each(recorded)
    places(recorded["readers"], ["readers"]) { |way| yield changed(recorded, way), way }
    recorded["steps"].each_with_index do |step, at|
      step.except(*ASKED).each { |name, value| places(value, ["steps", at, name]) { |way| yield changed(recorded, way), way } }
    end
  end

  def places(value, way, &block)
    case value
    when Hash then value.each { |key, item| places(item, [*way, key], &block) }
    when Array then value.each_with_index { |item, at| places(item, [*way, at], &block) }
    else yield way unless value.nil? && way.size == 1
    end
  end

  def changed(recorded, way)
    copied = copy(recorded)
    *before, last = way
    place = copied.dig(*before)
    place[last] = other(place[last])
    copied
  end

  def other(value)
    case value
    when Integer, Float then value.abs > 1e300 ? 5.0 : (value * 3) + 7
    when /\A\d{300,}\z/ then "5"
    when /\A\d+\z/ then ((Integer(value) * 3) + 7).to_s
    when String then "#{value}x"
    when nil then 5
    else !value
    end
  end
end

class ComparisonTest < Minitest::Test
  def test_a_recording_is_as_itself
    RECORDED.each { |recorded| assert_empty Replay::Comparison.new(recorded).with(Spoiling.copy(recorded)), recorded["name"] }
  end

  def test_every_answer_that_changes_is_seen
    seen = 0
    RECORDED.each do |recorded|
      comparison = Replay::Comparison.new(recorded)
      Spoiling.each(recorded) do |spoiled, way|
        # There is no time-out of a Regexp before Ruby 3.2.
        next if way.last == "timeout" && !Regexp.respond_to?(:timeout)

        refute_empty comparison.with(spoiled), "#{recorded["name"]} #{way}"
        seen += 1
      end
    end
    assert_operator seen, :>, 20_000
  end

  def test_what_is_there_and_was_not_recorded_is_seen
    strays = { "logs" => [{ "level" => "warn" }], "metrics" => [{ "metric" => "x" }], "called" => ["l"], "raises" => { "class" => "KeyError" } }
    strays.each do |name, said|
      quiet = RECORDED.find { |recorded| recorded["steps"].any? { |step| step["op"] != "redis" && !step.key?(name) } }
      played = Spoiling.copy(quiet)
      played["steps"].find { |step| !step.key?(name) }[name] = said
      refute_empty Replay::Comparison.new(quiet).with(played), name
    end
  end

  def test_a_key_too_many_or_too_few_is_seen
    recorded = RECORDED.find { |candidate| candidate["name"] == "key_none" }
    more, less = Spoiling.copy(recorded), Spoiling.copy(recorded)
    more["steps"][0]["redis"]["stray"] = { "type" => "string", "value" => "1", "ttl" => -1 }
    less["steps"][0]["redis"].clear
    [more, less].each { |played| assert_equal 1, Replay::Comparison.new(recorded).with(played).size }
  end

  def test_a_time_may_be_a_second_less_and_no_more
    recorded = RECORDED.find { |candidate| candidate["name"] == "key_none" }
    [[60, true], [59, true], [58, false], [61, false], [60.0, false]].each do |ttl, same|
      played = Spoiling.copy(recorded)
      played["steps"][0]["redis"]["labkit:rl:{lim:r}"]["ttl"] = ttl
      assert_equal same, Replay::Comparison.new(recorded).with(played).empty?, ttl
    end
  end

  def test_an_integer_is_no_float
    recorded = RECORDED.find { |candidate| candidate["name"] == "key_none" }
    played = Spoiling.copy(recorded)
    played["steps"][0]["result"]["info"]["count"] = 1
    assert_equal ["steps/0/result/info/count: expected 1.0, actual 1"], Replay::Comparison.new(recorded).with(played)
  end

  def test_a_step_that_is_missing_is_seen
    recorded = RECORDED.find { |candidate| candidate["steps"].size > 1 }
    refute_empty Replay::Comparison.new(recorded).with(Spoiling.copy(recorded).merge("steps" => recorded["steps"].take(1)))
  end
end

class DifferencesTest < Minitest::Test
  def setup
    @list = Replay::Differences.new(LIST)
  end

  def test_the_list_fits_the_recordings_and_each_entry_is_a_difference
    assert_empty @list.names - RECORDED.map { |recorded| recorded["name"] }
    RECORDED.each do |recorded|
      expected, rows = @list.apply(recorded)
      assert_includes @list.names, recorded["name"] if rows.any?
      refute_empty Replay::Comparison.new(expected).with(Spoiling.copy(recorded)), recorded["name"] if rows.any?
    end
  end

  def test_a_recording_that_says_something_else_makes_an_entry_stale
    recorded = Spoiling.copy(RECORDED.find { |candidate| candidate["name"] == "cost_zero_new" })
    recorded["steps"][0]["redis"]["labkit:rl:{lim:r:user:1}"]["ttl"] = 7
    assert_raises(Replay::Differences::Stale) { @list.apply(recorded) }
  end

  def test_names_only_needs_an_identifier_in_the_log
    recorded = Spoiling.copy(RECORDED.find { |candidate| candidate["name"] == "cost_negative" })
    recorded["steps"].each { |step| step["logs"].each { |line| line["fields"].delete("identifier") } }
    assert_raises(Replay::Differences::Stale) { @list.apply(recorded) }
  end

  def test_a_row_that_nobody_wrote_is_refused
    Tempfile.create do |file|
      file.write(JSON.generate("rows" => {}, "cases" => { "key_none" => [{ "row" => "whim", "changes" => [] }] }))
      file.close
      assert_raises(Replay::Differences::Stale) { Replay::Differences.new(file.path) }
    end
  end
end
