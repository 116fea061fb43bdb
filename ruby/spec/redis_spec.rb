# frozen_string_literal: true

require "redis"
require "connection_pool"

# On a real Redis, through the client that is installed.
RSpec.describe "the host's Redis" do
  let(:port) { PrivateRedis.port }
  let(:redis) { Redis.new(host: "127.0.0.1", port: port) }
  let(:pool) { ConnectionPool.new(size: 2, timeout: 1) { Redis.new(host: "127.0.0.1", port: port) } }
  let(:rules) { [rule("a", limit: 9), rule("b", limit: 9)] }

  before do
    redis.flushall
    redis.script(:flush)
    redis.config(:resetstat)
  end

  def counts(result)
    result.evaluations.map { |evaluation| evaluation.info.count }
  end

  # A server that takes connections and never answers.
  def silent
    server = TCPServer.new("127.0.0.1", 0)
    yield server.addr[1]
  ensure
    server&.close
  end

  def sockets_of(pool)
    pool.with { |connection| connection._client.connected? }
  end

  it "counts in one call, whatever lends the connection" do
    lender = Class.new { define_singleton_method(:with) { |&block| block.call(Redis.new(host: "127.0.0.1", port: PrivateRedis.port)) } }
    [pool, redis, lender].each_with_index do |given, at|
      result = limiter(*rules, redis: given).check({ user: 1 })
      expect(counts(result)).to eq([at + 1.0, at + 1.0])
    end
    calls = redis.info("commandstats").sum { |name, stats| name.match?(/\A(evalsha|eval)\z/) ? stats["calls"].to_i : 0 }
    expect(calls).to eq(4) # The first was not known by its digest.
  end

  it "loads a script again that the server forgot" do
    limited = limiter(*rules, redis: pool)
    limited.check({ user: 1 })
    redis.script(:flush)
    expect(counts(limited.check({ user: 1 }))).to eq([2.0, 2.0])
  end

  it "peeks, clears, and continues counters that plain commands left" do
    redis.set("labkit:rl:{spec:a:user:7}", "1")
    limited = limiter(rule("a", limit: 2), redis: redis)
    expect(counts(limited.peek({ user: 7 }))).to eq([1.0])
    expect(redis.ttl("labkit:rl:{spec:a:user:7}")).to eq(-1)
    expect(counts(limited.check({ user: 7 }))).to eq([2.0])
    expect(redis.ttl("labkit:rl:{spec:a:user:7}")).to be_between(59, 60)
    expect(limited.clear({ user: 7 })).to eq(1)
    expect(redis.keys).to eq([])
  end

  it "works in a child process at once, through a pool and a bare client" do
    [pool, redis].each do |given|
      limited = limiter(rule("fork_#{given.class.name.downcase}", limit: 9), redis: given)
      limited.check({ user: 1 })
      child = fork { exit!(counts(limited.check({ user: 1 })) == [2.0] ? 0 : 1) }
      expect(Process.wait2(child).last.exitstatus).to eq(0)
      expect(counts(limited.check({ user: 1 }))).to eq([3.0])
    end
  end

  describe "failure" do
    it "passes, marks and logs what cannot be reached" do
      dead = limiter(*rules, redis: Redis.new(host: "127.0.0.1", port: 1))
      result = dead.check({ user: 1, secret: "s3cr3t" })
      expect([result.action, result.error?, result.evaluations]).to eq([:allow, true, []])
      expect(logger.lines.last).to include("message" => "rate_limit_error", "class_name" => "Redis::CannotConnectError",
                                           name: "spec", rule: "a", identifier_keys: %w[user secret])
      expect(logger.lines.last.to_s).not_to include("s3cr3t")
    end

    it "opens a circuit, which costs nothing and says so once" do
      dead = limiter(*rules, redis: Redis.new(host: "127.0.0.1", port: 1))
      results = Array.new(8) { dead.check({ user: 1 }) }
      expect(results).to all(have_attributes(error?: true))
      messages = logger.lines.map { |line| line["message"] || line[:message] }
      expect(messages).to eq((["rate_limit_error"] * 5) + ["rate_limit_circuit_open"])
    end

    it "waits no longer than the deadline: for a connection, for a reply", :timed do
      silent do |port|
        slow = limiter(*rules, redis: Redis.new(host: "127.0.0.1", port: port, timeout: 5), deadline: 0.1)
        seconds = Array.new(3) { Benchmark.realtime { expect(slow.check({ user: 1 })).to be_error } }
        expect(seconds).to all(be_between(0.09, 0.3))
      end
    end

    it "waits no longer than the deadline for a reply on a connection that is there", :timed do
      limited = limiter(*rules, redis: redis, deadline: 0.1)
      limited.check({ user: 1 })
      Redis.new(host: "127.0.0.1", port: port).call("CLIENT", "PAUSE", "400", "ALL")
      seconds = Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error }
      expect(seconds).to be_between(0.09, 0.3)
      sleep 0.5
      expect(limited.check({ user: 1 })).not_to be_error
    end

    it "waits no longer than the deadline in a child process, which must connect anew", :timed do
      other = Redis.new(host: "127.0.0.1", port: port, db: 1, timeout: 2)
      limited = limiter(*rules, redis: other, deadline: 0.1)
      limited.check({ user: 1 })
      redis.call("CLIENT", "PAUSE", "600", "ALL")
      child = fork do
        failed = false
        seconds = Benchmark.realtime { failed = limited.check({ user: 1 }).error? }
        exit!(failed && seconds.between?(0.09, 0.3) ? 0 : 1)
      end
      expect(Process.wait2(child).last.exitstatus).to eq(0)
      sleep 0.7
    end

    it "waits no longer than the deadline for a connection of the pool", :timed do
      small = ConnectionPool.new(size: 1, timeout: 5) { Redis.new(host: "127.0.0.1", port: port) }
      limited = limiter(*rules, redis: small, deadline: 0.1)
      taken = Queue.new
      thread = Thread.new { small.with { taken.push(1) && sleep } }
      taken.pop
      seconds = Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error }
      expect(seconds).to be_between(0.09, 0.3)
      thread.kill.join
      expect(limited.check({ user: 1 })).not_to be_error
    end

    it "keeps a value of the wrong type apart, under the name that the client has for it" do
      redis.lpush("labkit:rl:{spec:b:user:1}", "x")
      limited = limiter(*rules, redis: redis)
      expect(Array.new(7) { limited.check({ user: 1 }) }).to all(be_error)
      expect(logger.lines.size).to eq(7) # No circuit.
      expect(logger.lines.last).to include(rule: "b", "class_name" => /\ARedis::(CommandError|WrongTypeError)\z/)
    end

    it "never sends a call again whose fate is unknown" do
      sent = Queue.new
      server = TCPServer.new("127.0.0.1", 0)
      thread = Thread.new do
        while (client = server.accept)
          sent << client.readpartial(4096)
          client.close
        end
      end
      limited = limiter(*rules, redis: Redis.new(host: "127.0.0.1", port: server.addr[1], reconnect_attempts: 3))
      expect(limited.check({ user: 1 })).to be_error
      expect(Array.new(sent.size) { sent.pop }.grep(/evalsha/i).size).to eq(1)
    ensure
      thread&.kill
      server&.close
    end

    it "works through a wrapper around a client" do
      limited = limiter(*rules, redis: SimpleDelegator.new(redis))
      expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[1.0, 1.0], [2.0, 2.0]])
    end

    # As the monolith has them while it moves from one Redis to another.
    it "works through a proxy that says it has every method, lent by a pool that takes no time" do
      proxy = Class.new do
        define_method(:initialize) { |client| @client = client }
        def method_missing(name, *args, **keywords) = @client.public_send(name, *args, **keywords)
        def respond_to_missing?(*) = true
      end
      lender = Class.new(ConnectionPool) { define_method(:with) { |&block| super(&block) } }
      lent = lender.new(size: 1) { proxy.new(redis) }
      [proxy.new(redis), lent].each_with_index do |given, at|
        limited = limiter(rule("a"), redis: given)
        expect(counts(limited.check({ user: 1 }))).to eq([at + 1.0])
        expect(limited.clear({ user: 2 })).to eq(0)
        expect(logger.lines.last[:error_message]).to include("its own time-outs rule")
      end
    end

    it "takes a pool that poses as a client for a pool", :timed do
      posing = ConnectionPool.wrap(size: 1, timeout: 5) { Redis.new(host: "127.0.0.1", port: port) }
      limited = limiter(*rules, redis: posing, deadline: 0.1)
      expect(counts(limited.check({ user: 1 }))).to eq([1.0, 1.0])
      taken = Queue.new
      thread = Thread.new { posing.with { taken.push(1) && sleep } }
      taken.pop
      expect(Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error }).to be_between(0.09, 0.3)
    ensure
      thread&.kill
    end
  end

  describe "interruption" do
    # Stops the server for a while, so that the check waits.
    def waiting(limited)
      limited.check({ user: 1 })
      Redis.new(host: "127.0.0.1", port: port).call("CLIENT", "PAUSE", "300", "ALL")
      thread = Thread.new do
        Thread.current.report_on_exception = false
        limited.check({ user: 1 })
      end
      sleep 0.1
      thread
    end

    it "leaves pool and limiter sound after Thread#raise and Thread#kill" do
      limited = limiter(*rules, redis: pool, deadline: 5)
      thread = waiting(limited)
      thread.raise(Interrupt, "stop")
      expect { thread.join }.to raise_error(Interrupt)
      sleep 0.4
      thread = waiting(limited)
      thread.kill.join
      sleep 0.4
      expect(Array.new(4) { limited.peek({ user: 2 }) }.map { |result| counts(result) }).to all(eq([0.0, 0.0]))
      expect(pool.available).to eq(2)
    end

    it "lets an outer time-out through" do
      limited = limiter(*rules, redis: pool, deadline: 5)
      limited.check({ user: 1 })
      Redis.new(host: "127.0.0.1", port: port).call("CLIENT", "PAUSE", "300", "ALL")
      expect { Timeout.timeout(0.1) { limited.check({ user: 1 }) } }.to raise_error(Timeout::Error)
      sleep 0.4
      expect(counts(limited.peek({ user: 2 }))).to eq([0.0, 0.0])
    end
  end

  describe "a client that it does not know" do
    # As a host's own wrapper is, that hides what is inside.
    let(:kind) do
      Class.new do
        def initialize(redis)
          @redis = redis
        end

        def evalsha(...) = @redis.evalsha(...)
        def eval(...) = @redis.eval(...)
      end
    end
    let(:closable) { Class.new(kind) { def close = @redis.close } }

    def said
      logger.lines.map { |line| line[:error_message] }
    end

    it "says so once for all limiters that share it, when they are built" do
      unknown = kind.new(redis)
      limiters = Array.new(2) { limiter(*rules, redis: unknown) }
      expect(logger.lines.map { |line| line[:message] }).to eq(["rate_limit_redis_client"])
      expect(said.first).to match(/no client known here.*its own time-outs rule/)
      expect(limiters.map { |limited| counts(limited.check({ user: 1 })) }).to eq([[1.0, 1.0], [2.0, 2.0]])
      limiter(*rules, redis: closable.new(redis))
      expect(said.size).to eq(2)
      expect(said.last).not_to include("time-outs")
    end

    it "says so of a pool when its first connection is seen" do
      lender = ConnectionPool.new(size: 2) { closable.new(Redis.new(host: "127.0.0.1", port: PrivateRedis.port)) }
      limiters = Array.new(2) { limiter(*rules, redis: lender) }
      expect(said).to eq([])
      2.times { limiters.each { |limited| limited.check({ user: 1 }) } }
      expect(said.size).to eq(1)
    end

    # As redis-namespace does, which shows the client inside too.
    describe "and that changes keys" do
      let(:prefixing) do
        Module.new do
          def evalsha(sha, keys:, argv:) = super(sha, keys: keys.map { |key| "ns:#{key}" }, argv: argv)
          def eval(text, keys:, argv:) = super(text, keys: keys.map { |key| "ns:#{key}" }, argv: argv)
        end
      end
      let(:delegator) do
        Class.new(SimpleDelegator) do
          def evalsha(sha, keys:, argv:) = __getobj__.evalsha(sha, keys: keys.map { |key| "ns:#{key}" }, argv: argv)
          def eval(text, keys:, argv:) = __getobj__.eval(text, keys: keys.map { |key| "ns:#{key}" }, argv: argv)
        end
      end
      let(:missing) do
        Class.new do
          def initialize(redis) = @redis = redis
          def _client = @redis._client
          def respond_to_missing?(name, _ = false) = %i[evalsha eval].include?(name)

          def method_missing(name, script, keys:, argv:)
            @redis.public_send(name, script, keys: keys.map { |key| "ns:#{key}" }, argv: argv)
          end
        end
      end

      it "is asked itself, and told of" do
        given = [delegator.new(redis), SimpleDelegator.new(delegator.new(redis)), missing.new(redis),
                 Redis.new(host: "127.0.0.1", port: port).extend(prefixing),
                 Class.new(Redis) { include(Module.new) }.prepend(prefixing).new(host: "127.0.0.1", port: port)]
        given.each do |wrapper|
          redis.flushall
          redis.script(:flush)
          logger.lines.clear
          limited = limiter(*rules, redis: wrapper, deadline: 5)
          expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[1.0, 1.0], [2.0, 2.0]])
          expect(redis.keys).to all(start_with("ns:labkit:rl:"))
          expect(said).to match([/no client known here/])
        end
      end

      it "is told from others of its class in a pool" do
        kinds = [redis, Redis.new(host: "127.0.0.1", port: port).extend(prefixing)]
        lender = Class.new { define_method(:with) { |&block| block.call(kinds.rotate!.first) } }.new
        limited = limiter(rule("a", limit: 9), redis: lender)
        expect(Array.new(4) { counts(limited.check({ user: 1 })) }).to eq([[1.0], [1.0], [2.0], [2.0]])
      end
    end

    it "may raise what cannot tell its name or its message" do
      nameless = Class.new(StandardError) { def self.name = raise("no name") }
      silent = Class.new(StandardError) { def message = raise("no message") }
      failing = ->(kind) { Class.new { define_method(:evalsha) { |*, **| raise kind } }.new }
      results = [nameless, silent].map { |kind| limiter(*rules, redis: failing.call(kind)).check({ user: 1 }) }
      expect(results).to all(be_error)
    end

    it "says nothing of one that it knows" do
      [redis, pool, SimpleDelegator.new(redis)].each { |known| limiter(*rules, redis: known).check({ user: 1 }) }
      expect(said).to eq([])
    end
  end

  it "is shared by threads" do
    limited = limiter(rule("many", limit: 50), redis: ConnectionPool.new(size: 5) { Redis.new(host: "127.0.0.1", port: port) }, deadline: 5)
    actions = Array.new(8) { Thread.new { Array.new(20) { limited.check({ user: 1 }).action } } }.flat_map(&:value)
    expect(actions.tally).to eq(allow: 50, block: 110)
  end
end
