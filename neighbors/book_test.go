package neighbors

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

func newBook(peers ...protocol.FormerNeighbor) *Book {
	return NewBook(now, rand.New(rand.NewPCG(1, 2)), false, peers)
}

// chosen is a neighbor since now that we asked.
func chosen(id protocol.NodeID) *Neighbor { return &Neighbor{ID: id, Since: now, Chosen: true} }

func nobody(protocol.NodeID) bool { return false }

func TestCandidatesInOrder(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(1), Together: time.Hour},
		protocol.FormerNeighbor{ID: id(2), Together: 5 * time.Hour})
	b.Add(now, Tracked, []protocol.NodeID{id(3)})
	b.Add(now, Listed, []protocol.NodeID{id(4)})
	got := b.Candidates(now, 10, nil, nobody)
	want := []protocol.NodeID{id(2), id(1), id(4), id(3)}
	if len(got) != 4 {
		t.Fatalf("candidates: %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("candidate %d is %v, want %v", i, got[i], want[i])
		}
	}
	if again := b.Candidates(now, 10, nil, nobody); len(again) != 0 {
		t.Errorf("%v are being tried already", again)
	}
}

func TestTwoOfASourceAtATime(t *testing.T) {
	b := newBook()
	for i := range 20 {
		b.Add(now, Tracked, []protocol.NodeID{id(i)})
	}
	if got := b.Candidates(now, 10, nil, nobody); len(got) != 2 {
		t.Errorf("%d addresses of one source are tried at a time", len(got))
	}
}

func TestFailuresAreTriedEverMoreRarely(t *testing.T) {
	b := newBook()
	b.Add(now, Tracked, []protocol.NodeID{id(1)})
	at, last := now, time.Duration(0)
	for range 12 {
		if got := b.Candidates(at, 1, nil, nobody); len(got) != 1 {
			t.Fatal("the address is not tried when its time has come")
		}
		b.Failed(at, id(1))
		if got := b.Candidates(at, 1, nil, nobody); len(got) != 0 {
			t.Fatal("the address is tried again at once")
		}
		next := b.Next(at, nobody)
		wait := next.Sub(at)
		if wait < last && wait < longestWait {
			t.Errorf("waited %v after %v", wait, last)
		}
		if wait > longestWait*5/4 {
			t.Errorf("waits %v", wait)
		}
		at, last = next, wait
	}
	b.Met(at, chosen(id(1)))
	if got := b.Candidates(at, 1, nil, nobody); len(got) != 1 {
		t.Error("a node that became a neighbor and is one no more is not tried")
	}
}

func TestRememberedNeighborsAreNotPushedOut(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(0), Together: time.Hour})
	for i := range 3000 {
		a := netip.AddrFrom4([4]byte{20, byte(1 + i/250), byte(i % 250), 9})
		b.Add(now, Tracked, []protocol.NodeID{protocol.NewNodeID(a, 7790)})
	}
	if b.Len() != 1+maxOfSource {
		t.Errorf("the book holds %d addresses, want the remembered one and one source's part", b.Len())
	}
	if got := b.Candidates(now, 1, nil, nobody); len(got) != 1 || got[0] != id(0) {
		t.Errorf("first candidate is %v, want the remembered one", got)
	}
}

func TestTogetherAddsUp(t *testing.T) {
	b := newBook()
	if _, forgotten := b.Met(now, chosen(id(1))); !forgotten.IsZero() {
		t.Errorf("%v was forgotten for want of room", forgotten)
	}
	p := b.Parted(now.Add(time.Hour), chosen(id(1)))
	if p.Together != time.Hour || !p.FirstMet.Equal(now) || !p.LastMet.Equal(now.Add(time.Hour)) {
		t.Errorf("remembered as %+v", p)
	}
}

// A victim under a thousand ports, or a network of the namer's own, fills two places.
func TestTwoOfANetworkAreTaken(t *testing.T) {
	b := newBook()
	for i := range 1000 {
		b.Add(now, Tracked, []protocol.NodeID{protocol.NewNodeID(id(1).Addr(), uint16(2000+i))})
	}
	if b.Len() != 2 {
		t.Errorf("%d addresses of one network are in the book", b.Len())
	}
}

func TestTheBookStaysBounded(t *testing.T) {
	var peers []protocol.FormerNeighbor
	for i := range 2000 {
		a := netip.AddrFrom4([4]byte{21, byte(i / 250), byte(i % 250), 9})
		peers = append(peers, protocol.FormerNeighbor{ID: protocol.NewNodeID(a, 7790),
			Together: time.Duration(i) * time.Minute})
	}
	b := newBook(peers...)
	if b.Len() != maxAddresses {
		t.Fatalf("%d addresses are in the book", b.Len())
	}
	forgotten := 0
	for i := range 500 {
		if _, gone := b.Met(now, chosen(id(i))); !gone.IsZero() {
			forgotten++
		}
	}
	if b.Len() != maxAddresses || forgotten < 200 {
		t.Errorf("%d addresses are in the book, %d were forgotten", b.Len(), forgotten)
	}
	if got := b.Candidates(now, 1, nil, nobody); len(got) != 1 || got[0] != peers[1999].ID {
		t.Errorf("first candidate is %v, want the one that we were linked with longest", got)
	}
}

// A remembered neighbor that did not answer is tried later; that it failed makes it no place for others.
func TestARememberedNeighborMayFail(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(0), Together: time.Hour})
	b.Candidates(now, 1, nil, nobody)
	b.Failed(now, id(0))
	for source := Listed; source < sources; source++ {
		b.Add(now, source, strangers(int(source), 1000))
	}
	later := now.Add(time.Hour)
	if got := b.Candidates(later, 1, nil, nobody); len(got) != 1 || got[0] != id(0) {
		t.Errorf("first candidate is %v, want the remembered one", got)
	}
}

// strangers are nodes on networks of their own.
func strangers(kind, n int) (list []protocol.NodeID) {
	for i := range n {
		a := netip.AddrFrom4([4]byte{byte(30 + kind), byte(i / 250), byte(i % 250), 9})
		list = append(list, protocol.NewNodeID(a, 7790))
	}
	return list
}

// Addresses that one source names leave the part of the others alone, and push out of its own those that failed.
func TestEachSourceHasItsPart(t *testing.T) {
	b := newBook()
	told, tracked := strangers(1, maxAddresses), strangers(2, 10)
	b.Add(now, Told, told)
	if b.Len() != maxOfSource {
		t.Errorf("one source fills %d places, want %d", b.Len(), maxOfSource)
	}
	b.Add(now, Tracked, tracked)
	if b.Len() != maxOfSource+len(tracked) {
		t.Errorf("%d addresses after another source named %d", b.Len(), len(tracked))
	}
	b.Failed(now, told[3])
	b.Failed(now, tracked[0])
	b.Add(now, Told, told[maxOfSource:])
	if b.Len() != maxOfSource+len(tracked) || b.byID[told[3]] != nil || b.byID[told[maxOfSource]] == nil ||
		b.byID[told[maxOfSource+1]] != nil {
		t.Error("a newcomer does not take the place of the one that failed, or takes more than that")
	}
	if b.byID[tracked[0]] == nil {
		t.Error("another source's address was pushed out")
	}
}

func TestReady(t *testing.T) {
	b := newBook()
	if b.Ready(now, nobody) {
		t.Error("an empty book has somebody to try")
	}
	b.Add(now, Tracked, []protocol.NodeID{id(1)})
	if !b.Ready(now, nobody) || b.Ready(now, func(protocol.NodeID) bool { return true }) {
		t.Error("the one address is not ready, or one that does not count is")
	}
	b.Candidates(now, 1, nil, nobody)
	if b.Ready(now, nobody) {
		t.Error("what is being tried is ready")
	}
	b.Failed(now, id(1))
	if b.Ready(now, nobody) || !b.Ready(b.Next(now, nobody), nobody) {
		t.Error("what failed is ready at once, or never again")
	}
}

func TestForgetting(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(1), Together: time.Hour},
		protocol.FormerNeighbor{ID: id(2), Together: time.Hour})
	b.Forget(id(1))
	b.Forget(id(3))
	if got := b.Candidates(now, 5, nil, nobody); len(got) != 1 || got[0] != id(2) {
		t.Errorf("candidates: %v", got)
	}
	b.Failed(now, id(1)) // what is said of it afterwards changes nothing
	if b.Len() != 1 {
		t.Errorf("the book holds %d addresses", b.Len())
	}
}

// A neighbor that the book had no room for is remembered when its link ends.
func TestPartingFromOneThatIsNotInTheBook(t *testing.T) {
	b := newBook()
	p := b.Parted(now.Add(time.Hour), chosen(id(1)))
	if p.Together != time.Hour || b.Len() != 1 {
		t.Errorf("remembered as %+v, the book holds %d", p, b.Len())
	}
	if got := b.Candidates(now.Add(time.Hour), 1, nil, nobody); len(got) != 0 {
		t.Error("it is called the moment that it went")
	}
}

// Two addresses are on one network as it is kept if, and only if, they are on one.
func TestNetworks(t *testing.T) {
	addrs := []string{"192.0.2.7", "192.0.2.8", "192.0.3.7", "193.0.2.7", "2001:db8::1", "2001:db8:0:1::1",
		"2001:db8:1::1", "c000:200::", "::"}
	for _, x := range addrs {
		for _, y := range addrs {
			a, b := netip.MustParseAddr(x), netip.MustParseAddr(y)
			same := networkOf(protocol.NewNodeID(a, 7790)) == networkOf(protocol.NewNodeID(b, 7790))
			bits := map[bool]int{true: 24, false: 48}[a.Is4()]
			if want := netip.PrefixFrom(a, bits).Contains(b); same != want {
				t.Errorf("%s and %s are on one network: %v, want %v", x, y, same, want)
			}
		}
	}
}

// Neighbors of earlier that came by themselves have the part of one source, and no source has one where all is full.
func TestPartsOfTheBook(t *testing.T) {
	var peers []protocol.FormerNeighbor
	for i, id := range strangers(1, maxOfSource+50) {
		peers = append(peers, protocol.FormerNeighbor{ID: id, LastMet: now})
		if i < 10 {
			peers[i].Together = time.Hour
		}
	}
	if b := newBook(peers...); b.count(Remembered) != 10 || b.count(Came) != maxOfSource {
		t.Errorf("%d are remembered that we chose, and %d that came", b.count(Remembered), b.count(Came))
	}
	b := newBook()
	for source := Near; source <= Told; source++ {
		b.Add(now, source, strangers(int(source), maxOfSource))
	}
	if b.Add(now, Announced, strangers(int(Announced), 3)); b.Len() != maxAddresses || b.count(Announced) != 0 {
		t.Errorf("%d addresses, %d of them beyond the bound", b.Len(), b.count(Announced))
	}
}

// The one that failed most goes first, wherever it stands.
func TestWhoFailedMostGoesFirst(t *testing.T) {
	for _, most := range []int{0, 1, 7} {
		b, told := newBook(), strangers(1, maxOfSource+1)
		b.Add(now, Told, told[:maxOfSource])
		for _, i := range []int{0, 1, 7, most} {
			b.Failed(now, told[i])
		}
		b.Add(now, Told, told[maxOfSource:])
		for _, i := range []int{0, 1, 7, maxOfSource} {
			if held := b.byID[told[i]] != nil; held == (i == most) {
				t.Errorf("%d failed most, and the book has %d: %v", most, i, held)
			}
		}
	}
}

// A stranger is forgotten that is none of those who were neighbors once.
func TestForgettingStrangers(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(1), LastMet: now, Together: time.Hour})
	b.Add(now, Told, []protocol.NodeID{id(2)})
	for i := 1; i <= 3; i++ {
		b.ForgetStranger(id(i))
	}
	if b.Len() != 1 || b.byID[id(1)] == nil {
		t.Errorf("%d addresses are left", b.Len())
	}
}
