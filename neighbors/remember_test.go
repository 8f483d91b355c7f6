package neighbors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

const day = 24 * time.Hour

// An address that never answered leaves the book after a week, one that did after 90 days; a neighbor stays.
func TestTheBookAges(t *testing.T) {
	b := newBook(protocol.FormerNeighbor{ID: id(1), LastMet: now.Add(-10 * day), Together: time.Hour},
		protocol.FormerNeighbor{ID: id(2), LastMet: now.Add(-89 * day)})
	b.Add(now, Tracked, []protocol.NodeID{id(3), id(4), id(5)})
	b.Heard(now, id(4))
	b.Met(now, chosen(id(5)))
	for _, c := range []struct {
		days int
		gone []protocol.NodeID
		left int
	}{
		{0, nil, 5},
		{2, []protocol.NodeID{id(2)}, 4},
		{7, nil, 4},
		{8, nil, 3}, // the one that never answered
		{81, []protocol.NodeID{id(1)}, 2},
		{90, nil, 2},
		{91, nil, 1}, // the one that answered once
		{1000, nil, 1},
	} {
		gone := b.Age(now.Add(time.Duration(c.days) * day))
		if !slices.Equal(gone, c.gone) || b.Len() != c.left {
			t.Errorf("after %d days: of earlier neighbors %v are gone, want %v; %d are left, want %d", c.days, gone,
				c.gone, b.Len(), c.left)
		}
	}
}

// Neighbors of earlier that we had chosen are tried before all that others name, those that we had for longest first.
func TestRememberedNeighborsComeFirst(t *testing.T) {
	met := func(i int, ago, together time.Duration) protocol.FormerNeighbor {
		return protocol.FormerNeighbor{ID: id(i), FirstMet: now.Add(-50 * day), LastMet: now.Add(-ago),
			Together: together}
	}
	b := NewBook(now, rand.New(rand.NewPCG(1, 2)), false, []protocol.FormerNeighbor{
		met(1, time.Hour, 0), // came by itself
		met(2, time.Hour, day),
		met(3, time.Hour, 3*day),
		met(4, time.Hour, 2*day),
	})
	b.Add(now, Tracked, []protocol.NodeID{id(5), id(6)})
	if got := b.Candidates(now, 2, nil, nobody); !slices.Equal(got, []protocol.NodeID{id(3), id(4)}) {
		t.Errorf("tried first: %v", got)
	}
	b.Failed(now, id(3))
	if got := b.Candidates(now.Add(time.Minute), 1, nil, nobody); !slices.Equal(got, []protocol.NodeID{id(2)}) {
		t.Errorf("then: %v", got)
	}
}

// Time together counts where we asked; a node that came by itself is remembered behind all others.
func TestWhoCameIsRememberedLast(t *testing.T) {
	b := newBook()
	came, later := &Neighbor{ID: id(1), Since: now}, now.Add(time.Hour)
	b.Met(now, came)
	b.Met(now, chosen(id(2)))
	if p := b.Remembered(later, came); p.Together != 0 || !p.LastMet.Equal(later) {
		t.Errorf("one that came is remembered as %+v", p)
	}
	if p := b.Remembered(later, chosen(id(2))); p.Together != time.Hour {
		t.Errorf("one that we chose is remembered as %+v", p)
	}
	b.Parted(later, came)
	b.Parted(later, chosen(id(2)))
	b.Add(later, Told, []protocol.NodeID{id(3)})
	if got := b.Candidates(later.Add(time.Hour), 9, nil, nobody); !slices.Equal(got,
		[]protocol.NodeID{id(2), id(3), id(1)}) {
		t.Errorf("candidates: %v", got)
	}
}

// Thousands come for a moment: those that we know for long are not forgotten for them, nor what was named.
func TestAFloodOfMomentsFillsAPart(t *testing.T) {
	b := newBook()
	friend := &Neighbor{ID: id(1), Since: now}
	b.Met(now, friend)
	b.Parted(now.Add(time.Hour), friend)
	b.Add(now, Tracked, strangers(1, 100))
	for _, s := range strangers(2, 2000) {
		n := &Neighbor{ID: s, Since: now}
		b.Met(now, n)
		b.Parted(now.Add(time.Second), n)
	}
	if b.Len() != maxOfSource+100 || b.byID[id(1)] == nil {
		t.Errorf("the book holds %d addresses, the friend: %v", b.Len(), b.byID[id(1)] != nil)
	}
}

// Acquaintances are nodes that were neighbors: first the ones that we chose, however long others were, then those that
// were for longest; no more of them than there are places, and none that was merely named.
func TestAcquaintances(t *testing.T) {
	var peers []protocol.FormerNeighbor
	for i := range 2 * maxAcquaintances {
		peers = append(peers, protocol.FormerNeighbor{ID: id(100 + i), FirstMet: now.Add(-time.Duration(i+2) * day),
			LastMet: now.Add(-day)})
	}
	peers = append(peers, protocol.FormerNeighbor{ID: id(1), FirstMet: now.Add(-2 * day),
		LastMet: now.Add(-day), Together: time.Hour})
	b := newBook(peers...)
	b.Add(now, Tracked, []protocol.NodeID{id(3)})
	b.Met(now, chosen(id(5)))
	list := b.Acquaintances()
	if len(list) != maxAcquaintances || list[0] != id(1) || list[1] != peers[2*maxAcquaintances-1].ID {
		t.Errorf("%v", list)
	}
	if !b.Acquainted(id(1)) || b.Acquainted(id(3)) || b.Acquainted(peers[0].ID) {
		t.Error("one that is named is an acquaintance, or one that was a neighbor is none")
	}
}

// A neighbor whose link is over is tried again after some seconds.
func TestWhoPartedIsTriedAgain(t *testing.T) {
	for range 20 {
		b := newBook()
		b.Met(now, chosen(id(1)))
		b.Parted(now, chosen(id(1)))
		if b.Ready(now.Add(firstWait/3-1), nobody) || !b.Ready(now.Add(firstWait+firstWait/3), nobody) {
			t.Error("it is tried at once, or much later")
		}
	}
}
