# frozen_string_literal: true

require "redis"

# What a process of labkit-ruby 5.6.1 does on the same Redis: a script for each kind of rule, and plain commands. Written from
# the table of its scripts; it knows nothing of the gem.
class OldProcess
  COUNTING = <<~LUA
    local count = redis.call('INCRBYFLOAT', KEYS[1], ARGV[2])
    local ttl = redis.call('TTL', KEYS[1])
    if ttl < 0 then
      redis.call('EXPIRE', KEYS[1], ARGV[1])
      ttl = tonumber(ARGV[1])
    end
    return {count, ttl}
  LUA
  DISTINCT = <<~LUA
    redis.call('SADD', KEYS[1], ARGV[2])
    local count = redis.call('SCARD', KEYS[1])
    local ttl = redis.call('TTL', KEYS[1])
    if ttl < 0 then
      redis.call('EXPIRE', KEYS[1], ARGV[1])
      ttl = tonumber(ARGV[1])
    end
    return {count, ttl}
  LUA
  BAN = <<~LUA
    local banned = redis.call('TTL', KEYS[2])
    if banned >= 0 then
      return {redis.call('GET', KEYS[1]) or '0', redis.call('TTL', KEYS[1]), banned}
    end
    local count = redis.call('INCRBYFLOAT', KEYS[1], ARGV[2])
    local ttl = redis.call('TTL', KEYS[1])
    if ttl < 0 then
      redis.call('EXPIRE', KEYS[1], ARGV[1])
      ttl = tonumber(ARGV[1])
    end
    if tonumber(count) > tonumber(ARGV[3]) then
      redis.call('SET', KEYS[2], '1', 'EX', ARGV[4])
      return {count, ttl, tonumber(ARGV[4])}
    end
    return {count, ttl, -1}
  LUA

  attr_reader :redis

  def initialize(redis)
    @redis = redis
  end

  # Each gives the count and the seconds left; a ban rule the seconds of its ban too.
  def count(key, cost: 1, period: 60)
    text, left = run(COUNTING, [key], [period, cost])
    [Float(text), left]
  end

  def distinct(key, member, period: 60)
    run(DISTINCT, [key], [period, member])
  end

  def ban(key, limit:, ban_for:, cost: 1, period: 60)
    text, left, banned = run(BAN, [key, "#{key}:ban"], [period, cost, limit, ban_for])
    [Float(text), left, banned]
  end

  def peek(key)
    [redis.get(key).to_f, redis.ttl(key)]
  end

  def peek_distinct(key)
    [redis.scard(key), redis.ttl(key)]
  end

  def peek_ban(key)
    [*peek(key), redis.ttl("#{key}:ban")]
  end

  def clear(key)
    redis.del(key, "#{key}:ban")
  end

  private

  def run(script, keys, argv)
    redis.evalsha(Digest::SHA1.hexdigest(script), keys: keys, argv: argv)
  rescue Redis::CommandError => e
    raise unless e.message.start_with?("NOSCRIPT")

    redis.eval(script, keys: keys, argv: argv)
  end
end
