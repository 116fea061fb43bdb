# frozen_string_literal: true

# An HTTP client that keeps its connection, sends each request once, and costs little: the load runs beside the server.
class KeepAlive
  # A worker keeps the connections that it took: so each worker gets some in time, whichever was there first.
  REQUESTS = 50

  # What came back. `fields` has names in lower case.
  Response = Struct.new(:status, :fields, :began, :ended) do
    def seconds
      ended - began
    end
  end

  def initialize(port)
    @port = port
    @left = 0
  end

  # @raise [SystemCallError, EOFError] nothing is sent again
  def get(path)
    open unless @left.positive?
    @left -= 1
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    @socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    status, fields = head
    @socket.read(Integer(fields.fetch("content-length")))
    close if fields["connection"] == "close"
    Response.new(status, fields, began, Process.clock_gettime(Process::CLOCK_MONOTONIC))
  end

  def close
    @socket&.close
    @left = 0
  end

  private

  def open
    close
    @socket = TCPSocket.new("127.0.0.1", @port)
    @socket.setsockopt(:TCP, :NODELAY, true)
    @left = REQUESTS
  end

  def head
    first, *rest = (@socket.gets("\r\n\r\n") || raise(EOFError, "the server closed the connection")).split("\r\n")
    [Integer(first[%r{\AHTTP/1.1 (\d+)}, 1]), rest.to_h { |line| line.split(": ", 2) }.transform_keys(&:downcase)]
  end
end
