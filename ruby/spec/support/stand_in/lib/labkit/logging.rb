# frozen_string_literal: true

require "json"

module Labkit
  module Logging
    # Writes a line that shows whose it is.
    class JsonLogger
      def initialize(output)
        @output = output
      end

      def warn(fields)
        @output.puts("stand-in logger: #{JSON.generate(fields)}")
      end
    end
  end
end
