# frozen_string_literal: true

require "digest"
require "redis"

# Processes of labkit-ruby 5.6.1 and ours on one Redis: each goes on with what the other left.
RSpec.describe "a mixed fleet" do
  let(:port) { PrivateRedis.port }
  let(:redis) { Redis.new(host: "127.0.0.1", port: port) }
  let(:old) { OldProcess.new(redis) }
  let(:key) { "labkit:rl:{spec:per_user:user:1}" }
  let(:identifier) { { user: 1 } }

  before { redis.flushall }

  def ours(**options)
    @ours ||= {}
    @ours[options] ||= limiter(rule(**options), redis: redis, deadline: 5)
  end

  # What a check or a peek of ours came to, as whole seconds where it is about time.
  def seen(result)
    raise "failed: #{logger.lines.last}" if result.error?

    info = result.info
    { action: result.action, count: info.count, remaining: info.remaining, left: (info.reset_at - Time.now).round, banned: info.banned }
  end

  def about(seconds)
    be_between(seconds - 2, seconds)
  end

  describe "what plain commands left" do
    it "goes on counting, at every fraction that Redis writes" do
      limited = ours(limit: 3)
      { "1" => 2.0, "2.5" => 3.5, "1.0000000000000001" => 2.0, "0.1" => 1.1, "3" => 4.0, "12345678901234567" => 12_345_678_901_234_568.0 }.each do |text, count|
        redis.incrbyfloat(key, text)
        redis.expire(key, 30)
        stored = redis.get(key)
        peeked = seen(limited.peek(identifier))
        expect([peeked[:count], redis.get(key)]).to eq([Float(stored), stored])
        result = seen(limited.check(identifier))
        expect(result).to include(action: count > 3 ? :block : :allow, count: count, remaining: be_within(1e-6).of([3 - count, 0].max), left: about(30))
        expect(redis.ttl(key)).to about(30)
        expect(limited.clear(identifier)).to eq(1)
      end
    end

    it "goes on with what ten times 0.1 came to" do
      10.times { redis.incrbyfloat(key, "0.1") }
      redis.expire(key, 30)
      limited = ours(limit: 2)
      expect(Float(redis.get(key))).to be_within(1e-9).of(1)
      expect(Array.new(2) { seen(limited.check(identifier))[:action] }).to eq(%i[allow block])
    end

    it "continues a counter without expiry, and only a check gives it one" do
      redis.set(key, "100")
      limited = ours(limit: 101)
      expect(seen(limited.peek(identifier))).to include(count: 100.0, remaining: 1.0, left: about(60))
      expect(redis.ttl(key)).to eq(-1)
      expect(seen(limited.check(identifier))).to include(action: :allow, count: 101.0, remaining: 0.0, left: about(60))
      expect(redis.ttl(key)).to about(60)
      expect(seen(limited.check(identifier))).to include(action: :block, count: 102.0)
    end

    it "goes on with a set, whose members it knows" do
      redis.sadd(key, %w[a b])
      redis.expire(key, 30)
      limited = ours(limit: 3, count_distinct: :project)
      expect(seen(limited.peek(identifier))).to include(count: 2.0, left: about(30))
      expect(%w[b c a d].map { |project| seen(limited.check({ **identifier, project: project })).values_at(:action, :count) })
        .to eq([[:allow, 2.0], [:allow, 3.0], [:allow, 3.0], [:block, 4.0]])
      expect([redis.smembers(key).sort, redis.ttl(key)]).to match([%w[a b c d], about(30)])
    end

    it "keeps to a ban" do
      redis.incrbyfloat(key, "3")
      redis.expire(key, 30)
      redis.set("#{key}:ban", "1", ex: 40)
      limited = ours(limit: 2, ban_for: 90)
      2.times { expect(seen(limited.check(identifier))).to include(action: :block, banned: true, remaining: 0, left: about(40)) }
      expect(seen(limited.peek(identifier))).to include(action: :block, banned: true, left: about(40))
      expect([redis.get(key), redis.ttl("#{key}:ban")]).to match(["3", about(40)])
      expect(limited.clear(identifier)).to eq(2)
      expect(seen(limited.check(identifier))).to include(action: :allow, count: 1.0, banned: false)
    end
  end

  describe "in turns" do
    it "counts together, in one window" do
      limited = ours(limit: 4)
      expect(old.count(key)).to eq([1.0, 60])
      redis.expire(key, 45)
      expect(seen(limited.check(identifier))).to include(action: :allow, count: 2.0, left: about(45))
      expect(old.count(key, cost: 0.5)).to match([2.5, about(45)])
      expect(seen(limited.check(identifier, cost: 1.25))).to include(action: :allow, count: 3.75, remaining: 0.25, left: about(45))
      expect(old.peek(key)).to match([3.75, about(45)])
      expect(old.count(key)).to match([4.75, about(45)])
      expect(seen(limited.check(identifier))).to include(action: :block, count: 5.75, left: about(45))
    end

    it "lets the old process go on where ours began" do
      limited = ours(limit: 4)
      3.times { limited.check(identifier, cost: 0.1) }
      expect(old.peek(key)).to match([be_within(1e-9).of(0.3), about(60)])
      expect(old.count(key)).to match([be_within(1e-9).of(1.3), about(60)])
      expect(redis.type(key)).to eq("string")
    end

    it "counts distinct values together" do
      limited = ours(limit: 3, count_distinct: :project)
      long = "p" * 201
      expect(seen(limited.check({ **identifier, project: 7 }))).to include(count: 1.0)
      expect(old.distinct(key, "7")).to match([1, about(60)])
      expect(old.distinct(key, Digest::SHA256.hexdigest(long))).to match([2, about(60)])
      expect(seen(limited.check({ **identifier, project: long }))).to include(count: 2.0)
      expect(old.distinct(key, "true")).to match([3, about(60)])
      expect(seen(limited.check({ **identifier, project: true }))).to include(action: :allow, count: 3.0)
      expect(seen(limited.check({ **identifier, project: :new }))).to include(action: :block, count: 4.0)
      expect(old.peek_distinct(key)).to match([4, about(60)])
    end

    it "bans together: whoever is over writes it, and both keep to it" do
      limited = ours(limit: 2, ban_for: 90)
      expect(old.ban(key, limit: 2, ban_for: 90)).to match([1.0, about(60), -1])
      expect(seen(limited.check(identifier))).to include(action: :allow, count: 2.0, banned: false)
      expect(seen(limited.check(identifier))).to include(action: :block, count: 3.0, banned: true, left: about(90))
      expect(old.ban(key, limit: 2, ban_for: 90)).to match([3.0, about(60), about(90)])
      expect(old.peek_ban(key)).to match([3.0, about(60), about(90)])
      expect(old.clear(key)).to eq(2)
      3.times { old.ban(key, limit: 2, ban_for: 90) }
      expect(seen(limited.peek(identifier))).to include(action: :block, banned: true, left: about(90))
      expect(seen(limited.check(identifier))).to include(action: :block, banned: true, left: about(90))
      expect(old.peek_ban(key)).to match([3.0, about(60), about(90)])
    end

    it "peeks at and clears what the other wrote" do
      limited = ours(limit: 4)
      old.count(key)
      expect(seen(limited.peek(identifier))).to include(count: 1.0, left: about(60))
      expect(limited.clear(identifier)).to eq(1)
      expect(old.peek(key)).to eq([0.0, -2])
      limited.check(identifier)
      expect([old.clear(key), seen(limited.peek(identifier))]).to match([1, include(count: 0.0, remaining: 4.0)])
    end
  end

  it "finds the same counter for every value that both write alike" do
    long = "#{"ü" * 150}#{"x" * 51}"
    values = { nil => "_unknown_", 7 => "7", 1.5 => "1.5", true => "true", :web => "web", "a:b" => "a:b",
               "x" * 200 => "x" * 200, long => Digest::SHA256.hexdigest(long) }
    values.each do |value, text|
      old.count("labkit:rl:{spec:per_user:user:#{text}}")
      expect(seen(ours(limit: 4).check({ user: value }))).to include(count: 2.0)
    end
    # Absent and empty are what nil is.
    expect([{}, { user: "" }].map { |missing| seen(ours(limit: 4).check(missing))[:count] }).to eq([3.0, 4.0])
    old.count("labkit:rl:{spec:all}")
    expect(seen(limiter(rule("all", characteristics: []), redis: redis).check({}))).to include(count: 2.0)
    old.count("labkit:rl:{spec:two:user:1:ip:_unknown_}")
    expect(seen(limiter(rule("two", characteristics: %i[user ip]), redis: redis).check({ user: 1 }))).to include(count: 2.0)
    expect(redis.dbsize).to eq(values.size + 2)
  end

  # The rows of the differences that say so: there, old and new count apart.
  it "counts whole floats and lists apart, as it is said" do
    old.count("labkit:rl:{spec:per_user:user:1.0}")
    expect(seen(ours(limit: 4).check({ user: 1.0 }))).to include(count: 1.0)
    expect(redis.get("labkit:rl:{spec:per_user:user:1}")).to eq("1")
    old.count("labkit:rl:{spec:per_user:user:[1, 2]}")
    result = ours(limit: 4).check({ user: [1, 2] })
    expect([result.action, result.error?, logger.lines.size]).to eq([:allow, true, 1])
  end

  describe "at once" do
    # How many calls of all processes passed.
    def passed(processes)
      readers = processes.map do |work|
        reader, writer = IO.pipe
        pid = fork do
          passed = work.call(Redis.new(host: "127.0.0.1", port: port, timeout: 5))
          writer.write(passed.to_s)
          writer.close
          exit!(0)
        end
        writer.close
        [reader, pid]
      end
      readers.map { |reader, pid| Process.wait2(pid).last.success? ? Integer(reader.read) : raise("a process failed") }
    end

    def shared(limit, **options)
      limited = limiter(rule(limit: limit, **options), redis: redis, deadline: 5)
      limited.check({ user: 0 }) # Used before the fork, as a preloading server does.
      limited
    end

    it "lets exactly the limit pass" do
      limited = shared(500)
      before = ->(own) { Array.new(200) { OldProcess.new(own).count(key).first }.count { |count| count <= 500 } }
      after = ->(_own) { Array.new(200) { limited.check(identifier).action }.count(:allow) }
      each = passed([before, after, before, after])
      expect([each.sum, redis.get(key)]).to eq([500, "800"])
      expect(each.values_at(1, 3).sum).to be_positive
    end

    it "bans once, at exactly the limit" do
      limited = shared(50, ban_for: 90)
      before = lambda do |own|
        process = OldProcess.new(own)
        Array.new(40) { process.ban(key, limit: 50, ban_for: 90) }.count { |count, _, banned| banned.negative? && count <= 50 }
      end
      after = ->(_own) { Array.new(40) { limited.check(identifier).action }.count(:allow) }
      expect([passed([before, after, before, after]).sum, redis.get(key)]).to eq([50, "51"])
      expect(redis.ttl("#{key}:ban")).to about(90)
    end

    it "counts each distinct value once" do
      limited = shared(30, count_distinct: :project)
      before = ->(own) { Array.new(40) { |at| OldProcess.new(own).distinct(key, at.to_s).first }.max }
      after = ->(_own) { Array.new(40) { |at| limited.check({ **identifier, project: at }).info.count.to_i }.max }
      expect([passed([before, after, before, after]).max, redis.scard(key)]).to eq([40, 40])
    end
  end
end
