# frozen_string_literal: true

require "redis"

# Redis as a host has it: a pool that lends its client to the limiter, and the runner's own connection to each master.
class Backend
  AGE = File.read(File.expand_path("../age.lua", __dir__))
  ON_EVERY_MASTER = %w[KEYS DBSIZE SCRIPT FLUSHALL FLUSHDB].freeze

  attr_writer :down
  attr_reader :topology

  def initialize(addresses, clustered:)
    @topology = clustered ? :cluster : :single
    @masters = addresses.to_h { |address| [address, Redis.new(url: "redis://#{address}", timeout: 5, reconnect_attempts: 0)] }
    @client = clustered ? cluster(addresses.map { |address| "redis://#{address}" }) : @masters.values.first
  end

  def with
    raise Redis::CannotConnectError, "connection refused (the scenario says so)" if @down

    yield @client
  end

  def flush
    @masters.each_value(&:flushall)
    @down = false
  end

  # Lets `us` microseconds pass for the keys of a limiter.
  def age(limiter, us)
    @masters.each_value do |master|
      master.scan_each(match: "labkit:rl:{#{limiter}:*", count: 1000).to_a.uniq.each { |key| master.eval(AGE, keys: [key], argv: [us]) }
    end
  end

  # In: the words of a `redis` step. Out: its reply.
  def raw(words)
    everywhere = ON_EVERY_MASTER.include?(words.first.upcase)
    replies = everywhere ? @masters.each_value.map { |master| master.call(*words) } : [routed(words)]
    { "reply" => written(replies.reduce { |left, right| left.is_a?(Array) || left.is_a?(Integer) ? left + right : left }) }
  rescue Redis::CommandError => error
    { "reply" => { "error" => error.message } }
  end

  private

  # redis-rb has a cluster client of its own up to 4; beside 5 there is redis-cluster-client.
  def cluster(urls)
    return Redis.new(cluster: urls, timeout: 5) if Redis::VERSION.start_with?("4.")

    require "redis_cluster_client"
    RedisClient.cluster(nodes: urls, timeout: 5).new_client
  end

  # A server says which one owns the key.
  def routed(words)
    @masters.values.first.call(*words)
  rescue Redis::CommandError => error
    owner = error.message[/\AMOVED \d+ (\S+)/, 1] or raise
    @masters.fetch(owner).call(*words)
  end

  def written(reply)
    return reply.map { |item| written(item) } if reply.is_a?(Array)
    return reply unless reply.is_a?(String)

    text = reply.dup.force_encoding(Encoding::UTF_8)
    text.valid_encoding? ? text : { "$bytes" => text.unpack1("H*") }
  end
end
