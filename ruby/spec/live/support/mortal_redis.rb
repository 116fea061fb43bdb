# frozen_string_literal: true

# A Redis of one example's own, which it kills, stops and starts again on the same port.
class MortalRedis
  attr_reader :port

  def initialize
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    @folder = Dir.mktmpdir("labkit-ratelimit-live")
    start
  end

  def url
    "redis://127.0.0.1:#{@port}/0"
  end

  # Empty, as one is that keeps nothing.
  def start
    @pid = Process.spawn("redis-server", "--port", @port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                         "--dir", @folder, out: File::NULL, err: File::NULL)
    200.times do
      return TCPSocket.open("127.0.0.1", @port, &:close)
    rescue Errno::ECONNREFUSED
      sleep 0.02
    end
    raise "redis-server did not start"
  end

  # Gone when this returns.
  def kill
    Process.kill("KILL", @pid)
    Process.wait(@pid)
    @pid = nil
  end

  # It takes connections, and answers nothing, from when this returns.
  def hang
    Process.kill("STOP", @pid)
    sleep 0.005 until File.read("/proc/#{@pid}/stat")[/\) (.)/, 1] == "T"
  end

  def go_on
    Process.kill("CONT", @pid)
  end

  def close
    kill if @pid
    FileUtils.rm_rf(@folder)
  end
end
