# frozen_string_literal: true

require "socket"

# Stands before a server. While it is `breaking` it hangs up on whoever sends a script, and counts how often it saw one.
class BreakingProxy
  attr_accessor :breaking, :upstream
  attr_reader :seen

  def initialize
    @server = TCPServer.new("127.0.0.1", 0)
    @seen = 0
    @thread = Thread.new { loop { serve(@server.accept) } }
  end

  def port
    @server.addr[1]
  end

  def forget
    @seen = 0
  end

  private

  def serve(client)
    server = TCPSocket.new("127.0.0.1", upstream)
    pass(server, client)
    pass(client, server) do |bytes|
      next unless bytes.match?(/\r\neval(sha)?\r\n/i)

      @seen += 1
      breaking
    end
  rescue SystemCallError
    client.close
  end

  def pass(from, to)
    Thread.new do
      loop do
        bytes = from.readpartial(65_536)
        break if block_given? && yield(bytes)

        to.write(bytes)
      end
    rescue IOError, SystemCallError
      # One side has hung up.
    ensure
      [from, to].each(&:close)
    end
  end
end
