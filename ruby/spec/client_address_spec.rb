# frozen_string_literal: true

RSpec.describe Labkit::RateLimit::ClientAddress do
  def address(**options)
    described_class.new(**options)
  end

  # Field case 19.
  it "counts IPv6 by /64, and a mapped address as IPv4" do
    limited = limiter(rule(limit: 2, characteristics: [:ip]))
    peers = %w[2001:db8:1:2::1 2001:db8:1:2:ffff::9 2001:db8:1:2::3 2001:db8:1:3::1 192.0.2.1 192.0.2.1 ::ffff:192.0.2.1]
    actions = peers.map { |peer| limited.check({ ip: address.of("REMOTE_ADDR" => peer) }).action }
    expect(actions).to eq(%i[allow allow block allow allow allow block])
  end

  # Field case 20.
  it "believes a forwarding header as far as hops are trusted" do
    seen = %w[6.6.6.6 7.7.7.7].map do |forged|
      address(trusted_hops: 1).of("REMOTE_ADDR" => "10.0.0.1", "HTTP_X_FORWARDED_FOR" => "#{forged}, 198.51.100.7")
    end
    expect(seen).to eq(%w[198.51.100.7 198.51.100.7])
    expect(address.of("REMOTE_ADDR" => "10.0.0.1", "HTTP_X_FORWARDED_FOR" => "6.6.6.6, 198.51.100.7")).to eq("10.0.0.1")
  end

  it "goes as many hops back as are trusted, and no further than the list" do
    forwarded = "6.6.6.6, 198.51.100.7, 10.0.0.2"
    hops = { 1 => "10.0.0.2", 2 => "198.51.100.7", 3 => "6.6.6.6", 4 => "6.6.6.6" }
    hops.each do |trusted, seen|
      expect(address(trusted_hops: trusted).resolve(peer: "10.0.0.1", forwarded_for: forwarded)).to eq(seen)
    end
  end

  it "reads ports, brackets and zones, and takes the peer where an entry is no address" do
    read = { "192.0.2.1:8080" => "192.0.2.1", "[2001:db8::1]:443" => "2001:db8::", "fe80::1%eth0" => "fe80::",
             "unknown" => "10.0.0.1", "" => "10.0.0.1", "1.2.3.4/8" => "10.0.0.1", "256.1.1.1" => "10.0.0.1" }
    read.each do |entry, seen|
      expect(address(trusted_hops: 1).resolve(peer: "10.0.0.1", forwarded_for: entry)).to eq(seen), entry
    end
  end

  it "stands bytes that are no text, and gives text" do
    ["\xFF", "\xFF, 192.0.2.7", "192.0.2.7".b, "2001:db8::1".b, "\u00E9"].each do |header|
      seen = address(trusted_hops: 1).of("REMOTE_ADDR" => "10.0.0.1", "HTTP_X_FORWARDED_FOR" => header)
      expect([seen, seen.encoding.ascii_compatible?, seen.valid_encoding?]).to match([/\A(10\.0\.0\.1|192\.0\.2\.7|2001:db8::)\z/, true, true])
    end
    expect(address.normalize("192.0.2.7".b).encoding).to eq(Encoding::UTF_8)
    expect(address.normalize("\xFF")).to be_nil
  end

  it "has nobody where the server names nobody" do
    expect(address.of({})).to be_nil
    expect(address.of("REMOTE_ADDR" => "unix:")).to be_nil
  end

  it "takes another prefix, within bounds" do
    expect(address(ipv6_prefix: 48).normalize("2001:db8:1:2::1")).to eq("2001:db8:1::")
    expect { address(ipv6_prefix: 0) }.to raise_error(ArgumentError)
    expect { address(trusted_hops: -1) }.to raise_error(ArgumentError)
  end
end
