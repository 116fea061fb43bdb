# frozen_string_literal: true

# Threads that ask without a pause, and keep what came back. The path may change on the way.
class Load
  attr_accessor :path

  def initialize(port, path, threads:)
    @path = path
    @seen = Queue.new
    @going = true
    @threads = Array.new(threads) { Thread.new { ask(KeepAlive.new(port)) } }
  end

  # @return [Integer] responses so far
  def size
    @seen.size
  end

  # @return [Array<KeepAlive::Response>] since the last time
  def take
    Array.new(@seen.size) { @seen.pop }
  end

  # @raise [SystemCallError, EOFError] what a connection met
  def stop
    @going = false
    @threads.each(&:join)
  end

  private

  def ask(client)
    Thread.current.report_on_exception = false
    while @going
      path = @path
      response = client.get(path)
      response.fields["path"] = path
      @seen << response
    end
  ensure
    client.close
  end
end
