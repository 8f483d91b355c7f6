package neighbors

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

func at(addr string) protocol.NodeID {
	return protocol.NewNodeID(netip.MustParseAddr(addr), 7790)
}

// Where we chose a neighbor already, others come first; but if there are no others, it is no obstacle.
func TestOtherRegionsFirst(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: at("20.1.0.1"), Together: time.Hour})
	b.Add(now, Tracked, []protocol.NodeID{at("20.1.9.9"), at("30.1.0.1"), at("2a00:1:5::1"), at("2a00:2::1")})
	chosen := []protocol.NodeID{at("20.1.7.7"), at("2a00:1::1")}
	got := append(b.Candidates(now, 2, chosen, nobody), b.Candidates(now, 9, chosen, nobody)...)
	slices.SortFunc(got[:2], protocol.NodeID.Compare)
	want := []protocol.NodeID{at("30.1.0.1"), at("2a00:2::1"), at("20.1.0.1")} // two of the tracker's at a time
	if !slices.Equal(got, want) {
		t.Errorf("candidates %v, want %v", got, want)
	}
	for _, id := range want {
		b.Failed(now, id)
	}
	if got := b.Candidates(now, 9, chosen, nobody); len(got) != 2 {
		t.Errorf("then %v, want both that are left", got)
	}
}

// One of no use is tried again after all others.
func TestTheLeastTriedIsNext(t *testing.T) {
	b := newBook()
	list := []protocol.NodeID{at("20.1.0.1"), at("20.2.0.1"), at("20.3.0.1")}
	b.Add(now, Tracked, list)
	for round := range 3 {
		later := now.Add(time.Duration(round) * 24 * time.Hour)
		var tried []protocol.NodeID
		for range list {
			id, ok := b.Another(later, nobody)
			if !ok || slices.Contains(tried, id) {
				t.Fatalf("round %d: after %v it is the turn of %v, %v", round, tried, id, ok)
			}
			tried = append(tried, id)
			b.Unfit(later, id)
		}
		if id, ok := b.Another(later, nobody); ok {
			t.Errorf("round %d: %v is tried again at once", round, id)
		}
	}
}

// Machines of the owner's own are all in one place.
func TestLocalAddressesHaveNoRegion(t *testing.T) {
	b := newBook()
	b.local = true
	b.Add(now, Tracked, []protocol.NodeID{at("10.0.0.2"), at("20.1.0.1")})
	b.Failed(now, at("20.1.0.1"))
	if got := b.Candidates(now, 1, []protocol.NodeID{at("10.0.0.1")}, nobody); len(got) != 1 ||
		got[0] != at("10.0.0.2") {
		t.Errorf("candidates %v", got)
	}
}

// An attacker that fills the list with addresses of one region has one chance there, as everyone else.
func TestEveryRegionHasTheSameChance(t *testing.T) {
	crowd, trials := 0, 400
	for i := range trials {
		b := newBook()
		for range i {
			b.rng.Uint64()
		}
		var list []protocol.NodeID
		for j := range 60 {
			list = append(list, protocol.NewNodeID(netip.AddrFrom4([4]byte{66, 6, byte(j), 1}), 7790))
		}
		for j := range 9 {
			list = append(list, protocol.NewNodeID(netip.AddrFrom4([4]byte{67, byte(j), 0, 1}), 7790))
		}
		b.Add(now, Tracked, list)
		if got := b.Candidates(now, 1, nil, nobody); got[0].Addr().As4()[0] == 66 {
			crowd++
		}
	}
	if crowd > trials/5 || crowd == 0 {
		t.Errorf("one region of ten was picked first in %d of %d trials", crowd, trials)
	}
}
