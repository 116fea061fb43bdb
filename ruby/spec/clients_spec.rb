# frozen_string_literal: true

require_relative "support/clients"

# The same on every client: by itself and in a pool, on one Redis and on a cluster.
RSpec.shared_examples "a client" do |make, clustered|
  let(:ports) { clustered ? PrivateRedis.cluster : [PrivateRedis.port] }
  let(:client) { make.call(ports) }
  let(:rules) { %w[a b c].map { |name| rule(name, limit: 99) } }

  before { everywhere("FLUSHALL") }

  after do
    ports.each { |port| PrivateRedis.call(port, "CLIENT", "UNPAUSE") }
  end

  def everywhere(*words)
    ports.map { |port| PrivateRedis.call(port, *words) }
  end

  def bare
    client
  end

  def pooled(size: 2)
    make = self.class.metadata[:make]
    ConnectionPool.new(size: size, timeout: 1) { make.call(ports) }
  end

  let(:proxies) { PrivateRedis.behind_proxies(clustered) }

  # A client of what breaks.
  def behind(form)
    make = self.class.metadata[:make]
    proxies.each { |proxy| PrivateRedis.call(proxy.upstream, "FLUSHALL") }
    form == :bare ? make.call(proxies.map(&:port)) : ConnectionPool.new(size: 2) { make.call(proxies.map(&:port)) }
  end

  def counts(result)
    raise "failed: #{logger.lines.last}" if result.error?

    result.evaluations.map { |evaluation| evaluation.info.count }
  end

  # How many scripts the servers ran or were asked to.
  def scripts
    everywhere("INFO", "commandstats").sum { |text| text.scan(/^cmdstat_eval(?:sha)?:calls=(\d+)/).flatten.sum(&:to_i) }
  end

  # While it lasts the servers take what is sent, and answer nothing.
  def paused(milliseconds = 400)
    everywhere("CLIENT", "PAUSE", milliseconds, "ALL")
    yield
  ensure
    everywhere("CLIENT", "UNPAUSE")
  end

  %i[bare pooled].each do |form|
    describe form.to_s do
      let(:redis) { send(form) }

      it "checks, peeks, clears, counts distinct values and bans" do
        limited = limiter(*rules, redis: redis, deadline: 5)
        expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[1.0] * 3, [2.0] * 3])
        expect(counts(limited.peek({ user: 1 }))).to eq([2.0] * 3)
        expect([limited.clear({ user: 1 }), counts(limited.peek({ user: 1 }))]).to eq([3, [0.0] * 3])
        sets = limiter(rule("sets", count_distinct: :project), redis: redis, deadline: 5)
        expect(%w[x y x z].map { |project| sets.check({ user: 1, project: project }).action }).to eq(%i[allow allow allow block])
        bans = limiter(rule("bans", ban_for: 60), redis: redis, deadline: 5)
        3.times { bans.check({ user: 1 }) }
        expect([bans.peek({ user: 1 }).info.banned, bans.clear({ user: 1 })]).to eq([true, 2])
        expect(logger.lines).to eq([])
      end

      it "sends a script once for each slot, and anew where the servers forgot it" do
        limited = limiter(*rules, redis: redis, deadline: 5)
        limited.check({ user: 1 })
        everywhere("CONFIG", "RESETSTAT")
        10.times { limited.check({ user: 1 }) }
        expect(scripts).to eq(10 * (clustered ? 3 : 1))
        everywhere("SCRIPT", "FLUSH")
        expect(counts(limited.check({ user: 1 }))).to eq([12.0] * 3)
      end

      it "waits no longer than the deadline, and goes on when the answer comes" do
        limited = limiter(*rules, redis: redis, deadline: 0.1)
        limited.check({ user: 1 })
        limited.check({ user: 1 })
        seconds = paused { Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error } }
        expect(seconds).to be_between(0.09, 0.3)
        limited = limiter(*rules, redis: redis, deadline: 5)
        expect(counts(limited.peek({ user: 2 }))).to eq([0.0] * 3)
      end

      it "waits no longer than the deadline for servers that hang" do
        limited = limiter(*rules, redis: redis, deadline: 0.1)
        2.times { limited.check({ user: 1 }) }
        ports.each { |port| PrivateRedis.signal(port, "STOP") }
        # The second on a connection that has to be made first.
        seconds = Array.new(2) { Benchmark.realtime { expect(limited.check({ user: 1 })).to be_error } }
        expect(seconds).to all(be_between(0.09, 0.3))
        ports.each { |port| PrivateRedis.signal(port, "CONT") }
        patient = limiter(*rules, redis: redis, deadline: 5)
        expect(counts(patient.peek({ user: 2 }))).to eq([0.0] * 3)
      ensure
        ports.each { |port| PrivateRedis.signal(port, "CONT") }
      end

      it "never sends a call again whose fate is unknown, and goes on" do
        limited = limiter(*rules, redis: behind(form), deadline: 5)
        expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[1.0] * 3, [2.0] * 3])
        proxies.each(&:forget).each { |proxy| proxy.breaking = true }
        expect(limited.check({ user: 1 })).to be_error
        expect(proxies.sum(&:seen)).to eq(1)
        proxies.each { |proxy| proxy.breaking = false }
        expect(counts(limited.check({ user: 1 }))).to eq([3.0] * 3)
      end

      it "is sound after Timeout, Thread#raise and Thread#kill in the middle of a wait" do
        limited = limiter(*rules, redis: redis, deadline: 5)
        5.times { limited.check({ user: 1 }) }
        [->(thread) { thread.raise(Interrupt, "stop") }, lambda(&:kill)].each do |interrupt|
          paused do
            thread = Thread.new do
              Thread.current.report_on_exception = false
              limited.check({ user: 1 })
            end
            sleep 0.1
            interrupt.call(thread)
            still { thread.join }
          end
          expect(Array.new(3) { counts(limited.peek({ user: 2 })) }).to all(eq([0.0] * 3))
        end
        paused { expect { Timeout.timeout(0.1) { limited.check({ user: 1 }) } }.to raise_error(Timeout::Error) }
        expect(Array.new(3) { counts(limited.peek({ user: 2 })) }).to all(eq([0.0] * 3))
      end

      it "does not let callers that go before the deadline hide a dead store" do
        limited = limiter(*rules, redis: redis, deadline: 0.1)
        2.times { limited.check({ user: 1 }) }
        went = []
        paused(2000) do
          went = Array.new(20) { Timeout.timeout(0.04) { limited.check({ user: 1 }) && :came } rescue :went } # rubocop:disable Style/RescueModifier
          # Five deadlines are over; from then on nobody waits.
          expect(went.chunk_while(&:eql?).map(&:first)).to eq(%i[went came])
          expect(went.count(:went)).to be_between(8, 16)
        end
        expect(logger.lines.map { |line| line[:message] || line["message"] }.tally).to include("rate_limit_circuit_open" => 1)
        gone = logger.lines.select { |line| line["error_message"].to_s.include?("did not wait") }
        expect(gone.size).to eq(went.count(:went))
      end

      it "works in a child process at once" do
        limited = limiter(*rules, redis: redis, deadline: 5)
        limited.check({ user: 1 })
        child = fork { exit!(still { counts(limited.check({ user: 1 })) == [2.0] * 3 } ? 0 : 1) }
        expect(Process.wait2(child).last.exitstatus).to eq(0)
        expect(counts(limited.check({ user: 1 }))).to eq([3.0] * 3)
      end
    end
  end

  def still
    yield
  rescue Exception # rubocop:disable Lint/RescueException -- Interrupt is none of the standard ones
    nil
  end
end

Clients.all.each do |name, make|
  RSpec.describe(name, :timed, make: make) { it_behaves_like "a client", make, false }
end
Clients.clustered.each do |name, make|
  RSpec.describe(name, :timed, make: make) { it_behaves_like "a client", make, true }
end
