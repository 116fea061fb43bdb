# frozen_string_literal: true

module Labkit
  module RateLimit
    # What kind of body a client would rather have: text, or JSON.
    #
    # @api private
    module Accept
      KINDS = {
        "application/json" => :json, "application/*" => :json, "text/plain" => :text, "text/*" => :text,
        "text/html" => :text, "*/*" => :text
      }.freeze
      private_constant :KINDS

      class << self
        # @param header [String, nil]
        # @return [Symbol] `:json` or `:text`, which is what is sent to those who say nothing
        def kind(header)
          # What a client sends may be no text in any encoding.
          wanted = header.to_s.b.split(",").filter_map { |range| read(range) }
          wanted.max_by.with_index { |(_, quality), at| [quality, -at] }&.first || :text
        end

        private

        def read(range)
          type, *parameters = range.split(";").map(&:strip)
          kind = KINDS[type.to_s.downcase] || (:json if type.to_s.downcase.end_with?("+json"))
          quality = parameters.filter_map { |parameter| parameter[/\Aq=([\d.]+)\z/i, 1] }.first
          quality = quality ? quality.to_f : 1.0
          [kind, quality] if kind && quality.positive?
        end
      end
    end
  end
end
