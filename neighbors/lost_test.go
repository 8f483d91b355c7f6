package neighbors

import (
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

// A neighbor of our own choice that was lost is tried again, first after an hour, then ever more seldom, and no
// more after a week.
func TestLostNeighborsAreMissed(t *testing.T) {
	chosen, came := at("20.1.0.1"), at("30.1.0.1")
	b, now := newBook(), now
	lose := func(id protocol.NodeID, ours bool) {
		n := &Neighbor{ID: id, Since: now, Chosen: ours}
		b.Met(now, n)
		b.Parted(now, n)
		b.Lost(now, id)
	}
	lose(chosen, true)
	lose(came, false)
	began := now
	var tried []int // hours after
	for now.Sub(began) < 10*24*time.Hour {
		now = now.Add(5 * time.Minute)
		if id, ok := b.Missed(now, nobody); ok {
			if id != chosen {
				t.Fatalf("%s, which came by itself, is missed", id)
			}
			if _, again := b.Missed(now, nobody); again {
				t.Fatal("it is tried twice at a time")
			}
			if slices.Contains(b.Candidates(now, 9, nil, nobody), id) {
				t.Fatal("it is tried for another reason at the same time")
			}
			tried = append(tried, int(now.Sub(began).Hours()))
			b.Failed(now, id)
		}
	}
	if len(tried) < 20 || len(tried) > 30 || tried[0] != 1 || tried[1] < 3 || tried[2] < 7 ||
		tried[len(tried)-1] >= 7*24 {
		t.Errorf("tried after %v hours", tried)
	}
}

// A node that is back, or is a neighbor again, is missed no more; of several the one that we were linked with longest
// is tried first.
func TestWhoIsBackIsNotMissed(t *testing.T) {
	b, now := newBook(), now
	var all []*Neighbor
	for i, addr := range []string{"20.1.0.1", "20.2.0.1", "20.3.0.1"} {
		n := &Neighbor{ID: at(addr), Since: now.Add(-time.Duration(i) * time.Hour), Chosen: true}
		b.Met(now, n)
		b.Parted(now, n)
		b.Lost(now, n.ID)
		all = append(all, n)
	}
	b.Met(now, all[2])
	b.Parted(now, all[2]) // in order, this time
	now = now.Add(2 * time.Hour)
	var got []protocol.NodeID
	for {
		id, ok := b.Missed(now, func(id protocol.NodeID) bool { return id == at("20.9.0.1") })
		if !ok {
			break
		}
		got = append(got, id)
	}
	if want := []protocol.NodeID{all[1].ID, all[0].ID}; !slices.Equal(got, want) {
		t.Errorf("%v are missed, want %v", got, want)
	}
}
