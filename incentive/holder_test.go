package incentive

import (
	"errors"
	"net/netip"
	"testing"

	"feedex/protocol"
)

func TestHolderOf(t *testing.T) {
	for _, c := range []struct{ rule, id, want string }{
		{"a public address holds one account", "20.0.0.1:7790", "20.0.0.1"},
		{"in IPv6 the network does", "[2a00:1450:1:2:3:4:5:6]:7790", "2a00:1450:1:2::/64"},
		{"a local address holds one for each port", "127.0.0.1:7790", "127.0.0.1:7790"},
		{"also on a LAN", "192.168.1.7:8000", "192.168.1.7:8000"},
		{"also in IPv6", "[fd00::1]:7790", "[fd00::1]:7790"},
		{"an IPv4 address in IPv6 clothes is itself", "[::ffff:20.0.0.1]:7790", "20.0.0.1"},
	} {
		id, err := protocol.ParseNodeID(c.id)
		if err != nil {
			t.Fatal(err)
		}
		h := HolderOf(id)
		if h.String() != c.want {
			t.Errorf("%s: %s is held by %s, want %s", c.rule, c.id, h, c.want)
		}
		if back, err := ParseHolder(h.String()); err != nil || back != h {
			t.Errorf("%s reads as %v, %v", h, back, err)
		}
	}
	if h := HolderOf(protocol.NodeID{}); h != (Holder{}) || h.String() != "" {
		t.Errorf("nobody is %v", h)
	}
	// A port of 0 is no node's, but must not be taken for another holder.
	h := HolderOf(protocol.NewNodeID(netip.MustParseAddr("fd00::1"), 0))
	if back, err := ParseHolder(h.String()); err != nil || back != h {
		t.Errorf("%s reads as %v, %v", h, back, err)
	}
}

func TestParseHolderRefuses(t *testing.T) {
	for _, s := range []string{"example.com", "20.0.0.1/24", "2a00::/48", "fe80::1%eth0", "20.0.0.1:0", "::", "::/64",
		"[::]:80", ":80", "20.0.0.1:x"} {
		if h, err := ParseHolder(s); !errors.Is(err, ErrHolder) {
			t.Errorf("%q is %v, %v", s, h, err)
		}
	}
}

// A node that cannot be dialled and is on the owner's own network holds an account there, as others do by their port.
// Of one that is known by its key alone the key does.
func TestHolderOfHostedNodes(t *testing.T) {
	local := HolderOf(protocol.HostedID(netip.MustParseAddr("10.0.0.1"), nodeKey(1)))
	again, err := ParseHolder(local.String())
	if err != nil || again != local || !local.Local() || local.keyed() {
		t.Errorf("the holder is %v, read again %v, %v", local, again, err)
	}
	public := netip.MustParseAddr("20.0.0.1")
	if got := HolderOf(protocol.HostedID(public, nodeKey(1))); got != HolderOf(protocol.NewNodeID(public, 7790)) {
		t.Errorf("at a public address the holder is %v", got)
	}
	if got := HolderOf(protocol.NameOf(nodeKey(1))); got != keyHolder(nodeKey(1)) {
		t.Errorf("where nobody knows its address the holder is %v", got)
	}
}
