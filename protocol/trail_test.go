package protocol_test

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"feedex/protocol"
)

// A path comes out of its trail as it went in, and no two share one.
func TestTrails(t *testing.T) {
	addr := rapid.Custom(func(t *rapid.T) netip.Addr {
		switch rapid.IntRange(0, 9).Draw(t, "family") {
		case 0:
			return netip.Addr{}
		case 1, 2, 3:
			return netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ipv6")))
		}
		return netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ipv4")))
	})
	path := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) protocol.NodeID {
		return protocol.NewNodeID(addr.Draw(t, "addr"), rapid.Uint16().Draw(t, "port"))
	}), 0, protocol.MaxPath+2)
	rapid.Check(t, func(t *rapid.T) {
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		trail := protocol.TrailOf(a)
		if got := trail.Path(); !slices.Equal(got, a) || trail.Len() != len(a) {
			t.Fatalf("%v came out as %v, of %d", a, got, trail.Len())
		}
		if (trail == protocol.TrailOf(b)) != slices.Equal(a, b) {
			t.Fatalf("%v and %v have trails %q and %q", a, b, trail, protocol.TrailOf(b))
		}
	})
}
