# frozen_string_literal: true

require "ipaddr"

module Labkit
  module RateLimit
    # Who a request comes from, for a counter's key. What a client wrote into `X-Forwarded-For` itself is never
    # believed: only as many entries from the right as there are trusted proxies. IPv6 counts by network, since one
    # client has a whole one; an IPv4-mapped address is its IPv4 address.
    #
    # @example One proxy of our own in front
    #   ADDRESS = Labkit::RateLimit::ClientAddress.new(trusted_hops: 1)
    #   ADDRESS.of(env) # => "198.51.100.7", or "2001:db8:1:2::"
    class ClientAddress
      # Bits of an IPv6 address that one client is taken to have.
      IPV6_PREFIX = 64

      IPV4 = /\A\d{1,3}(?:\.\d{1,3}){3}\z/
      BRACKETED = /\A\[([^\]]*)\](?::\d+)?\z/
      WITH_PORT = /\A(\d{1,3}(?:\.\d{1,3}){3}):\d+\z/
      private_constant :IPV4, :BRACKETED, :WITH_PORT

      # @param trusted_hops [Integer] proxies in front that add to `X-Forwarded-For`; 0 believes nothing of it
      # @param ipv6_prefix [Integer] bits, 1 to 128
      # @raise [ArgumentError] if one of them is out of range
      def initialize(trusted_hops: 0, ipv6_prefix: IPV6_PREFIX)
        raise ArgumentError, "trusted_hops is 0 or more" unless trusted_hops.is_a?(Integer) && !trusted_hops.negative?
        raise ArgumentError, "ipv6_prefix is 1 to 128" unless ipv6_prefix.is_a?(Integer) && (1..128).cover?(ipv6_prefix)

        @trusted_hops = trusted_hops
        @ipv6_prefix = ipv6_prefix
      end

      # @param env [Hash] of Rack
      # @return [String, nil] nil where the server names no peer, as behind a Unix socket
      def of(env)
        resolve(peer: env["REMOTE_ADDR"], forwarded_for: env["HTTP_X_FORWARDED_FOR"])
      end

      # @param peer [String, nil] the address of the connection
      # @param forwarded_for [String, nil] the header
      # @return [String, nil]
      def resolve(peer:, forwarded_for: nil)
        (hop(forwarded_for) if @trusted_hops.positive?) || normalize(peer)
      end

      # @param text [String, nil] an address, as a header or a server writes it
      # @return [String, nil] nil if it is none
      def normalize(text)
        # What a client sends may be no text in any encoding; an address is ASCII.
        bare = bare(text.to_s.b.strip)
        return bare.encode("UTF-8") if IPV4.match?(bare) && bare.split(".").all? { |part| part.to_i < 256 }
        return if bare.empty?

        address = IPAddr.new(bare)
        return address.native.to_s if address.ipv4_mapped? || address.ipv4?

        address.mask(@ipv6_prefix).to_s
      rescue IPAddr::Error
        nil
      end

      private

      # Each proxy adds who it was connected by. A list that is shorter went past some of them.
      def hop(header)
        entries = header.to_s.b.split(",")
        return if entries.empty?

        normalize(entries[-[@trusted_hops, entries.size].min])
      end

      def bare(text)
        text = BRACKETED.match(text)&.[](1) || WITH_PORT.match(text)&.[](1) || text
        return "" if text.include?("/")

        text.sub(/%.*\z/, "")
      end
    end
  end
end
