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

// Of addresses that are alike in all else those that answered once are tried first, and those that never did are
// Untested.
func TestWhoAnsweredOnceIsTriedFirst(t *testing.T) {
	for i := range 5 {
		b, told := newBook(), strangers(1, 5)
		b.Add(now, Told, told)
		b.Heard(now, told[i])
		if got := b.Candidates(now, 1, nil, nobody); len(got) != 1 || got[0] != told[i] {
			t.Errorf("%v is tried first, and %v answered", got, told[i])
		}
		b.Heard(now, told[i])
		for range 4 {
			if got, ok := b.Untested(now, nobody); !ok || got == told[i] {
				t.Errorf("untested is %v, %v", got, ok)
			}
		}
		if got, ok := b.Untested(now, nobody); ok {
			t.Errorf("untested is %v, which answered or is being tried", got)
		}
	}
}

// Another is one of those that failed least, each by the same chance.
func TestAnotherFailedLeast(t *testing.T) {
	later := now.Add(2 * longestWait)
	for _, failures := range [][]int{{0, 1, 2, 0, 0}, {2, 1, 0, 0, 0}, {1, 0, 0, 2, 0}} {
		b, told := newBook(), strangers(1, 5)
		b.Add(now, Told, told)
		for i, n := range failures {
			for range n {
				b.Failed(now, told[i])
			}
		}
		times := make(map[protocol.NodeID]int)
		for range 300 {
			got, _ := b.Another(later, nobody)
			times[got]++
			b.byID[got].trying = false
		}
		for i, n := range failures {
			if got := times[told[i]]; n > 0 && got > 0 || n == 0 && (got < 60 || got > 140) {
				t.Errorf("of %v number %d is tried %d times", failures, i, got)
			}
		}
	}
}

// The first address that waits is the next, when it is not to be tried already.
func TestNext(t *testing.T) {
	for _, often := range [][2]int{{1, 3}, {3, 1}} {
		b, told := newBook(), strangers(1, 3)
		b.Add(now, Told, told)
		if got := b.Next(now, nobody); !got.IsZero() {
			t.Errorf("nobody waits, and the next is tried at %v", got)
		}
		for i, n := range often {
			for range n {
				b.Failed(now, told[i])
			}
		}
		first, last := b.byID[told[0]].after.time(), b.byID[told[1]].after.time()
		if last.Before(first) {
			first, last = last, first
		}
		if got := b.Next(now, nobody); !got.Equal(first) {
			t.Errorf("the next is tried at %v, want %v", got, first)
		}
		if got := b.Next(first, nobody); !got.Equal(last) {
			t.Errorf("when the first may be tried the next is at %v, want %v", got, last)
		}
	}
}

// Nobody is Best who is worth nothing, and then nothing is put into the Book.
func TestBestOfNothing(t *testing.T) {
	b := newBook()
	b.Add(now, Told, []protocol.NodeID{id(1)})
	for _, worth := range []map[protocol.NodeID]Usefulness{nil, {id(1): 0}, {id(2): 0}, {id(2): -One}} {
		if got, ok := b.Best(now, worth); ok || b.Len() != 1 {
			t.Errorf("of %v the best is %v, of %d addresses", worth, got, b.Len())
		}
	}
}

// Who has no place is asked again within five minutes, however often that was so.
func TestWhoDeclinesIsAskedAgainSoon(t *testing.T) {
	b, at := newBook(), now
	b.Declined(at, id(2)) // unknown
	b.Add(at, Told, []protocol.NodeID{id(1)})
	for range 20 {
		b.Declined(at, id(1))
		if b.Ready(at, nobody) || !b.Ready(at.Add(5*time.Minute), nobody) {
			t.Error("it is asked at once, or not within five minutes")
		}
		at = at.Add(5 * time.Minute)
	}
}

// Where one stranger did not answer its network is left alone for a while, but for the network of this machine; so many
// networks are known.
func TestWhichNetworksAreLeftAlone(t *testing.T) {
	for source, want := range map[Origin]bool{Near: true, Told: false} {
		b, one := newBook(), netip.MustParseAddr("20.9.9.1")
		ids := []protocol.NodeID{protocol.NewNodeID(one, 7790), protocol.NewNodeID(one.Next(), 7790)}
		b.Add(now, source, ids)
		b.Failed(now, ids[0])
		if got := b.Ready(now, nobody); got != want {
			t.Errorf("another of the network may be tried, by source %d: %v", source, got)
		}
	}
	b := newBook()
	for _, wait := range []time.Duration{firstWait, 2 * firstWait, 4 * firstWait} { // it grows with each
		b.rest(now, &address{id: id(1), source: Told})
		if got := b.failing[0].after.Sub(now); got != wait {
			t.Errorf("a network is left alone for %v, want %v", got, wait)
		}
	}
	for i := range maxFailing {
		b.rest(now, &address{id: id(1), source: Told, network: packedNetwork(i)})
	}
	if len(b.failing) != maxFailing {
		t.Errorf("%d networks are left alone", len(b.failing))
	}
	if b.rest(now, &address{id: id(1), source: Told, network: maxFailing}); len(b.failing) > maxFailing {
		t.Errorf("%d networks are left alone", len(b.failing))
	}
}
