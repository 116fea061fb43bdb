package ratelimit

import (
	"fmt"
	"net/netip"
	"strings"
)

// ClientAddress tells who a request comes from, for a counter's key. What a client wrote into X-Forwarded-For itself is
// never believed: only as many entries from the right as there are trusted proxies. IPv6 counts by network, since one
// client has a whole one; an IPv4-mapped address is its IPv4 address. The zero value believes nothing, and counts by /64.
type ClientAddress struct {
	// TrustedHops are the proxies in front that add to X-Forwarded-For.
	TrustedHops int
	// IPv6Prefix is how many bits of an IPv6 address one client is taken to have; 0 is 64.
	IPv6Prefix int
}

// Validate tells whether the numbers are in range: a program calls it once, at its start.
func (c ClientAddress) Validate() error {
	if c.TrustedHops < 0 {
		return fmt.Errorf("ratelimit: TrustedHops is 0 or more, not %d", c.TrustedHops)
	}
	if c.IPv6Prefix < 0 || c.IPv6Prefix > 128 {
		return fmt.Errorf("ratelimit: IPv6Prefix is 1 to 128, or 0 for 64, not %d", c.IPv6Prefix)
	}
	return nil
}

// Of is the client of a request: peer is the address of its connection, with or without a port, and forwardedFor the
// X-Forwarded-For fields, in order. It is "" where neither says one, as behind a Unix socket.
func (c ClientAddress) Of(peer string, forwardedFor ...string) string {
	if c.TrustedHops > 0 {
		if address := c.Normalize(c.hop(forwardedFor)); address != "" {
			return address
		}
	}
	return c.Normalize(peer)
}

// hop is what the outermost trusted proxy saw. A list that is shorter went past some of them.
func (c ClientAddress) hop(fields []string) string {
	list := strings.Join(fields, ",")
	for range c.TrustedHops - 1 {
		at := strings.LastIndexByte(list, ',')
		if at < 0 {
			break
		}
		list = list[:at]
	}
	return list[strings.LastIndexByte(list, ',')+1:]
}

// Normalize is an address as counters have it; "" if the text is none.
func (c ClientAddress) Normalize(text string) string {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return ""
		}
		address = withPort.Addr()
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	bits := c.IPv6Prefix
	if bits <= 0 || bits > 128 {
		bits = 64
	}
	return netip.PrefixFrom(address, bits).Masked().Addr().String()
}
