# frozen_string_literal: true

require "json"

module Replay
  # The differences from labkit-ruby that are allowed, each with the row of section 13 that allows it, and what happens here instead.
  #
  # In `differences.json`: `rows`, their wording; `cases`, by case a list of {row, why, changes}; a change is
  # {at, was, is}: a JSON Pointer into the case, what was recorded there, what must be there (either left out: nothing is there).
  # `names_only` in the place of changes: each log line has `identifier_keys` where `identifier` was recorded.
  # The row `Ruby 3.1` holds only where a Regexp has no time-out.
  class Differences
    # The list is not in order.
    class Stale < StandardError; end

    def initialize(file)
      list = JSON.parse(File.read(file))
      @rows = list.fetch("rows")
      @cases = list.fetch("cases")
      @cases.each { |name, entries| entries.each { |entry| known(name, entry.fetch("row")) } }
    end

    # Out: the names of the cases that the list names.
    def names
      @cases.keys
    end

    # In: a recorded case. Out: the case as it must go here, and the rows that say so.
    def apply(recorded)
      entries = @cases.fetch(recorded["name"], []).reject { |entry| entry["row"] == "Ruby 3.1" && Regexp.respond_to?(:timeout) }
      expected = Marshal.load(Marshal.dump(recorded))
      entries.each do |entry|
        entry["names_only"] ? names_only(expected) : entry.fetch("changes").each { |change| change(expected, change) }
      end
      [expected, entries.map { |entry| entry["row"] }.uniq]
    end

    private

    def known(name, row)
      raise Stale, "#{name}: no row #{row.inspect} in the list" unless @rows.key?(row)
    end

    def names_only(expected)
      lines = [expected, *expected["steps"]].flat_map { |step| step.fetch("logs", []) }
      told = lines.select { |line| line["fields"].include?("identifier") }
      raise Stale, "#{expected["name"]}: no identifier was logged" if told.empty?

      told.each { |line| line["fields"] = line["fields"] - ["identifier"] + ["identifier_keys"] }
    end

    def change(expected, change)
      *way, last = change.fetch("at").split("/").map { |part| part.gsub("~1", "/").gsub("~0", "~") }
      place = way.reduce(expected) { |object, part| object.is_a?(Array) ? object.fetch(Integer(part)) : object.fetch(part) }
      last = Integer(last) if place.is_a?(Array)
      recorded = there?(place, last) ? { "was" => place[last] } : {}
      raise Stale, "#{expected["name"]}: #{change["at"]} was recorded as #{recorded["was"].inspect}" if recorded != change.slice("was")

      change.key?("is") ? place[last] = change["is"] : remove(place, last)
    rescue IndexError
      raise Stale, "#{expected["name"]}: there is no #{change["at"]}"
    end

    def there?(place, last)
      place.is_a?(Array) ? last < place.size : place.key?(last)
    end

    def remove(place, last)
      place.is_a?(Array) ? place.delete_at(last) : place.delete(last)
    end
  end
end
