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

// Who is heard to poll most of our feeds is tried first, then those heard to poll fewer, and one that was of no use
// counts half. However many addresses of a network are made up, two are tried; and none of them for a free place.
func TestWhoIsWorthMostIsNext(t *testing.T) {
	b := newBook()
	b.Add(now, Tracked, []protocol.NodeID{at("20.1.0.1")})
	worth := map[protocol.NodeID]Usefulness{at("20.1.0.1"): 5, at("20.2.0.1"): 7, at("20.3.0.1"): 0}
	for i := range byte(100) {
		worth[protocol.NewNodeID(netip.AddrFrom4([4]byte{66, 6, 6, i}), 7790)] = 13
	}
	var tried []string
	for hour := range 7 {
		later := now.Add(time.Duration(hour) * 24 * time.Hour)
		id, ok := b.Best(later, worth)
		if !ok {
			t.Fatalf("after %v nobody", tried)
		}
		tried = append(tried, id.Addr().String())
		b.Unfit(later, id)
	}
	want := []string{"66.6.6.0", "66.6.6.1", "20.2.0.1", "66.6.6.0", "66.6.6.1", "20.1.0.1", "20.2.0.1"}
	if !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	later := now.Add(9 * 24 * time.Hour)
	if got := b.Candidates(later, 9, nil, nobody); len(got) != 1 || got[0] != at("20.1.0.1") {
		t.Errorf("for a free place %v, want what the tracker named", got)
	}
	b.Failed(later, at("20.1.0.1"))
	b.Add(later, Tracked, []protocol.NodeID{at("20.2.0.1")})
	if got := b.Candidates(later, 9, nil, nobody); len(got) != 1 || got[0] != at("20.2.0.1") {
		t.Errorf("for a free place %v, want what the tracker names now", got)
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
