# frozen_string_literal: true

module Labkit
  module RateLimit
    # A block, as {Limiter#check!} raises it.
    class Exceeded < StandardError
      # @return [Result] what the check decided
      attr_reader :result

      # @param result [Result]
      def initialize(result)
        @result = result
        wait = result.retry_after
        super([
          "rate limit exceeded#{": #{result.rule.name}" if result.rule}",
          ("retry after #{wait.ceil} s" if wait)
        ].compact.join(", "))
      end
    end

    # A finding that Ruby makes, in the shape of the core's.
    #
    # @api private
    module Mistake
      # @return [Hash{Symbol => Object}]
      def self.of(code, path, message)
        { code: code.name, path: path, message: message, mend: nil, severity: "error", file: nil, line: nil,
          column: nil }
      end
    end

    # What is wrong with rules or documents, finding by finding.
    #
    # @api private
    module Findings
      # One finding: `code`, `path`, `message`, `mend`, `severity`, and `file`, `line`, `column` where it has a place.
      #
      # @return [Array<Hash{Symbol => Object}>]
      attr_reader :findings

      # @param findings [Array<Hash{Symbol => Object}>]
      def initialize(findings)
        @findings = findings.freeze
        super(findings.map { |finding| Findings.line(finding) }.join("\n"))
      end

      # @return [String] one finding as a line
      def self.line(finding)
        place = finding.values_at(:file, :line, :column).compact.join(":")
        path = finding[:path].to_s
        head = [place, path].reject(&:empty?).join(": ")
        text = [finding[:message], finding[:mend]].compact.reject(&:empty?).join("; ")
        "#{"#{head}: " unless head.empty?}#{text} (#{finding[:code]})"
      end
    end

    # A rule, or the rules of a limiter, that cannot be: a mistake in code.
    class InvalidRules < ArgumentError
      include Findings
    end

    # Documents that cannot be taken.
    class InvalidDocuments < StandardError
      include Findings
    end
  end
end
