# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
# Where another build of the native half is.
$LOAD_PATH.unshift(ENV.fetch("LABKIT_RATELIMIT_NATIVE")) if ENV.key?("LABKIT_RATELIMIT_NATIVE")
require "labkit_ratelimit"

# The native half by itself: rules in the core's words, no Ruby around it.
module NativeHelper
  Native = Labkit::RateLimit::Native

  # Callables and patterns by number, as the limiter of the gem keeps them.
  class Host
    def initialize(numbers: [], patterns: [])
      @numbers = numbers
      @patterns = patterns
    end

    def number(id) = @numbers.fetch(id).call
    def matches(id, text) = @patterns.fetch(id).call(text)
  end

  def rule(name = "per_user", **fields)
    { name: name, action: "limit", limit: 2, period_s: 60, characteristics: ["user"] }.merge(fields).freeze
  end

  def core(*rules, **options)
    rules = [rule] if rules.empty?
    Native::Core.new("lim", rules, { store: :memory, max_keys: 1000 }.merge(options))
  end

  def host_core(*rules, **options)
    core(*rules, store: :host, max_keys: nil, **options)
  end

  def check(core, attributes, cost = nil, host = nil)
    core.check(attributes, cost, host)
  end

  # A limiter whose one rule matches `value` by `matcher`.
  def matched?(matcher, value)
    core(rule(match: { "value" => matcher })).peek({ value: value, user: 1 }, nil).matched?
  end

  # The text that a value has in a key.
  def keyed(value)
    pending = host_core(rule(characteristics: ["value"])).plan(:check, { value: value }, nil, nil)
    pending.keys.first[/\Alabkit:rl:\{lim:per_user:value:(.*)\}\z/mn, 1]
  end

  # Runs Ruby in a process of its own, with another build of the native half if `library` is given; gives its output.
  def ruby(script, library: nil)
    environment = { "LABKIT_RATELIMIT_NATIVE" => library }
    command = [environment, RbConfig.ruby, "-r", File.expand_path(__FILE__), "-e", "include NativeHelper\n#{script}"]
    IO.popen([*command, { err: %i[child out] }], &:read)
  end
end

RSpec.configure { |config| config.include(NativeHelper) } if defined?(RSpec)
