# frozen_string_literal: true

require_relative "answer"
require_relative "host"
require_relative "keyspace"
require_relative "tags"

module Replay
  # Plays a case on the gem, and writes down what happened as a recording does.
  class Play
    def initialize(recorded, keyspace)
      @recorded = recorded
      @keyspace = keyspace
      @tags = Tags.new
      @setup = recorded.fetch("setup", {})
      @logger = Logger.new(raises: @setup["logger"] == "raises")
    end

    # Out: the case as it went now.
    def run
      prepare
      played = construct
      played["steps"] = @limiter ? @recorded.fetch("steps").map { |step| play(step) } : []
      played
    ensure
      configure(nil, nil)
    end

    private

    def prepare
      Metrics.raises = false
      Labkit::RateLimit::Metrics::FAILURE_LOGGED.make_false
      ENV["RAILS_ENV"] = @recorded.fetch("env")
      @host = Host.new(@keyspace.port, @setup["redis"]).redis
      configure(@host, @logger) if @setup["config"]
      load_scripts
      @keyspace.empty
      Metrics.emitted.clear
      Metrics.raises = @setup["metrics"] == "raises"
    end

    # Each case starts with all scripts loaded.
    def load_scripts
      rules = [Labkit::RateLimit::Rule.new(name: "warm", limit: 5, period: 60, characteristics: [])]
      warm = Labkit::RateLimit::Limiter.new(name: "warm", rules: rules, redis: Redis.new(port: @keyspace.port, timeout: 5), logger: @logger,
                                            deadline: 5)
      warm.check({})
      warm.peek({})
      warm.clear({})
      said = @logger.take
      raise "the gem cannot reach the Redis of this run: #{said}" if said.any?
    end

    def configure(redis, logger)
      Labkit::RateLimit.configure do |config|
        config.redis = redis
        config.logger = logger
      end
    end

    def construct
      @given = @tags.keywords(@recorded.fetch("limiter"))
      place = { "at" => "rule" }
      @given[:rules] = @given[:rules]&.each_with_index&.map do |rule, index|
        place["index"] = index
        Labkit::RateLimit::Rule.new(**rule.transform_keys(&:to_sym))
      end
      place = { "at" => "limiter" }
      @given.merge!(redis: @host, logger: @logger) unless @setup["config"]
      # A busy machine must not fail a case.
      @limiter = Labkit::RateLimit::Limiter.new(deadline: 5, **@given)
      noted("readers" => @given[:rules].map { |rule| readers(rule) })
    rescue StandardError => error
      noted("raises" => { **Answer.error(error), **place })
    end

    def readers(rule)
      names = %i[name limit period action characteristics count_distinct ban_for]
      match = rule.match.to_h { |name, matcher| [name.to_s, @tags.encode(matcher)] }
      { **names.to_h { |name| [name.to_s, @tags.encode(rule.public_send(name))] }, "match" => match }
    end

    # What a call left behind, beside what it answered.
    def noted(played)
      left = { "logs" => @logger.take, "metrics" => Metrics.emitted.slice!(0..), "called" => @tags.called.slice!(0..) }
      played.merge(left.reject { |_, list| list.empty? })
    end

    def play(step)
      answered =
        begin
          send("play_#{step.fetch("op")}", step)
        rescue Exception => error # rubocop:disable Lint/RescueException -- some cases raise what is no StandardError
          raise if error.is_a?(SignalException) || error.is_a?(SystemExit)

          { "raises" => Answer.error(error) }
        end
      noted({ "op" => step["op"], **answered }).merge(step.key?("redis") ? { "redis" => @keyspace.dump } : {})
    end

    def play_check(step)
      options = { rule_context: context(step) }
      options[:cost] = @tags.decode(step["cost"]) if step.key?("cost")
      identifier = @tags.decode(step.fetch("identifier"))
      result(step.key?("via") ? Labkit::RateLimit.check(**@given, identifier: identifier, **options) : @limiter.check(identifier, **options))
    end

    def play_peek(step)
      result(@limiter.peek(@tags.decode(step.fetch("identifier")), rule_context: context(step)))
    end

    def play_clear(step)
      { "result" => @limiter.clear(@tags.decode(step.fetch("identifier"))) }
    end

    def play_redis(step)
      { "reply" => @keyspace.send_words(step.fetch("command").map(&:to_s)) }
    end

    def play_match(step)
      matcher = @given[:rules].fetch(step.fetch("rule")).match.fetch(step.fetch("key").to_sym)
      answers = step.fetch("values").map do |value|
        matcher.match?(@tags.decode(value))
      rescue StandardError => error
        { "raises" => Answer.error(error) }
      end
      { "returns" => answers }
    end

    def play_ask(step)
      { "returns" => @tags.encode(follow(step.fetch("path"))) }
    end

    def context(step)
      step.key?("context") ? @tags.keywords(step["context"]) : nil
    end

    def result(result)
      now = Time.now
      @result = result
      { "result" => Answer.result(result, now, with_headers: @recorded["topic"] == "headers") }
    end

    # In: a path of an `ask`. Out: where it leads.
    def follow(path)
      path.drop(1).reduce(start(path.first)) do |object, way|
        case way
        when Integer then object[way]
        when String then object.public_send(way)
        else object.public_send(way.fetch("call"), *way.fetch("args", []).map { |item| argument(item) },
                                **way.fetch("kwargs", {}).to_h { |key, item| [key.to_sym, argument(item)] })
        end
      end
    end

    def start(first)
      case first
      when "result" then @result
      when "rules" then @given[:rules]
      when "limiter" then @limiter
      when String then Labkit::RateLimit.const_get(first)
      else @tags.decode(first)
      end
    end

    def argument(value)
      value.is_a?(Hash) && value.key?("$ref") ? follow(value["$ref"]) : @tags.decode(value)
    end
  end
end
