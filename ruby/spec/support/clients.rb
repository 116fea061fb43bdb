# frozen_string_literal: true

require "connection_pool"
require "redis"
%w[redis-client redis_cluster_client redis-clustering].each do |name|
  require name
rescue LoadError
  # Debian 12 has none of them.
end

# Every client that a host may have, as far as this machine has them: each makes one, from the ports of one Redis or of a cluster.
module Clients
  URLS = ->(ports) { ports.map { |port| "redis://127.0.0.1:#{port}" } }
  RUBY4 = Redis::VERSION.start_with?("4.")

  def self.all
    all = { "redis-rb" => ->(ports) { Redis.new(host: "127.0.0.1", port: ports.first, timeout: 5, reconnect_attempts: 3) } }
    if defined?(RedisClient)
      all["redis-client"] = ->(ports) { RedisClient.new(host: "127.0.0.1", port: ports.first, timeout: 5, reconnect_attempts: 3) }
    end
    all
  end

  def self.clustered
    all = {}
    if RUBY4
      all["redis-rb 4 on a cluster"] = ->(ports) { Redis.new(cluster: URLS.call(ports), timeout: 5, reconnect_attempts: 3) }
    elsif defined?(Redis::Cluster)
      all["redis-clustering"] = ->(ports) { Redis::Cluster.new(nodes: URLS.call(ports), timeout: 5) }
    end
    if defined?(RedisClient::Cluster)
      all["redis-cluster-client"] = ->(ports) { RedisClient.cluster(nodes: URLS.call(ports), timeout: 5).new_client }
      all["redis-cluster-client with pools"] = ->(ports) { RedisClient.cluster(nodes: URLS.call(ports), timeout: 5).new_pool(size: 2) }
    end
    all
  end
end
