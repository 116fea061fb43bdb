# frozen_string_literal: true

require "socket"

# Servers of the specs' own, on free ports: one Redis, and a cluster of three. A machine without any fails. LABKIT_SPEC_REDIS_SERVER
# names another binary, such as valkey-server.
module PrivateRedis
  BINARY = ENV.fetch("LABKIT_SPEC_REDIS_SERVER", "redis-server")
  SLOTS = 16_384

  class << self
    # Of the one that all specs share.
    def port
      @port ||= start
    end

    # Of the three masters that all specs share.
    def cluster
      @cluster ||= joined(Array.new(3) { start("--cluster-enabled", "yes") })
    end

    # The same behind proxies, by whose ports alone it goes. A single one has one.
    def behind_proxies(clustered)
      (@behind_proxies ||= {})[clustered] ||= clustered ? clustered_proxies : [BreakingProxy.new.tap { |proxy| proxy.upstream = port }]
    end

    # Sends a signal to the server of a port.
    def signal(port, name)
      Process.kill(name, @pids.fetch(port))
    end

    # Gives the port of one, which ends with this process at the latest.
    def start(*options)
      port = free_port
      folder = Dir.mktmpdir("labkit-ratelimit-spec")
      pid = Process.spawn(BINARY, "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                          "--dir", folder, *options, out: File::NULL, err: File::NULL)
      (@pids ||= {})[port] = pid
      owner = Process.pid
      at_exit { stop(pid, folder) if Process.pid == owner }
      wait_for("#{BINARY} on #{port}") { TCPSocket.open("127.0.0.1", port, &:close) || true }
      port
    end

    # One command on a connection of its own, past every client.
    def call(port, *words)
      TCPSocket.open("127.0.0.1", port) do |socket|
        socket.write("*#{words.size}\r\n", *words.map { |word| "$#{word.to_s.bytesize}\r\n#{word}\r\n" })
        reply(socket)
      end
    end

    def wait_for(what, seconds: 20, &block)
      give_up = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      until still(&block)
        raise "waited in vain for #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > give_up

        sleep 0.02
      end
    end

    private

    def still
      yield
    rescue SystemCallError, RuntimeError
      false
    end

    # A cluster's bus is 10000 above.
    def free_port
      loop do
        port = rand(20_000..45_000)
        [port, port + 10_000].each { |one| TCPServer.open("127.0.0.1", one, &:close) }
        return port
      rescue SystemCallError
        next
      end
    end

    def clustered_proxies
      proxies = Array.new(3) { BreakingProxy.new }
      proxies.each { |proxy| proxy.upstream = start("--cluster-enabled", "yes", "--cluster-announce-port", proxy.port.to_s) }
      joined(proxies.map(&:upstream))
      proxies
    end

    def joined(ports)
      ports.each_with_index do |port, at|
        call(port, "CLUSTER", "ADDSLOTS", *((SLOTS * at / 3)...(SLOTS * (at + 1) / 3)))
        call(port, "CLUSTER", "SET-CONFIG-EPOCH", at + 1)
        call(ports.first, "CLUSTER", "MEET", "127.0.0.1", port)
      end
      wait_for("a cluster") do
        ports.all? { |port| call(port, "CLUSTER", "INFO").match?(/state:ok.*known_nodes:3/m) && call(port, "CLUSTER", "SLOTS").size == 3 }
      end
      ports
    end

    def stop(pid, folder)
      Process.kill("KILL", pid)
      Process.wait(pid)
    rescue Errno::ESRCH, Errno::ECHILD
      # A spec ended it.
    ensure
      FileUtils.rm_rf(folder)
    end

    def reply(socket)
      line = socket.gets.chomp
      case line[0]
      when "+" then line[1..]
      when ":" then line[1..].to_i
      when "-" then raise line[1..]
      when "$" then line == "$-1" ? nil : socket.read(line[1..].to_i + 2).chomp
      when "*" then Array.new(line[1..].to_i) { reply(socket) }
      end
    end
  end
end
