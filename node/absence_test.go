package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A node that had no neighbors for hours is offered what went round meanwhile, by neighbors that were restarted in
// the last of them; a node that is new is not.
func TestWhoWasAwayCatchesUp(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, b, away := hosts[0], hosts[1], hosts[2]
	away.kill()
	w.run(2 * time.Hour)
	missed := []*protocol.Bundle{one("alone"), one("within the same second"), bundleWith(
		feed.Entry{Feed: news, ID: "together", Title: "T"}, feed.Entry{Feed: news, ID: "with this", Title: "T"})}
	for i, bundle := range missed {
		a.put(b, bundle)
		w.run(time.Duration(i) * time.Minute)
	}
	w.run(3 * time.Hour)
	a.kill()
	b.kill()
	a.start()
	w.run(time.Minute)
	newcomer := w.add(node.Config{Trackers: []string{tracker}}, news)
	away.start()
	w.run(5 * time.Minute)
	for _, bundle := range missed {
		for _, e := range bundle.Entries {
			if !away.has(e.EntryID()) {
				t.Errorf("a node that was away does not have %q", e.ID)
			}
			if newcomer.has(e.EntryID()) && newcomer.record(e.EntryID()).Source != away.id {
				t.Errorf("a newcomer was offered %q", e.ID)
			}
		}
	}
	if !newcomer.node.AwaySince().IsZero() {
		t.Error("a newcomer believes that it was away")
	}
}

// A node that is asked for a link within a quarter of an hour hears how long the node was away, and nobody afterwards;
// nor where it was no longer than an hour.
func TestAnAbsenceIsSaid(t *testing.T) {
	for _, tt := range []struct{ gone, at, want time.Duration }{
		{0, 0, 0}, {50 * time.Minute, 0, 0}, {5 * time.Hour, 0, 5 * time.Hour},
		{5 * time.Hour, 10 * time.Minute, 5 * time.Hour}, {5 * time.Hour, 20 * time.Minute, 0},
	} {
		w := newNetwork(t)
		hosts := w.full(2, node.Config{}, news)
		a := hosts[0]
		if tt.gone > 0 {
			a.kill()
			w.run(tt.gone)
			a.start()
			w.run(time.Minute)
		}
		w.run(tt.at)
		var said []time.Duration
		other := w.play(stranger(1), func(_ *testHost, c node.Call) protocol.Reply {
			if c, ok := c.Call.(protocol.Connect); ok {
				said = append(said, c.Away)
			}
			return nil
		})
		a.inside(func(n *node.Node) { n.Connect(other.id, func(error) {}) })
		w.run(time.Second)
		if !linked(a, hosts[1]) || len(said) != 1 || said[0] < tt.want || said[0] > tt.want+15*time.Minute ||
			tt.want == 0 && said[0] != 0 {
			t.Errorf("%v after %v without neighbors it says %v, want %v", tt.at, tt.gone, said, tt.want)
		}
	}
}

// A neighbor that was met by a clock that was ahead once says nothing of how long the node was away.
func TestAnAbsenceBySomeOtherClock(t *testing.T) {
	const gone = 5 * time.Hour
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	a := hosts[0]
	a.put(hosts[1], one("x"))
	w.run(time.Minute)
	a.kill()
	hosts[1].kill()
	a.store.KeepPeer(protocol.FormerNeighbor{ID: stranger(1), FirstMet: w.Now(),
		LastMet: w.Now().Add(80 * 365 * 24 * time.Hour)})
	w.run(gone)
	a.start()
	w.run(time.Second)
	if len(a.node.Recent()) == 0 {
		t.Error("it remembers nothing of what went round")
	}
	if away := a.node.Away(); away < gone || away > gone+15*time.Minute {
		t.Errorf("it was away for %v, want %v", away, gone)
	}
}

// A link that does not last ends no absence, and the network that is lost while the node runs is one.
func TestAnAbsenceEndsWithALinkThatLasts(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	b.kill()
	w.run(4 * time.Hour)
	for range 2 {
		b.start()
		w.run(3 * time.Minute)
		b.kill()
		w.run(4 * time.Minute)
	}
	if away := a.node.Away(); a.node.Status().Neighbors > 0 || away < 4*time.Hour || away > 5*time.Hour {
		t.Errorf("with %d neighbors it was away for %v", a.node.Status().Neighbors, away)
	}
	w.run(2 * time.Hour)
	if away := a.node.Away(); away < 2*time.Hour || away > 3*time.Hour {
		t.Errorf("two hours later it was away for %v", away)
	}
}

// A publisher may have taken back what came out while the node was away: a neighbor that brings that is not blamed, as
// a liar is that invents something new.
func TestNobodyIsBlamedForWhatCameOutDuringAnAbsence(t *testing.T) {
	for name, want := range map[string]struct {
		away   time.Duration
		forged int64
	}{
		"hours":    {4 * time.Hour, 0},
		"a moment": {0, 1},
	} {
		w := skeptics(t, 2)
		a, b := w.list[0], w.list[1]
		a.kill()
		w.run(want.away / 2)
		old := w.junk("taken back")
		w.run(want.away / 2)
		a.start()
		w.run(2 * time.Minute)
		a.take(b, old)
		w.publish(news) // or a poll would show no document
		w.run(3 * time.Hour)
		if c := a.node.Status().Counters; c.Forged != want.forged ||
			a.node.Refused(b.id) != (want.forged > 0) {
			t.Errorf("%s: %d are forged, the neighbor is refused: %v", name, c.Forged,
				a.node.Refused(b.id))
		}
	}
}
