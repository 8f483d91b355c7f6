package protocol

import "testing"

func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		id, want string
	}{
		{"20.1.2.3:7790", "20.1.2.0/24"},
		{"20.1.2.255:1024", "20.1.2.0/24"},
		{"20.1.3.3:7790", "20.1.3.0/24"},
		{"[::ffff:20.1.2.3]:7790", "20.1.2.0/24"},
		{"[2a00:1:2:3::4]:7790", "2a00:1:2::/48"},
		{"[2a00:1:2:ffff::4]:7791", "2a00:1:2::/48"},
		{"[2a00:1:3::4]:7790", "2a00:1:3::/48"},
		{"127.0.0.1:7790", "127.0.0.1:7790"}, // what is not public is a network for itself
		{"127.0.0.1:7791", "127.0.0.1:7791"},
		{"192.168.1.2:7790", "192.168.1.2:7790"},
		{"[fe80::1]:7790", "[fe80::1]:7790"},
	} {
		id, err := ParseNodeID(c.id)
		if err != nil {
			t.Fatal(err)
		}
		if got := id.Network(); got.String() != c.want || got.IsZero() || got.Compare(id.Network()) != 0 {
			t.Errorf("%s is in %s, want %s", c.id, got, c.want)
		}
	}
	if n := (NodeID{}).Network(); !n.IsZero() || n.String() != "" || n != (Network{}) {
		t.Errorf("nobody is in %s", n)
	}
}
