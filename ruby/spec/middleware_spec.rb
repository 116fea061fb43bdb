# frozen_string_literal: true

require "rack"
require "rack/mock"

RSpec.describe Labkit::RateLimit::Middleware do
  let(:limited) { limiter(rule("per_ip", limit: 1, characteristics: [:ip])) }
  # Rack 3 wants names in lower case.
  let(:lower) { defined?(Rack::Headers) }
  let(:inner) { ->(_env) { [200, { header("Content-Type") => "text/plain" }, ["served"]] } }

  def header(name)
    lower ? name.downcase : name
  end

  def app(limiter: limited, **options, &identify)
    identify ||= ->(env) { { ip: env["REMOTE_ADDR"] } }
    Rack::MockRequest.new(Rack::Lint.new(described_class.new(inner, limiter: limiter, **options, &identify)))
  end

  def get(app, ip: "192.0.2.1", **env)
    app.get("/", { "REMOTE_ADDR" => ip, **env.transform_keys(&:to_s) })
  end

  it "serves with headers, then refuses with 429, headers and a text" do
    served, refused = Array.new(2) { get(app) }
    expect([served.status, served.body, served["RateLimit-Remaining"]]).to eq([200, "served", "0"])
    expect([refused.status, refused.body, refused["Content-Type"]]).to eq([429, "Retry later\n", "text/plain"])
    expect(refused["Retry-After"]).to eq("60")
    expect(served["Retry-After"]).to be_nil
    expect(get(app, ip: "192.0.2.2").status).to eq(200)
  end

  it "answers in JSON to who asks for it" do
    get(app)
    refused = get(app, HTTP_ACCEPT: "application/json")
    expect(refused["Content-Type"]).to eq("application/json")
    expect(JSON.parse(refused.body)).to eq("error" => "Retry later", "rule" => "per_ip", "retry_after" => 60)
    kinds = { "text/html, application/json;q=0.9" => "text/plain", "application/json, */*" => "application/json",
              "*/*" => "text/plain", "application/json;q=0" => "text/plain", "application/problem+json" => "application/json",
              "APPLICATION/JSON;charset=utf-8" => "application/json", ";;,,q=" => "text/plain",
              "text/*;q=0.1, application/*" => "application/json", "image/png" => "text/plain" }
    kinds.each { |accept, type| expect(get(app, HTTP_ACCEPT: accept)["Content-Type"]).to eq(type), accept }
  end

  it "stands an Accept that is no text" do
    stack = described_class.new(inner, limiter: limited) { { ip: 1 } }
    answers = Array.new(2) { stack.call("HTTP_ACCEPT" => "\xFF, application/json") }
    expect([answers.last.first, answers.last[1][header("Content-Type")]]).to eq([429, "application/json"])
  end

  it "limits nothing where the block gives nil" do
    open = app { |_env| nil }
    expect(Array.new(3) { get(open).status }).to eq([200, 200, 200])
    expect(get(open)["RateLimit-Limit"]).to be_nil
  end

  it "tells a hook of each block; one that raises changes nothing" do
    told = []
    hooked = app(on_block: ->(env, result) { told << [env["REMOTE_ADDR"], result.rule.name] })
    3.times { get(hooked) }
    expect(told).to eq([["192.0.2.1", "per_ip"]] * 2)
    errors = StringIO.new
    refused = get(app(on_block: ->(*) { raise "hook" }), "rack.errors": errors)
    expect([refused.status, errors.string]).to match([429, /on_block raised RuntimeError: hook/])
  end

  it "charges after the response where the block says so" do
    statuses = [401, 200, 401, 401]
    failing = ->(_env) { [statuses.shift, { "Content-Type" => "text/plain" }, ["x"]] }
    later = lambda do |env|
      described_class.after({ ip: env["REMOTE_ADDR"] }) { |status, _headers| status == 401 ? 2 : 0 }
    end
    strict = limiter(rule("failures", limit: 3, characteristics: [:ip]))
    logins = Rack::MockRequest.new(described_class.new(failing, limiter: strict, &later))
    responses = Array.new(4) { get(logins) }
    expect(responses.map(&:status)).to eq([401, 200, 401, 429])
    expect(responses.map { |response| response["RateLimit-Observed"] }).to eq(%w[2 2 4 4])
  end

  it "sends no body to who asks for none" do
    get(app)
    refused = app.request("HEAD", "/", "REMOTE_ADDR" => "192.0.2.1")
    expect([refused.status, refused.body, refused["Content-Length"], refused["Retry-After"]]).to eq([429, "", "12", "60"])
  end

  it "hands on the body as it is: streamed, and closed by who has it" do
    closed = 0
    body = Class.new { def each = yield("served") }.new
    body.define_singleton_method(:close) { closed += 1 }
    streaming = ->(_env) { [200, { header("Content-Type") => "text/plain" }, body] }
    stack = described_class.new(streaming, limiter: limited) { { ip: 1 } }
    expect(stack.call({}).last).to equal(body)
    linted = Rack::MockRequest.new(Rack::Lint.new(described_class.new(streaming, limiter: limiter(rule(limit: 5)), &->(_env) { {} })))
    expect([linted.get("/").body, closed.positive?]).to eq(["served", true])
  end

  it "lets through what the application and the identifying block raise, and charges nothing for it" do
    raising = ->(_env) { raise KeyError, "app" }
    strict = limiter(rule(limit: 1, characteristics: [:ip]))
    later = ->(_env) { described_class.after({ ip: 1 }) { 1 } }
    2.times { expect { described_class.new(raising, limiter: strict, &later).call({}) }.to raise_error(KeyError, "app") }
    expect(strict.peek({ ip: 1 }).info.count).to eq(0.0)
    expect { described_class.new(inner, limiter: limited) { raise ArgumentError, "who" }.call({}) }.to raise_error(ArgumentError, "who")
  end

  it "lets through what a bad identifier raises", :mistyped do
    expect { described_class.new(inner, limiter: limited) { { 1 => 2 } }.call({}) }.to raise_error(Labkit::RateLimit::Identifier::InvalidKeyError)
  end

  it "serves a response whose cost cannot be told" do
    errors = StringIO.new
    later = ->(_env) { described_class.after({ ip: 1 }) { raise "cost" } }
    response = described_class.new(inner, limiter: limited, &later).call({ "rack.errors" => errors })
    expect([response.first, errors.string]).to match([200, /the cost raised RuntimeError: cost/])
    free = described_class.new(inner, limiter: limited) { described_class.after({ ip: 1 }) { nil } }
    env = {}
    expect([free.call(env).first, env[described_class::RESULT].info.count]).to eq([200, 0.0])
    charged = described_class.new(inner, limiter: limited) { described_class.after({ ip: 1 }) { 1 } }
    expect([charged.call(env).first, env[described_class::RESULT].info.count]).to eq([200, 1.0])
  end

  it "names its headers as this Rack wants them" do
    headers = Array.new(2) { described_class.new(inner, limiter: limited) { { ip: 1 } }.call({})[1] }
    names = %w[Content-Type RateLimit-Name RateLimit-Limit RateLimit-Observed RateLimit-Remaining RateLimit-Reset]
    expect(headers.first.keys).to eq(names.map { |name| header(name) })
    expect(headers.last.keys).to match_array([*names, "Content-Length", "Retry-After", "RateLimit-ResetTime"].map { |name| header(name) })
    expect(headers.flat_map(&:values)).to all(be_a(String))
    ietf = described_class.new(inner, limiter: limited, format: :ietf) { { ip: 2 } }.call({})[1]
    expect(ietf).to include(header("RateLimit-Policy") => '"per_ip";q=1;w=60')
  end

  it "shows a warn rule that is over on a response that is served" do
    warning = limiter(rule("soft", limit: 1, action: :warn, characteristics: [:ip]))
    shown = Array.new(2) { get(app(limiter: warning)) }.last
    expect([shown.status, shown["RateLimit-Name"], shown["RateLimit-Observed"]]).to eq([200, "soft", "2"])
  end

  it "keeps the application's own headers" do
    own = ->(_env) { [200, { "Content-Type" => "text/plain", "ratelimit-limit" => "own" }.freeze, []] }
    response = described_class.new(own, limiter: limited) { { ip: 1 } }.call({})
    expect(response[1]).to include("ratelimit-limit" => "own", header("RateLimit-Name") => "per_ip")
    expect(response[1].keys.map(&:downcase).count("ratelimit-limit")).to eq(1)
  end

  # As Rack 2 allows.
  it "marks headers that are pairs, and keeps a name that comes twice" do
    pairs = [["Content-Type", "text/plain"], ["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]]
    lazy = Class.new { define_method(:each) { |&block| pairs.each(&block) } }.new
    [pairs, lazy].each do |headers|
      seen = nil
      stack = described_class.new(->(_env) { [200, headers, []] }, limiter: limiter(rule(limit: 5))) do
        described_class.after({ user: 1 }) { |_status, given| (seen = given) && 1 }
      end
      marked = stack.call({})[1]
      expect(marked).to include("Content-Type" => "text/plain", "Set-Cookie" => "a=1\nb=2", header("RateLimit-Observed") => "1")
      expect(seen).to be_a(Hash)
    end
    expect(pairs.size).to eq(3)
  end

  it "passes on a response that comes later by another way, and charges nothing for it" do
    response = [-1, nil, nil]
    strict = limiter(rule(limit: 5))
    deferred = ->(_env) { response }
    expect(described_class.new(deferred, limiter: strict) { described_class.after({ user: 1 }) { 1 } }.call({})).to equal(response)
    expect(strict.peek({ user: 1 }).info.count).to eq(0.0)
    expect(described_class.new(deferred, limiter: strict) { { user: 1 } }.call({})).to equal(response)
  end

  it "wants to know what is charged later", :mistyped do
    expect { described_class.after({ user: 1 }) }.to raise_error(ArgumentError, /a block says what the request costs/)
  end

  it "refuses with a text whose bytes are none" do
    ["\xFF", "\xFF".b].each do |text|
      refusing = described_class.new(inner, limiter: limiter(rule(limit: -> { 0 })), text: text) { { user: 1 } }
      answers = ["text/plain", "application/json"].map { |kind| refusing.call("HTTP_ACCEPT" => kind) }
      expect(answers.map(&:first)).to eq([429, 429])
      expect(answers.first.last).to eq(["\uFFFD\n"])
      expect(JSON.parse(answers.last.last.first)).to include("error" => "\uFFFD")
    end
  end

  it "answers 503 without a time where a limiter fails closed" do
    closed = limiter(rule, redis: Class.new { def with = raise("no pool") }.new, on_error: :block)
    refused = get(app(limiter: closed))
    expect([refused.status, refused["Retry-After"]]).to eq([503, nil])
  end
end
