# frozen_string_literal: true

module Labkit
  module RateLimit
    # A document whose text is at hand. A document in a file is given by its path.
    class Source
      # @return [String] what findings call it
      attr_reader :name

      # @return [String] YAML or JSON
      attr_reader :text

      # @param name [String]
      # @param text [String]
      def initialize(name, text)
        @name = name.to_s
        @text = text.to_s
      end

      # @api private
      # @param document [Source, String, Pathname] itself, or a path
      # @return [Array<String>] name and text, as the core takes them
      # @raise [InvalidDocuments] a file that cannot be read
      def self.pair(document)
        return [document.name, document.text] if document.is_a?(Source)

        [document.to_s, File.binread(document)]
      rescue SystemCallError => e
        reason = e.message.sub(/ @ .*/m, "")
        finding = Mistake.of(:unreadable_file, "", "cannot be read: #{reason}")
        raise InvalidDocuments, [finding.merge(file: document.to_s)]
      end
    end

    # The documents of a limiter, as the core takes them.
    #
    # @api private
    module Documents
      # @return [Hash{Symbol => Object}]
      # @raise [InvalidDocuments] a file that cannot be read
      def self.read(available_limiters:, rate_limits:, properties:, allowed_skip_rules:, strict:)
        {
          available: available_limiters && Source.pair(available_limiters),
          rate_limits: Array(rate_limits).map { |document| Source.pair(document) },
          properties: properties.map(&:to_s), allowed_skip_rules: allowed_skip_rules.map(&:to_s), strict: strict
        }
      end
    end
  end
end
