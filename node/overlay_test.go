package node_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// Whole networks of the real core: does the overlay serve the nodes that serve it?

// overlay is a network of nodes that each follow some of the same feeds, with the bound of the paper.
type overlay struct {
	*network
	feeds []feed.URL
	when  map[feed.EntryID]time.Time // of publication
	bad   map[*testHost]bool         // the last of them, which have a habit
}

// newOverlay makes a network of that many nodes. Each follows 10 of 30 feeds and polls them every four
// hours; the last riders of them never offer anything. The others follow and poll as they would without.
func newOverlay(t *testing.T, nodes, riders int) *overlay {
	return newOverlayOf(t, nodes, riders, node.Config{Incentive: incentive.Config{Bound: 10}})
}

// newOverlayOf is the same with a Config of the test's own.
func newOverlayOf(t *testing.T, nodes, riders int, c node.Config) *overlay {
	return newOverlayWith(t, nodes, riders, c, freeRider)
}

func freeRider(n *node.Node) lab.Actor { return actor.FreeRider(n) }

// newOverlayWith is the same where the last of the nodes have another habit.
func newOverlayWith(t *testing.T, nodes, bad int, c node.Config, habit habit) *overlay {
	return newOverlayOn(newLargeNetwork(t), nodes, bad, c, habit)
}

// newOverlayOn is the same on a network without nodes.
func newOverlayOn(w *network, nodes, bad int, c node.Config, habit habit) *overlay {
	o := &overlay{network: w, when: make(map[feed.EntryID]time.Time), bad: make(map[*testHost]bool)}
	for i := range 30 {
		u := feed.URL(fmt.Sprintf("https://feed%d.example.com/", i))
		o.feeds = append(o.feeds, u)
		o.feed(u)
	}
	c.Trackers, c.Policy = []string{tracker}, polling.Fixed{Every: 4 * time.Hour}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range nodes {
		var follows []feed.URL
		for _, j := range rng.Perm(len(o.feeds))[:10] {
			follows = append(follows, o.feeds[j])
		}
		if i == nodes-bad {
			o.habit = habit
		}
		h := o.add(c, follows...)
		o.bad[h] = o.habit != nil
	}
	o.habit = nil
	return o
}

// publishFor has the feeds publish for a while: about every two hours each, one after the other.
func (o *overlay) publishFor(d time.Duration) {
	rng := rand.New(rand.NewPCG(5, 6))
	for end := o.Now().Add(d); o.Now().Before(end); {
		o.run(time.Duration(rng.Int64N(int64(8 * time.Minute))))
		u := o.feeds[rng.IntN(len(o.feeds))]
		o.when[o.publish(u)] = o.Now()
	}
	o.run(4*time.Hour + time.Minute) // the last poll of everyone
}

// service is how the entries published after from came to the nodes that count.
type service struct {
	coverage float64       // share of the entries of one's feeds
	lag      time.Duration // mean
	fromPeer float64       // share of the entries of one's feeds that a neighbor brought first
}

// add adds one of so many services to their mean.
func (s *service) add(one service, of int) {
	s.coverage += one.coverage / float64(of)
	s.lag += one.lag / time.Duration(of)
	s.fromPeer += one.fromPeer / float64(of)
}

func (o *overlay) service(counts func(*testHost) bool, from time.Time) service {
	var want, got, peer int
	var lag time.Duration
	for _, h := range o.list {
		if !counts(h) {
			continue
		}
		records, err := h.store.Search(o.t.Context(), feed.Filter{Limit: 1 << 20})
		if err != nil {
			o.t.Fatal(err)
		}
		arrived := make(map[feed.EntryID]archive.Record, len(records))
		for _, r := range records {
			arrived[r.ID] = r
		}
		for _, f := range h.node.Feeds() {
			for i := range o.network.feeds[f.URL].entries {
				id := o.network.feeds[f.URL].entries[i].EntryID()
				at := o.when[id]
				if at.Before(from) {
					continue
				}
				want++
				if r, ok := arrived[id]; ok {
					got++
					lag += max(0, r.Seen.Sub(at))
					if !r.Source.IsZero() {
						peer++
					}
				}
			}
		}
	}
	return service{float64(got) / float64(want), lag / time.Duration(got), float64(peer) / float64(want)}
}

// Paper §3.5: "Without proper incentive mechanisms and the detection of misbehavior, the system may become
// full of free riders."
func TestFreeRidersGainNothingAndCostNothing(t *testing.T) {
	t.Parallel()
	const nodes, riders, orders = 60, 15, 3
	from := epoch.Add(8 * time.Hour) // after the first credit is used up
	play := func(o *overlay) *overlay {
		o.run(10 * time.Minute)
		o.publishFor(20 * time.Hour)
		return o
	}
	base := play(newOverlay(t, nodes-riders, 0)).service(func(*testHost) bool { return true }, from)
	var got, rider service // means over the orders in which the tracker names the nodes: one alone says little
	for order := range uint64(orders) {
		with := newOverlay(t, nodes, riders)
		with.rng = rand.New(rand.NewPCG(1, 2+order))
		play(with)
		got.add(with.service(func(h *testHost) bool { return !with.bad[h] }, from), orders)
		rider.add(with.service(func(h *testHost) bool { return with.bad[h] }, from), orders)
	}
	t.Logf("without riders: %.1f%% covered, lag %v; honest among riders: %.1f%%, %v; riders: %.1f%%, %v, %.1f%% from "+
		"neighbors",
		100*base.coverage, base.lag.Round(time.Second), 100*got.coverage, got.lag.Round(time.Second),
		100*rider.coverage, rider.lag.Round(time.Second), 100*rider.fromPeer)
	if got.coverage < 0.95*base.coverage {
		t.Errorf("the honest get %.1f%% of their entries among free riders, %.1f%% without", 100*got.coverage,
			100*base.coverage)
	}
	if got.lag > base.lag*110/100 {
		t.Errorf("the honest wait %v among free riders, %v without", got.lag, base.lag)
	}
	if rider.fromPeer > 0.02 { // an entry from each node that they meet first, and no more
		t.Errorf("free riders get %.1f%% of their entries from neighbors", 100*rider.fromPeer)
	}
}

// Coverage: every own feed is offered twice, within minutes.
func TestEveryFeedIsCoveredTwice(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 60, 0)
	o.run(10 * time.Minute)
	short := 0
	for _, h := range o.list {
		for _, s := range h.node.Feeds() {
			if s.Offered < 2 {
				short++
			}
		}
		if n := h.node.Status().Neighbors; n < 8 || n > 10 {
			t.Errorf("%s has %d neighbors", h.id, n)
		}
	}
	if short != 0 {
		t.Errorf("%d of 600 subscriptions are offered by fewer than two neighbors", short)
	}
}

// A tenth of the nodes vanishes: within two minutes nobody counts on them any more, and nodes that lost neighbors have
// found others.
func TestTheOverlayHeals(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 60, 0)
	o.run(20 * time.Minute)
	dead := map[protocol.NodeID]bool{}
	for _, h := range o.list[:6] {
		dead[h.id] = true
		h.kill()
	}
	// They are noticed when there is something to say to them.
	for _, u := range o.feeds {
		for _, h := range o.list[6:] {
			if h.node.Feed(u) != nil {
				o.publish(u)
				h.node.PollAt(u, o.Now())
				break
			}
		}
	}
	o.run(2 * time.Minute)
	stale, poor := 0, 0
	for _, h := range o.list[6:] {
		for _, id := range h.node.LinkIDs() {
			if dead[id] {
				stale++
			}
		}
		if h.node.Status().Neighbors < 8 {
			poor++
		}
	}
	if stale > 0 || poor > 0 {
		t.Errorf("after two minutes %d links lead to the dead, and %d nodes have fewer than eight neighbors", stale,
			poor)
	}
}

// Where nobody has anything to say, the dead are noticed and replaced within eight minutes all the same.
func TestTheOverlayHealsInSilence(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 60, 0)
	o.run(20 * time.Minute)
	for _, h := range o.list[:6] {
		h.kill()
	}
	o.run(noticed + time.Minute)
	for _, h := range o.list[6:] {
		for _, id := range h.node.LinkIDs() {
			if !o.hosts[id].Running() {
				t.Errorf("%s counts on %s, which is dead", h.id, id)
			}
		}
		if n := h.node.Status().Neighbors; n < 8 {
			t.Errorf("%s has %d neighbors", h.id, n)
		}
	}
}

// An attacker with 200 addresses in one /24, all of which claim everything, has two places anywhere.
func TestANetworkOfTheAttackersWinsTwoPlaces(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 20, 0)
	o.run(10 * time.Minute)
	for i := range 200 {
		id := protocol.NewNodeID(netip.AddrFrom4([4]byte{20, 99, 0, byte(i)}), 7790)
		o.addAt(id, node.Config{Trackers: []string{tracker}, Incentive: incentive.Config{Bound: 10}}, o.feeds...)
	}
	o.run(10 * time.Minute)
	for _, h := range o.list[:20] {
		places := 0
		for _, id := range h.node.LinkIDs() {
			if id.Addr().As4()[1] == 99 {
				places++
			}
		}
		if places > 2 {
			t.Errorf("%s gave %d places to the attacker", h.id, places)
		}
	}
}

// A neighbor that claims every feed and brings nothing is sent away within six hours; no honest one is taken
// for a liar.
func TestALiarIsSentAway(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 20, 0)
	o.habit = freeRider
	liar := o.add(node.Config{Trackers: []string{tracker}, Incentive: incentive.Config{Bound: 10},
		Policy: polling.Fixed{Every: 1000 * time.Hour}}, o.feeds...)
	var longest time.Duration
	o.watch = func(h *testHost, _ node.Event, _ []node.Effect) {
		if l := h.node.LinkTo(liar.id); l != nil && h != liar {
			longest = max(longest, o.Now().Sub(l.Peer.Since))
		}
	}
	o.run(10 * time.Minute)
	o.publishFor(14 * time.Hour)
	if longest > 6*time.Hour || longest < time.Hour {
		t.Errorf("the liar was kept for up to %v", longest)
	}
	believers := 0
	for _, h := range o.list[:20] {
		believers += h.parted("it brings nothing of what it claims")
		for _, other := range o.list[:20] {
			if h.suspects(other.id) > 0 {
				t.Errorf("%s suspects %s, which is honest", h.id, other.id)
			}
		}
	}
	if believers == 0 {
		t.Error("nobody noticed it")
	}
}
