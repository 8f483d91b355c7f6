package protocol_test

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/protocol"
)

// Lengths are those of what is written.
func TestLengths(t *testing.T) {
	interests := rapid.Custom(func(t *rapid.T) protocol.Interest {
		return protocol.Interest{Feed: feedURLs().Draw(t, "feed"),
			Hops: rapid.IntRange(protocol.Withdrawn, 12).Draw(t, "hops")}
	})
	ids := rapid.Custom(func(t *rapid.T) protocol.NodeID {
		size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
		addr, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "address"))
		return protocol.NewNodeID(addr, rapid.Uint16().Draw(t, "port"))
	})
	rapid.Check(t, func(t *rapid.T) {
		u, nid := feedURLs().Draw(t, "feed"), rapid.Uint16().Draw(t, "nid")
		subset := protocol.Subset(rapid.SliceOfN(interests, 0, 5).Draw(t, "subset"))
		b := protocol.NewBundle(u, rapid.SliceOfN(entriesOf(u), 0, 4).Draw(t, "entries"))
		b.Path = rapid.SliceOfN(ids, 0, 4).Draw(t, "path")
		dids := make([]protocol.DID, rapid.IntRange(0, 3).Draw(t, "dids"))
		for _, c := range []protocol.Call{
			protocol.CheckDID{DID: b.DID}, protocol.CheckDID{DID: b.DID, Feed: u, Entries: len(b.Entries)},
			protocol.CheckDIDs{DIDs: dids},
			protocol.UpdateSubset{Changes: subset}, protocol.Connect{Subset: subset},
			protocol.Connect{Subset: subset, Away: time.Hour},
			protocol.PutEntries{Bundle: b}, protocol.PutEntries{Bundle: b.Via(ids.Draw(t, "sender"))},
			protocol.WhoAmI{}, protocol.ListMethods{},
		} {
			if got, want := protocol.CallLength(nid, c), len(protocol.EncodeCall(nil, nid, c)); got != want {
				t.Errorf("%s of %d bytes counts %d: %v", c.Method(), want, got, c)
			}
		}
		for _, r := range []protocol.Reply{
			protocol.OK{}, protocol.Seen(true), protocol.Seen(false),
			protocol.SeenList(make([]protocol.Seen, len(dids))), subset,
			protocol.NodeList(b.Path), protocol.Methods{"check_did", string(u)}, protocol.Methods{},
		} {
			if got, want := protocol.ReplyLength(r), len(protocol.EncodeReply(nil, r)); got != want {
				t.Errorf("an answer of %d bytes counts %d: %v", want, got, r)
			}
		}
	})
}
