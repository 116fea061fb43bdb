# frozen_string_literal: true

require_relative "live_helper"

# A Puma cluster of two workers with five threads each. The limiter was built and used before the fork.
RSpec.describe "a Puma cluster" do
  let(:redis) { MortalRedis.new }

  after { redis.close }

  # Yields the port, and the pids of the workers.
  def cluster(limit:, period:, deadline:)
    server = ServerProcess.new(
      "puma", "-C", File.join(Live::SERVERS, "puma.rb"),
      LIVE_REDIS: redis.url, LIVE_LIMIT: limit.to_s, LIVE_PERIOD: period.to_s, LIVE_DEADLINE: deadline.to_s
    )
    port = server.says(%r{Listening on http://127\.0\.0\.1:(\d+)}).first.first
    workers = server.says(/Worker \d \(PID: (\d+)\) booted/, times: 2).flatten
    yield Integer(port), workers, server
  ensure
    server&.stop
  end

  def load(port, path, threads:)
    load = Load.new(port, path, threads: threads)
    yield load
  ensure
    load&.stop
  end

  def passed(responses)
    responses.select { |response| response.status == 200 }
  end

  def failed_open(responses)
    responses.select { |response| response.fields["x-failed-open"] }
  end

  # The responses of each window of a key: two windows end a period apart, whatever the machine does meanwhile.
  def windows(responses, period)
    ends = ->(response) { Float(response.fields.fetch("x-reset-at")) }
    responses.sort_by(&ends).slice_when { |one, other| ends[other] - ends[one] > period / 2.0 }.to_a
  end

  def percentile(responses, share, &seconds)
    responses.map(&(seconds || :seconds)).sort[((responses.size - 1) * share).ceil]
  end

  def milliseconds(seconds)
    format("%.1f ms", seconds * 1000)
  end

  it "passes exactly the limit in each window, over all workers" do
    limit = 150
    period = 2
    cluster(limit: limit, period: period, deadline: 5) do |port, workers|
      seen = []
      load(port, "/exact", threads: 16) do |load|
        # Three windows, and then the refusals of the third.
        eventually("three windows of passes", within: 30) { passed(seen.concat(load.take)).size >= 3 * limit }
        sleep 0.3
        seen.concat(load.take)
        load.stop
        seen.concat(load.take)
      end

      expect(seen.map(&:status).tally.keys).to contain_exactly(200, 429)
      expect(failed_open(seen)).to be_empty
      full = windows(passed(seen), period)
      # On a slow machine one more may just have begun.
      full.pop if full.size > 3 && full.last.size < limit
      expect(full.map(&:size)).to eq([limit] * full.size)
      expect(full.size).to be >= 3
      full.each { |window| expect(window.map { |one| Integer(one.fields["x-count"]) }).to match_array(1..limit) }
      expect(passed(seen).map { |one| one.fields["x-worker"] }.uniq).to match_array(workers)
      measured("#{seen.size} requests, #{full.size} windows of #{limit}, by worker #{seen.map { |one| one.fields["x-worker"] }.tally.values}, " \
               "p99 #{milliseconds(percentile(seen, 0.99))}")
    end
  end

  # What the default is.
  deadline = Labkit::RateLimit::Limiter::DEADLINE

  # How the store fails; how it comes back.
  { "killed" => %i[kill start], "hanging" => %i[hang go_on] }.each do |what, (fail, mend)|
    it "passes and marks every request within the deadline while Redis is #{what}, then enforces again" do
      limit = 100
      cluster(limit: limit, period: 60, deadline: deadline) do |port, workers, server|
        load(port, "/healthy", threads: 8) do |load|
          seen = []
          take = -> { seen.concat(load.take) }
          eventually("refusals", within: 20) { take.call.count { |one| one.status == 429 } >= 500 }
          healthy = seen
          expect_limited(healthy, limit)

          seen = []
          redis.public_send(fail)
          failed = now
          sleep 2
          mended = now
          redis.public_send(mend)
          # What was on its way when it came back is in neither.
          down = take.call.select { |one| one.began > failed && one.ended < mended }
          expect(down.map(&:status).uniq).to eq([200])
          expect(down - failed_open(down)).to be_empty
          expect(down.map { |one| one.fields["x-worker"] }.uniq).to match_array(workers)
          expect(percentile(down, 0.99)).to be < deadline
          expect_few_to_wait(down, deadline)

          load.path = "/waiting"
          closed = eventually("both workers ask Redis again", within: 15) do
            recent = take.call.last(200).reject { |one| one.began < mended || one.fields["x-failed-open"] }
            now - mended if recent.size == 200 && recent.map { |one| one.fields["x-worker"] }.uniq.size == 2
          end
          seen = []
          load.path = "/again"
          eventually("refusals", within: 20) { take.call.count { |one| one.status == 429 && one.fields["path"] == "/again" } >= 500 }
          again = seen.select { |one| one.fields["path"] == "/again" }
          expect_limited(again, limit)
          load.stop
          expect(load.take.map(&:status) - [200, 429]).to be_empty
          expect(server.log.scan("rate_limit_circuit_open").size).to be >= 2
          expect(server.log.scan("rate_limit_circuit_closed").size).to be >= 2
          measured("#{what}: #{down.size} requests without Redis, p99 #{milliseconds(percentile(down, 0.99))}, slowest " \
                   "#{milliseconds(percentile(down, 1))}, p99 before #{milliseconds(percentile(healthy, 0.99))}; " \
                   "enforcing #{closed.round(2)} s after it was back")
        end
      end
    end
  end

  # A machine that stalls may time a check out, which may have been charged all the same: then it took one place of the limit.
  def expect_limited(responses, limit)
    expect(responses.map(&:status).tally.keys).to contain_exactly(200, 429)
    open = failed_open(responses).size
    expect(open).to be <= responses.size / 100
    expect(passed(responses).size - open).to be_between(limit - open, limit)
  end

  # In each worker five failures open the circuit, met by five threads at once; then one tries at a time. Beside those, a machine
  # that stalls.
  def expect_few_to_wait(responses, deadline)
    waited = responses.select { |one| Float(one.fields["x-seconds"]) > deadline * 0.8 }
    expect(waited.size).to be <= (2 * (9 + 5)) + (responses.size / 500)
    expect(percentile(responses, 1) { |one| Float(one.fields["x-seconds"]) }).to be < deadline * 5
  end
end
