# frozen_string_literal: true

module Labkit
  module RateLimit
    # A Sidekiq server middleware: a job that is refused runs later, when it may; spread out, so that not all that
    # wait come at once.
    #
    # @example
    #   chain.add Labkit::RateLimit::SidekiqMiddleware,
    #             limiter: LIMITER, identify: ->(job, _queue) { { worker: job["class"] } }
    class SidekiqMiddleware
      # Seconds until a job is tried again where no wait is known to help.
      OTHERWISE = 60

      # @overload initialize(limiter:, identify:, jitter: 0.2, otherwise: 60, client: nil)
      #   @param limiter [Limiter]
      #   @param identify [#call] takes the job and its queue; gives an identifier, or nil: not limited
      #   @param jitter [Float] a job waits up to so much longer, as a share of its wait
      #   @param otherwise [Numeric] seconds to wait where the result names no time
      #   @param client [#push, nil] Sidekiq's own
      def initialize(options = {}, **keywords)
        # Sidekiq 6 hands keywords over as a Hash.
        settings = { jitter: 0.2, otherwise: OTHERWISE, client: nil, **options, **keywords }
        unknown = settings.keys - %i[limiter identify jitter otherwise client]
        raise ArgumentError, "unknown keyword: #{unknown.first.inspect}" unless unknown.empty?

        @limiter = settings.fetch(:limiter)
        @identify = settings.fetch(:identify)
        @jitter, @otherwise, @client = settings.values_at(:jitter, :otherwise, :client)
      end

      # @param _worker [Object]
      # @param job [Hash]
      # @param queue [String]
      # @return [Object] what the job gives
      def call(_worker, job, queue)
        identifier = @identify.call(job, queue)
        result = identifier && @limiter.check(identifier)
        return yield unless result&.block?

        reschedule(job, result.retry_after || @otherwise)
      end

      private

      # The same job, with its id and its count of retries.
      def reschedule(job, wait)
        at = Time.now.to_f + (wait * (1 + (rand * @jitter)))
        (@client || ::Sidekiq::Client).push(job.except("enqueued_at").merge("at" => at))
        nil
      end
    end
  end
end
