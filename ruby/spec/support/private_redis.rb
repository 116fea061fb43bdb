# frozen_string_literal: true

require "socket"

# A Redis of the specs' own, on a free port. A machine without one fails.
module PrivateRedis
  class << self
    def port
      @port ||= start
    end

    def start
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      folder = Dir.mktmpdir("labkit-ratelimit-spec")
      pid = Process.spawn("redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                          "--dir", folder, out: File::NULL, err: File::NULL)
      owner = Process.pid
      at_exit { stop(pid, folder) if Process.pid == owner }
      wait(port)
      port
    end

    private

    def stop(pid, folder)
      Process.kill("TERM", pid)
      Process.wait(pid)
      FileUtils.rm_rf(folder)
    end

    def wait(port)
      100.times do
        return TCPSocket.open("127.0.0.1", port, &:close)
      rescue Errno::ECONNREFUSED
        sleep 0.05
      end
      raise "redis-server did not start"
    end
  end
end
