# frozen_string_literal: true

require "time"

module Replay
  # What a call answered, as a recording writes it.
  module Answer
    module_function

    # In: a result, and the time right behind the call.
    def result(result, now, with_headers:)
      evaluations = result.evaluations.map { |evaluation| evaluation(evaluation, now, with_headers) }
      {
        "action" => result.action.to_s, "matched" => result.matched?, "exceeded" => result.exceeded?, "skipped" => result.skipped?,
        "block" => result.block?, "error" => result.error?, "degraded" => result.degraded?, "rule" => result.rule&.name,
        "info" => result.info && info(result.info, now), "evaluations" => evaluations, "headers" => headers(result, result.evaluations, now)
      }
    end

    # In: an error. Out: its class, and those above it up to what every error is. InvalidRules is the ArgumentError that says findings.
    def error(error)
      return { "class" => "ArgumentError" } if error.instance_of?(Labkit::RateLimit::InvalidRules)

      above = error.class.ancestors.grep(Class).drop(1).take_while { |ancestor| ![StandardError, Exception].include?(ancestor) }
      above.empty? ? { "class" => error.class.name } : { "class" => error.class.name, "superclasses" => above.map(&:name) }
    end

    def evaluation(evaluation, now, with_headers)
      said = {
        "rule" => evaluation.rule.name, "exceeded" => evaluation.exceeded?, "block" => evaluation.block?, "info" => info(evaluation.info, now)
      }
      with_headers ? said.merge("headers" => headers(evaluation, [evaluation], now)) : said
    end

    def info(info, now)
      {
        "resolved_limit" => info.resolved_limit, "resolved_period" => info.resolved_period, "count" => number(info.count),
        "remaining" => number(info.remaining), "reset_after" => (info.reset_at - now).round
      }
    end

    def number(number)
      return number unless number.is_a?(Float) && !number.finite?

      { "$float" => number.to_s.sub("Infinity", "inf").downcase }
    end

    # The headers. Times are told from `now`, but only if they say the reset of their rule rounded up (row "time" of section 13).
    def headers(asked, evaluations, now)
      headers = asked.to_response_headers
      reset_at = evaluations.find { |evaluation| evaluation.rule.name == headers["RateLimit-Name"] }&.info&.reset_at
      headers.to_h do |name, text|
        case name
        when "RateLimit-Reset" then [name, { "reset_in" => ahead(text, Integer(text), reset_at, now) }]
        when "RateLimit-ResetTime" then [name, { "http_date_in" => ahead(text, Time.httpdate(text).to_i, reset_at, now) }]
        else [name, text]
        end
      end
    rescue StandardError => error
      { "raises" => error(error) }
    end

    def ahead(text, second, reset_at, now)
      second == reset_at.to_r.ceil ? (reset_at - now).round : "#{text} is not #{reset_at.to_r} rounded up"
    end
  end
end
