# frozen_string_literal: true

require "sidekiq"

RSpec.describe Labkit::RateLimit::SidekiqMiddleware do
  let(:client) { Class.new { def pushed = @pushed ||= []; def push(job) = pushed << job }.new }
  let(:limited) { limiter(rule("per_worker", limit: 1, characteristics: [:worker])) }
  let(:job) { { "class" => "Work", "jid" => "abc", "args" => [1], "retry_count" => 2, "enqueued_at" => 1.0 } }
  let(:settings) do
    { limiter: limited, identify: ->(job, queue) { { worker: job["class"] } if queue != "free" }, client: client }
  end

  it "runs a job, and puts a refused one off until it may run, within the jitter" do
    middleware = described_class.new(**settings)
    ran = Array.new(3) { middleware.call(nil, job, "default") { :ran } }
    expect(ran).to eq([:ran, nil, nil])
    expect(client.pushed.map { |pushed| pushed.except("at") }).to eq([job.except("enqueued_at")] * 2)
    waits = client.pushed.map { |pushed| pushed["at"] - Time.now.to_f }
    expect(waits).to all(be_between(59, 72.1))
    expect(waits.uniq.size).to eq(2)
  end

  it "leaves a job alone that has no identifier" do
    middleware = described_class.new(**settings)
    expect(Array.new(3) { middleware.call(nil, job, "free") { :ran } }).to eq(%i[ran ran ran])
  end

  it "waits as it is told where no wait helps" do
    never = limiter(rule("never", limit: -> { 0 }, characteristics: [:worker]))
    described_class.new(**settings, limiter: never, jitter: 0, otherwise: 300).call(nil, job, "default") { :ran }
    expect(client.pushed.first["at"] - Time.now.to_f).to be_within(1).of(300)
  end

  it "is added as Sidekiq adds one" do
    chain = Sidekiq::Middleware::Chain.new
    chain.add(described_class, settings)
    chain.retrieve.first.call(nil, job, "default") { :ran }
    expect(chain.retrieve.first.call(nil, job, "default") { :ran }).to be_nil
    expect(client.pushed.size).to eq(1)
    expect { described_class.new(settings.merge(delay: 1)) }.to raise_error(ArgumentError, /:delay/)
  end
end
