package ratelimit

import "testing"

func TestAClientIsWhoTheTrustedProxiesSaw(t *testing.T) {
	for _, c := range []struct {
		hops      int
		peer      string
		forwarded []string
		want      string
	}{
		// Field case 20.
		{1, "10.0.0.1", []string{"6.6.6.6, 198.51.100.7"}, "198.51.100.7"},
		{1, "10.0.0.1", []string{"7.7.7.7, 6.6.6.6, 198.51.100.7"}, "198.51.100.7"},
		{0, "10.0.0.1", []string{"6.6.6.6, 198.51.100.7"}, "10.0.0.1"},
		{1, "10.0.0.1:4711", []string{"6.6.6.6", "198.51.100.7:99"}, "198.51.100.7"},
		{2, "10.0.0.1", []string{"6.6.6.6, 198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{5, "10.0.0.1", []string{"198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{1, "10.0.0.1", nil, "10.0.0.1"}, {1, "10.0.0.1", []string{"unknown"}, "10.0.0.1"}, {1, "@", nil, ""},
		{1, "[2001:db8::1]:80", []string{"[2001:db8:1:2::9]:80"}, "2001:db8:1:2::"},
	} {
		if got := (ClientAddress{TrustedHops: c.hops}).Of(c.peer, c.forwarded...); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestIPv6CountsByNetwork(t *testing.T) {
	for text, want := range map[string]string{
		// Field case 19.
		"2001:db8:1:2::1": "2001:db8:1:2::", "2001:db8:1:2:ffff::9": "2001:db8:1:2::", "2001:db8:1:3::1": "2001:db8:1:3::",
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "fe80::1%eth0": "fe80::", "[::1]": "::",
		" 192.0.2.1 ": "192.0.2.1", "192.0.2.1:80": "192.0.2.1", "": "", "10.0.0.0/8": "", "010.0.0.1": "", "x": "",
	} {
		if got := (ClientAddress{}).Normalize(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
	if got := (ClientAddress{IPv6Prefix: 48}).Normalize("2001:db8:1:2::1"); got != "2001:db8:1::" {
		t.Error(got)
	}
	for _, odd := range []ClientAddress{{TrustedHops: -1}, {IPv6Prefix: 129}, {IPv6Prefix: -1}} {
		if odd.Validate() == nil {
			t.Errorf("%+v passes", odd)
		}
	}
	if err := (ClientAddress{TrustedHops: 2, IPv6Prefix: 128}).Validate(); err != nil {
		t.Error(err)
	}
}
