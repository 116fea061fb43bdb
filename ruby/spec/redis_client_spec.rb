# frozen_string_literal: true

begin
  require "redis-client"
  require "redis_client/decorator"
rescue LoadError
  # Debian 12 has none.
end

# On a real Redis; where redis-client is installed.
RSpec.describe "redis-client", if: defined?(RedisClient) do
  let(:config) { RedisClient.config(host: "127.0.0.1", port: PrivateRedis.port, timeout: 5, reconnect_attempts: 3) }
  let(:client) { config.new_client }

  before { client.call("FLUSHALL") && client.call("SCRIPT", "FLUSH") }

  def count(limited)
    limited.check({ user: 1 }).info.count
  end

  it "counts through a pool and a bare client, and loads a script that the server forgot" do
    limiters = [config.new_pool(size: 2), client].map { |redis| limiter(rule(limit: 9), redis: redis) }
    expect(limiters.map { |limited| count(limited) }).to eq([1.0, 2.0])
    client.call("SCRIPT", "FLUSH")
    expect(limiters.map { |limited| count(limited) }).to eq([3.0, 4.0])
    expect([client.read_timeout, client.connect_timeout]).to eq([5, 5])
  end

  it "counts through a decorated client, such as Sidekiq's, which passes on what it knows as a command" do
    commands = Module.new do
      def method_missing(...) = @client.call(...)
      def respond_to_missing?(_name, _private = false) = false
      # Sidekiq's has one by place, which nobody can call with keywords.
      def evalsha(sha, keys, argv) = @client.call("EVALSHA", sha, keys.size, *keys, *argv)
    end
    decorated = RedisClient::Decorator.create(commands).new(client)
    limited = limiter(rule(limit: 9), redis: Class.new { define_method(:with) { |&block| block.call(decorated) } }.new)
    expect(Array.new(2) { count(limited) }).to eq([1.0, 2.0])
    config.new_client.call("CLIENT", "PAUSE", "400", "ALL")
    seconds = Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error }
    expect(seconds).to be_between(0.09, 0.25)
    sleep 0.5
    expect(limited.check({ user: 1 })).not_to be_error
  end

  it "asks a wrapper itself that changes keys" do
    prefixing = Class.new(SimpleDelegator) do
      def evalsha(sha, keys:, argv:) = call("EVALSHA", sha, keys.size, *keys.map { |key| "ns:#{key}" }, *argv)
      def eval(text, keys:, argv:) = call("EVAL", text, keys.size, *keys.map { |key| "ns:#{key}" }, *argv)
    end
    limited = limiter(rule(limit: 9), redis: prefixing.new(client), deadline: 5)
    expect(Array.new(2) { count(limited) }).to eq([1.0, 2.0])
    expect(config.new_client.call("KEYS", "*")).to match([start_with("ns:labkit:rl:")])
  end

  it "works in a child process at once" do
    limited = limiter(rule(limit: 9), redis: client)
    count(limited)
    child = fork { exit!(count(limited).to_i == 2 ? 0 : 1) }
    expect(Process.wait2(child).last.exitstatus).to eq(0)
    expect(count(limited)).to eq(3.0)
  end

  it "waits no longer than the deadline, and sends once", :timed do
    sent = Queue.new
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      while (connection = server.accept)
        Thread.new(connection) { |one| loop { (sent << one.readpartial(4096)) && one.write("+OK\r\n") } }
      end
    end
    slow = limiter(rule, redis: RedisClient.new(host: "127.0.0.1", port: server.addr[1], protocol: 2, reconnect_attempts: 3))
    client.call("CLIENT", "PAUSE", "400", "ALL")
    limited = limiter(rule, redis: config.new_client)
    seconds = Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error }
    expect(seconds).to be_between(0.09, 0.3)
    slow.check({ user: 1 })
    expect(Array.new(sent.size) { sent.pop }.grep(/evalsha/i).size).to eq(1)
  ensure
    thread&.kill
    server&.close
  end

  it "names what fails as the client does" do
    result = limiter(rule, redis: RedisClient.new(host: "127.0.0.1", port: 1)).check({ user: 1 })
    expect([result.error?, logger.lines.last["class_name"]]).to eq([true, "RedisClient::CannotConnectError"])
  end
end
