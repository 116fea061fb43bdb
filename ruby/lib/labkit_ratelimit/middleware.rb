# frozen_string_literal: true

require "json"
require_relative "accept"

module Labkit
  module RateLimit
    # A Rack middleware: asks a limiter on each request, and answers 429 to a block. A response that is served
    # carries the headers too; its body is not touched.
    #
    # What the block that identifies raises, the host sees: nobody is let through unlimited by a request that breaks
    # it. Where the application raises, a request that is charged after its response is charged nothing.
    #
    # @example
    #   use Labkit::RateLimit::Middleware, limiter: LIMITER do |env|
    #     { ip: ADDRESS.of(env), endpoint: env["PATH_INFO"] }
    #   end
    #
    # @example Charged after the response, by what it cost
    #   use Labkit::RateLimit::Middleware, limiter: LIMITER do |env|
    #     Labkit::RateLimit::Middleware.after({ ip: ADDRESS.of(env) }) { |status, headers| status == 401 ? 1 : 0 }
    #   end
    class Middleware
      # Where the result stands in the environment.
      RESULT = "labkit.rate_limit.result"

      # An identifier whose cost is known once there is a response.
      #
      # @api private
      Later = Struct.new(:identifier, :cost)

      # Says that a request is charged after its response. Until then it is only looked at.
      #
      # @param identifier [Hash, Identifier]
      # @param cost [#call] the block
      # @yieldparam status [Integer]
      # @yieldparam headers [Hash]
      # @yieldreturn [Numeric, nil] the cost; nil and 0 charge nothing
      # @return [Object] what the middleware's block gives back
      # @raise [ArgumentError] without the block: the request would never be charged
      def self.after(identifier, &cost)
        raise ArgumentError, "a block says what the request costs" unless cost

        Later.new(identifier, cost)
      end

      # @param app [#call]
      # @param limiter [Limiter]
      # @param on_block [#call, nil] is told the environment and the result of each block
      # @param format [Symbol] of the headers: `:gitlab`, `:ietf`
      # @param text [String] what a client that is refused reads
      # @param identify [#call] the block
      # @yieldparam env [Hash]
      # @yieldreturn [Hash, Identifier, Object, nil] an identifier, what {.after} gives, or nil: not limited
      def initialize(app, limiter:, on_block: nil, format: :gitlab, text: "Retry later", &identify)
        raise ArgumentError, "a block builds the identifier" unless identify

        @app = app
        @limiter = limiter
        @on_block = on_block
        @format = format
        @text = readable(text.to_s)
        @identify = identify
      end

      # @param env [Hash]
      # @return [Array] status, headers, body
      def call(env)
        identified = @identify.call(env)
        return @app.call(env) if identified.nil?

        later = identified.is_a?(Later)
        result = later ? @limiter.peek(identified.identifier) : @limiter.check(identified)
        env[RESULT] = result
        return refused(env, result) if result.block?

        served(env, result, later ? identified : nil)
      end

      private

      def served(env, result, later)
        status, headers, body = response = @app.call(env)
        # The server was told that the response comes later, by another way: there is none to charge or to mark.
        return response if headers.nil?

        headers = hash_of(headers)
        result = env[RESULT] = charged(env, later, status, headers) || result if later
        [status, with_fields(headers, result), body]
      end

      # There is a response, and it is served, whatever the block that knows the cost raises.
      def charged(env, later, status, headers)
        cost = later.cost.call(status, headers)
        @limiter.check(later.identifier, cost: cost) unless cost.nil? || cost.zero?
      rescue StandardError => e
        complain(env, "the cost", e)
        nil
      end

      # What the application says itself stands.
      def with_fields(headers, result)
        fields = fields(result)
        return headers if fields.empty?

        said = headers.each_with_object({}) { |(name, _), names| names[name.downcase] = true }
        headers = headers.dup if headers.frozen?
        fields.each { |name, value| headers[name] = value unless said[name.downcase] }
        headers
      end

      # Rack 2 takes anything that gives pairs. Of a name that comes twice both stay.
      def hash_of(headers)
        return headers if headers.is_a?(Hash)

        several = {}
        headers.each { |name, value| (several[name] ||= []) << value }
        several.transform_values { |values| values.one? ? values.first : values.join("\n") }
      end

      # What JSON and every client can read: bytes that are no text are replaced.
      def readable(text)
        text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub.freeze
      end

      def fields(result)
        named(result.to_response_headers(format: @format))
      end

      # Rack 3 wants names in lower case.
      def named(fields)
        defined?(::Rack::Headers) ? fields.transform_keys(&:downcase) : fields
      end

      # A limiter that fails closed knows no time to come again.
      def refused(env, result)
        tell(env, result)
        type, text = body(env, result)
        fields = { "Content-Type" => type, "Content-Length" => text.bytesize.to_s }
        body = env["REQUEST_METHOD"] == "HEAD" ? [] : [text]
        [result.error? ? 503 : 429, named(fields).merge(fields(result)), body]
      end

      def body(env, result)
        return ["text/plain", "#{@text}\n"] if Accept.kind(env["HTTP_ACCEPT"]) == :text

        fields = { error: @text, rule: result.rule&.name, retry_after: result.retry_after&.ceil }
        ["application/json", "#{JSON.generate(fields.compact)}\n"]
      end

      # A hook that fails makes no 500 of a 429.
      def tell(env, result)
        @on_block&.call(env, result)
      rescue StandardError => e
        complain(env, "on_block", e)
      end

      def complain(env, what, error)
        env["rack.errors"]&.puts("#{self.class.name}: #{what} raised #{error.class}: #{error.message}")
      end
    end
  end
end
