package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// Tests of the measures of a node that its neighbors as a whole serve badly.

// warnings are those that the node told.
func (h *testHost) warnings() (list []string) {
	for _, note := range h.notes {
		if w, ok := note.(node.Warned); ok {
			list = append(list, w.Warning)
		}
	}
	return list
}

// parted counts the links that ended for a reason that begins so.
func (h *testHost) parted(reason string) (n int) {
	for _, note := range h.notes {
		if u, ok := note.(node.Unlinked); ok && strings.HasPrefix(u.Reason, reason) {
			n++
		}
	}
	return n
}

// All neighbors of a node swallow what they should bring it. It says so, once, and tries others, one an hour;
// when they serve it again it is served. (Where there are few nodes there is soon nobody left to try.)
func TestAnEclipseIsNoticed(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 30, 0)
	victim := o.list[0]
	swallowed := true
	o.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if to != victim || !swallowed {
			return nil, false
		}
		switch c := c.(type) {
		case protocol.CheckDID:
			return protocol.Seen(true), true
		case protocol.CheckDIDs:
			seen := make(protocol.SeenList, len(c.DIDs))
			for i := range seen {
				seen[i] = true
			}
			return seen, len(seen) > 0 // a neighbor that offers nothing asks whether the victim is there
		}
		return nil, false
	}
	o.run(9 * time.Minute)
	const sampled = 24 * time.Hour / (5 * time.Minute)
	linked, alone := 0, 0
	for i := range sampled {
		o.At(o.Now().Add(i*5*time.Minute), func() {
			linked += victim.node.Status().Neighbors
			if victim.node.Status().Neighbors == 0 {
				alone++
			}
		})
	}
	o.publishFor(24 * time.Hour)
	if n := len(victim.warnings()); n != 1 || victim.node.Status().Warning == "" {
		t.Fatalf("%d warnings; status: %q", n, victim.node.Status().Warning)
	}
	tried := victim.parted("it brings nothing of what own polls find")
	if tried < 3 || tried > 24 {
		t.Errorf("%d neighbors made room for others within a day", tried)
	}
	// those that came together are sent away together
	if mean := float64(linked) / float64(sampled); mean < 5.5 || alone > 0 {
		t.Errorf("it had %.1f neighbors on average, and none at %d of %d moments", mean, alone, sampled)
	}
	for _, h := range o.list[1:] {
		if len(h.warnings()) > 0 {
			t.Errorf("%s, which is served, warns: %v", h.id, h.warnings())
		}
	}
	swallowed = false
	o.publishFor(2 * time.Hour)
	calm := victim.parted("it brings nothing of what own polls find")
	o.publishFor(12 * time.Hour)
	if n := victim.parted("it brings nothing of what own polls find") - calm; n > 3 {
		t.Errorf("%d neighbors that serve it well made room for others", n)
	}
}

// Two busy days among honest nodes: nobody warns, and nobody is sent away for being of no use.
func TestAnHonestNetworkWarnsNobody(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 12, 0)
	o.run(10 * time.Minute)
	o.publishFor(2 * 24 * time.Hour)
	counted := int64(0)
	for _, h := range o.list {
		if w := h.warnings(); len(w) > 0 {
			t.Errorf("%s warns: %v", h.id, w)
		}
		if n := h.parted("it brings"); n > 0 {
			t.Errorf("%s sent %d neighbors away", h.id, n)
		}
		counted += h.node.WeekOfFirsts()
	}
	if counted < 12*100 {
		t.Errorf("%d entries were counted; nothing is shown", counted)
	}
}

// Neighbors that bring what nobody has published, or say that they keep the node at its bound, in place of what they
// should bring are noticed all the same, and make room.
func TestNothingMadeUpExcusesNeighbors(t *testing.T) {
	for name, excuse := range map[string]func(a, liar *testHost, i int){
		"entries": func(a, liar *testHost, i int) {
			var made []feed.Entry
			for k := range 10 {
				id := fmt.Sprint(i, " ", k)
				made = append(made, feed.Entry{Feed: news, ID: id, Title: id, Link: id, Published: a.net.Now()})
			}
			a.put(liar, bundleWith(made...).Via(stranger(50)))
		},
		"a word": func(a, liar *testHost, _ int) {
			kept := protocol.Statement{Deficit: 10_000, Bound: 10_000, Waiting: 3}
			a.hears(liar, protocol.StateAccount{Account: kept})
		},
	} {
		w := newNetwork(t)
		w.feed(news).window = 40
		a := w.add(node.Config{MaxNeighbors: 4, MinNeighbors: 4, Policy: polling.Fixed{Every: time.Hour}}, news)
		w.run(time.Minute)
		var liars []*testHost
		for i := range 4 {
			liars = append(liars, a.befriend(stranger(i), news))
			liars[i].script = taking
		}
		a.inside(func(n *node.Node) { n.NoteNodes(0, []protocol.NodeID{stranger(9)}) })
		for i := range 12 {
			for range 10 {
				w.publish(news)
			}
			for _, liar := range liars {
				if a.neighborOf(liar.id) {
					excuse(a, liar, i)
				}
			}
			w.run(time.Hour)
		}
		room := a.parted("it brings nothing") + a.parted("it sends nothing")
		if warned := len(a.warnings()); warned == 0 || room == 0 {
			t.Errorf("by %s: %d warnings, %d made room", name, warned, room)
		}
	}
}

// A full table of neighbors that keep us at our bound: after an hour one of them makes room, and then one an
// hour, for as long as there is somebody to try.
func TestAStarvingNodeLooksForOthers(t *testing.T) {
	w, a := newAlone(t, node.Config{MaxNeighbors: 4, MinNeighbors: 4}, news)
	w.run(time.Minute)
	kept := protocol.StateAccount{Account: protocol.Statement{Deficit: 10_000, Bound: 10_000, Waiting: 3}}
	for i := range 4 {
		id := stranger(i)
		w.play(id, vouches)
		a.inside(func(n *node.Node) {
			n.Join(id, true, "token", protocol.Subset{{Feed: news}})
		})
	}
	better := w.add(node.Config{}, news)
	w.run(time.Minute)
	a.inside(func(n *node.Node) { n.NoteNodes(0, []protocol.NodeID{better.id}) })
	say := func(c protocol.StateAccount) {
		for i := range 4 {
			if a.neighborOf(stranger(i)) {
				a.answerTo(stranger(i), "token", c)
			}
		}
	}
	w.run(10 * time.Minute)
	say(kept)
	w.run(50 * time.Minute)
	if n := a.parted("it sends nothing more"); n != 0 {
		t.Errorf("%d neighbors made room within the first hour", n)
	}
	w.run(20 * time.Minute)
	if n := a.parted("it sends nothing more"); n != 1 || !linked(a, better) {
		t.Errorf("%d neighbors made room; linked with the better one: %v", n, linked(a, better))
	}
	// Their answers are not repeated, and out of date after a while.
	w.run(3 * time.Hour)
	if a.node.Starving() {
		t.Error("what was said hours ago still counts")
	}
}

// A neighbor that leaves its bound hears it, not only one that comes to it.
func TestWhoLeavesItsBoundIsTold(t *testing.T) {
	w, a, taker := newPair(t, bound(), news)
	taker.blocked[news] = true
	for range 3 {
		w.publish(news)
		a.poll(news)
		w.run(10 * time.Second)
	}
	if !taker.node.Starving() {
		t.Fatal("it does not know that it is at its bound")
	}
	for i := range 5 {
		a.put(taker, bundleWith(feed.Entry{Feed: news, ID: strings.Repeat("x", i+1), Published: w.Now()}))
		w.run(10 * time.Second)
	}
	w.run(6 * time.Minute)
	if s := taker.node.Neighbors()[0]; taker.node.Starving() {
		t.Errorf("it was not told that it left its bound: owes %v of %v", s.Ours, s.OurBound)
	}
}

// A neighbor that keeps us at its bound brings nothing, and is no liar for it, even if it has no word for accounts:
// we know what it gave before.
func TestWhoKeepsUsAtItsBoundIsNoLiar(t *testing.T) {
	for _, gave := range []int{0, 20} {
		w, a := newAlone(t, bound(), news)
		w.run(time.Minute)
		for i := range 3 {
			w.play(stranger(i), vouches)
			a.inside(func(n *node.Node) {
				n.Join(stranger(i), true, "token", protocol.Subset{{Feed: news}})
			})
		}
		a.inside(func(n *node.Node) {
			n.Got(stranger(0), incentive.Value(gave, 0))
		})
		for range 12 {
			a.inside(func(n *node.Node) {
				n.EarnEntries(stranger(1), 3, news)
				n.EarnEntries(stranger(2), 3, news)
			})
			w.run(time.Hour)
		}
		if kept := a.neighborOf(stranger(0)); kept != (gave > 0) {
			t.Errorf("it gave %d entries before; it is kept: %v", gave, kept)
		}
	}
}

// A node that polls every quarter of an hour is the first to have nearly everything. Its neighbors, which poll
// every four hours, keep nothing from it.
func TestWhoPollsOftenAccusesNobody(t *testing.T) {
	t.Parallel()
	w := newLargeNetwork(t)
	feeds := []feed.URL{news, blog, comic}
	w.full(6, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, feeds...)
	eager := w.add(node.Config{Trackers: []string{tracker}, Policy: polling.Fixed{Every: 15 * time.Minute}}, feeds...)
	for i := range 2 * 24 * 2 {
		w.publish(feeds[i%len(feeds)])
		w.run(30 * time.Minute)
	}
	polled := eager.node.Status().Counters.Polled
	if got := eager.node.Status(); polled < 60 || got.Warning != "" {
		t.Errorf("polled %d entries first, and warns: %q", polled, got.Warning)
	}
}
