# frozen_string_literal: true

require "json"
require "sidekiq"
require_relative "live_helper"

# A Sidekiq of five threads, with a queue whose limiter has a pool of its own, and one whose limiter counts on Sidekiq's.
RSpec.describe "a Sidekiq" do
  let(:redis) { MortalRedis.new }
  let(:queues) { %w[own_pool pool_of_sidekiq] }
  let(:limit) { 8 }
  let(:jobs) { 24 }

  after { redis.close }

  def command(*words)
    Sidekiq.redis { |connection| connection.call(*words) }
  end

  # What the server told so far, in order, of one kind.
  def told(what)
    command("LRANGE", "told", 0, -1).map { |line| JSON.parse(line, symbolize_names: true) }.select { |line| line[:what] == what }
  end

  def push_jobs
    Sidekiq.configure_client { |config| config.redis = { url: redis.url } }
    queues.each { |queue| Sidekiq::Client.push_bulk("class" => "Work", "queue" => queue, "args" => Array.new(jobs) { |number| [number] }) }
  end

  # All jobs ran, as the server tells; it has stopped.
  def run_all
    arguments = ["-r", File.join(Live::SERVERS, "jobs.rb"), "-c", "5", *queues.flat_map { |queue| ["-q", queue] }]
    server = ServerProcess.new("sidekiq", *arguments, LIVE_REDIS: redis.url, LIVE_LIMIT: limit.to_s)
    eventually("every job ran", within: 50) do
      server.must_run
      command("LLEN", "told") >= 2 * queues.size * jobs && told("ran").size >= queues.size * jobs
    end
  ensure
    server&.stop
  end

  # The checks of each window: two windows end a period of 2 s apart, whatever the machine does meanwhile.
  def windows(checks)
    checks.sort_by { |check| check[:reset_at] }.slice_when { |one, other| other[:reset_at] - one[:reset_at] > 1 }.to_a
  end

  it "puts refused jobs off until they may run, and runs every job at last, never more than the limit in a window" do
    push_jobs
    run_all

    checks = told("checked")
    expect(checks.map { |check| check[:failed] }.uniq).to eq([false])
    passed, refused = checks.partition { |check| check[:action] == "allow" }
    expect(passed.map { |check| check[:jid] }).to match_array(told("ran").map { |ran| ran[:jid] })
    expect(told("ran").map { |ran| ran[:number] }.tally).to eq((0...jobs).to_h { |number| [number, queues.size] })
    queues.each do |queue|
      sizes = windows(passed.select { |check| check[:queue] == queue }).map(&:size)
      expect(sizes.first).to eq(limit)
      expect(sizes).to all(be <= limit)
      expect(sizes.sum).to eq(jobs)
    end

    # A job that is due is pushed again, without a time.
    pushes = told("pushed").select { |push| push[:at] }
    expect(pushes.map { |push| push[:jid] }).to match_array(refused.map { |check| check[:jid] })
    shares = refused.map { |check| share_of_jitter(check, checks, pushes) }
    expect(shares).to all(be_between(0, 0.2))
    expect(shares.max - shares.min).to be > 0.05
    expect([command("ZCARD", "retry"), command("ZCARD", "dead"), command("ZCARD", "schedule"), command("GET", "stat:failed").to_i]).to eq([0] * 4)
    measured("#{passed.size} jobs ran, refused #{refused.size} times, jitter of #{shares.minmax.map { |share| share.round(3) }.join(" to ")}")
  end

  # How much later than it must a refused job was to come again; it was put off once, and did not come before.
  def share_of_jitter(check, checks, pushes)
    same = ->(other) { other[:jid] == check[:jid] && other[:now] >= check[:now] && !other.equal?(check) }
    push = pushes.find(&same)
    expect(checks.find(&same)[:now]).to be >= push[:at]
    wait = check[:retry_after]
    # Its clock was read between the check and the push.
    expect(push[:at] - check[:now]).to be >= wait
    ((push[:at] - push[:now]) / wait).clamp(1, nil) - 1
  end
end
