package core

import (
	"testing"

	"feedex/protocol"
)

// A node is dialled at its own address by the version of IP of who dials it, and on its own networks at its address
// there, as far as it knows them.
func TestWhoDialledANode(t *testing.T) {
	id := func(s string) (id protocol.NodeID) {
		if err := id.UnmarshalText([]byte(s)); err != nil {
			t.Fatal(err)
		}
		return id
	}
	own4, own6, near := id("198.51.101.4:7790"), id("[2600:12::8]:7790"), id("192.168.1.2:7790")
	from4, from6, home := id("20.0.1.9:7790"), id("[2600:13::9]:7790"), id("192.168.1.3:7790")
	also6 := id("[2600:12::9]:7790")
	both := Selves{By4: own4, By6: own6, Near: []protocol.NodeID{near}, Here: []protocol.NodeID{own6, also6}}
	for _, c := range []struct {
		name     string
		s        Selves
		from, at protocol.NodeID
		want     bool
	}{
		{"by IPv4", both, from4, own4, true},
		{"by IPv6", both, from6, own6, true},
		{"by IPv6 at another address of the machine", both, from6, also6, true},
		{"by IPv6 at another port there", both, from6, id("[2600:12::9]:7791"), false},
		{"by IPv6 in its network", both, from6, id("[2600:12::a]:7790"), false},
		{"by IPv4 at another address of the machine", both, from4, also6, false},
		{"by IPv6 at IPv4", both, from6, own4, false},
		{"by IPv4 elsewhere", both, from4, from4, false},
		{"by IPv6 elsewhere", both, from6, from6, false},
		{"by IPv6, which it does not know", Selves{By4: own4}, from6, own6, true},
		{"by IPv4, at IPv6", both, from4, own6, false},
		{"from near, elsewhere", both, home, from4, false},
		{"from near", both, home, near, true},
		{"from near, at the router", both, home, own4, true},
		{"from where all is public", Selves{AllowLocal: true}, home, near, true},
	} {
		if got := c.s.Dialled(c.from, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
