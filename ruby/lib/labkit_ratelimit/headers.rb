# frozen_string_literal: true

require "time"

module Labkit
  module RateLimit
    # The HTTP fields of an evaluation that a host built by hand. The core writes those of its own decisions; a test
    # holds the two together.
    #
    # @api private
    module Headers
      class << self
        # @param evaluation [Result::Evaluation]
        # @param format [Symbol] `:gitlab` or `:ietf`
        # @return [Hash{String => String}]
        def of(evaluation, format)
          wait = retry_after(evaluation) if evaluation.block?
          case format
          when :gitlab then gitlab(evaluation, wait)
          when :ietf then ietf(evaluation, wait)
          else raise ArgumentError, "format is :gitlab or :ietf, not #{format.inspect}"
          end
        end

        private

        def gitlab(evaluation, wait)
          info = evaluation.info
          reset = info.reset_at.to_r.ceil
          fields = {
            "RateLimit-Name" => evaluation.rule.name, "RateLimit-Limit" => whole(info.resolved_limit),
            "RateLimit-Observed" => whole(info.count), "RateLimit-Remaining" => whole(info.remaining),
            "RateLimit-Reset" => reset.to_s
          }
          fields["Retry-After"] = wait.to_s if wait
          fields["RateLimit-ResetTime"] = Time.at(reset).httpdate if evaluation.block?
          fields
        end

        def ietf(evaluation, wait)
          info = evaluation.info
          name = evaluation.rule.name
          left = [(info.reset_at - Time.now).ceil, 0].max
          fields = {
            "RateLimit-Policy" => %("#{name}";q=#{whole(info.resolved_limit)};w=#{info.resolved_period}),
            "RateLimit" => %("#{name}";r=#{whole(info.remaining)};t=#{left})
          }
          fields["Retry-After"] = wait.to_s if wait
          fields
        end

        def whole(number)
          [number.floor, 0].max.to_s
        end

        # A waiter is never told to come too early, nor at once.
        def retry_after(evaluation)
          info = evaluation.info
          return if info.resolved_limit < 1

          [(info.retry_after || (info.reset_at - Time.now)).ceil, 1].max
        end
      end
    end
  end
end
