# frozen_string_literal: true

require_relative "support/clients"

# What only a cluster does: slots move, a node is gone, none is there.
Clients.clustered.each do |name, make|
  RSpec.describe "#{name}, when the cluster changes", :timed do
    let(:ports) { PrivateRedis.cluster }
    let(:limited) { limiter(*%w[a b c].map { |each| rule(each, limit: 99) }, redis: make.call(ports), deadline: 5) }
    let(:key) { "labkit:rl:{spec:a:user:1}" }
    let(:slot) { PrivateRedis.call(ports.first, "CLUSTER", "KEYSLOT", key) }
    let(:ids) { ports.to_h { |port| [port, PrivateRedis.call(port, "CLUSTER", "MYID")] } }

    before { ports.each { |port| PrivateRedis.call(port, "FLUSHALL") } }

    def counts(result)
      raise "failed: #{logger.lines.last}" if result.error?

      result.evaluations.map { |evaluation| evaluation.info.count }
    end

    def owner
      ports.index { |port| PrivateRedis.call(port, "CLUSTER", "COUNTKEYSINSLOT", slot).positive? }
    end

    def everywhere(*words)
      ports.each { |port| PrivateRedis.call(port, *words) }
    end

    # Moves the slot of the first rule to the next node; the block runs when all is there but the word of it.
    def move
      from, to = ports.rotate(owner).first(2)
      PrivateRedis.call(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from])
      PrivateRedis.call(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
      PrivateRedis.call(from, "MIGRATE", "127.0.0.1", to, key, 0, 5000)
      yield
      [to, from, *(ports - [to, from])].each { |port| PrivateRedis.call(port, "CLUSTER", "SETSLOT", slot, "NODE", ids[to]) }
    end

    it "follows a slot while it moves, and when it has moved" do
      expect(counts(limited.check({ user: 1 }))).to eq([1.0] * 3)
      move do
        everywhere("SCRIPT", "FLUSH")
        expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[2.0] * 3, [3.0] * 3])
      end
      expect(Array.new(2) { counts(limited.check({ user: 1 })) }).to eq([[4.0] * 3, [5.0] * 3])
      move { nil }
      move { nil } # All the way around, for the specs that follow.
      expect(counts(limited.check({ user: 1 }))).to eq([6.0] * 3)
      expect(logger.lines).to eq([])
    end

    it "goes on elsewhere while a node hangs or is gone, and there when it is back" do
      everyone = Array.new(40) { |user| { user: user } }
      one = limiter(rule(limit: 99), redis: make.call(ports), deadline: 0.3)
      everyone.each { |user| one.check(user) }
      PrivateRedis.signal(ports.first, "STOP")
      answers = everyone.map { |user| one.tap(&:close_circuit).check(user).error? }
      expect(answers.tally.transform_values { |many| many > 5 }).to eq(true => true, false => true)
      PrivateRedis.signal(ports.first, "CONT")
      expect(Array.new(2) { everyone.map { |user| one.tap(&:close_circuit).check(user).error? } }.last).to all(be(false))
    ensure
      PrivateRedis.signal(ports.first, "CONT")
    end

    it "is built while no node is there, fails its checks alone, and says nothing of the client" do
      away = make_away
      expect(Array.new(2) { away.check({ user: 1 }) }).to all(have_attributes(action: :allow, error?: true))
      expect(logger.lines.map { |line| line["message"] || line[:message] }).to eq(["rate_limit_error"] * 2)
    end

    # redis-rb 4 asks its cluster when it is built, which is the host's doing.
    define_method(:make_away) do
      nowhere = -> { make.call([1, 2, 3]) }
      given = name.start_with?("redis-rb 4") || name == "redis-clustering" ? ConnectionPool.new(size: 1, &nowhere) : nowhere.call
      limiter(rule, redis: given, deadline: 5)
    end
  end
end
