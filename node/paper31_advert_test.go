package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Paper §3.1, sentence by sentence: how sets are advertised.

// Paper §3.1: "Q's returning set must be computed excluding P's advertisement. Otherwise, Q would
// falsely advertise back the feeds in which only P, and none of Q's other neighbors, is interested."
func TestAdvertLeavesOutTheAskersOwn(t *testing.T) {
	w, a := newAlone(t, node.Config{Trackers: []string{tracker}}, news, blog)
	b := w.add(node.Config{Trackers: []string{tracker}}, news, comic)
	w.run(20 * time.Minute) // several adverts
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	heard := b.node.LinkTo(a.id).Peer
	if _, ok := heard.Hops(comic); ok {
		t.Error("a advertises to b what only b is interested in")
	}
	if hops, ok := heard.Hops(blog); !ok || hops != 0 {
		t.Errorf("a's own interest is advertised at hop count %d, %v", hops, ok)
	}
}

// Paper §3.1: "the node advertises (using update_subset) its subscription set periodically and not
// immediately upon change [...] only the difference from the previous advertisement is transmitted."
func TestAdvertsArePeriodicDifferences(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	w.run(time.Hour)
	for _, h := range hosts {
		if n := count(h.calls, "update_subset"); n != 0 {
			t.Errorf("%d adverts although nothing changed", n)
		}
	}
	hosts[0].step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(20 * time.Minute)
	if n := count(hosts[0].calls, "update_subset"); n != 2 {
		t.Errorf("a change of one's own interest was advertised %d times to 2 neighbors", n)
	}
	for _, h := range hosts[1:] {
		// Each tells the other that it knows a node that wants the feed, and the first that it knows a node that knows
		// one.
		if n := count(h.calls, "update_subset"); n != 2 {
			t.Errorf("%d adverts of a neighbor's new interest to 2 neighbors", n)
		}
	}
	w.run(time.Hour)
	if n := count(hosts[1].calls, "update_subset"); n != 2 {
		t.Errorf("%d more adverts although nothing changed any more", n-2)
	}
}

// Paper §3.1: "As a node has its neighbors come and go, the subscription set changes over time."
func TestTheSetFollowsTheNeighbors(t *testing.T) {
	w := newNetwork(t)
	q, r, p := between(w)
	p.connect(protocol.Subset{{Feed: comic}})
	w.run(6 * time.Minute)
	if hops, ok := r.heard[comic]; !ok || hops != 1 {
		t.Errorf("when a neighbor that wants the feed came, the other was told %d, %v", hops, ok)
	}
	q.answerTo(p.id, "token of "+p.id.String(), protocol.Disconnect{})
	w.run(6 * time.Minute)
	if hops, ok := r.heard[comic]; ok {
		t.Errorf("the neighbor that wanted it went, and the other believes in it at %d", hops)
	}
}

// Paper §3.1: "periodically and not immediately upon change": whatever changes with the neighbors in a period goes
// with one advert at its end, and what changed back is not said at all.
func TestChangesOfNeighborsWaitForThePeriod(t *testing.T) {
	w := newNetwork(t)
	_, r, p := between(w)
	began := w.Now()
	p.connect(protocol.Subset{{Feed: "https://example.com/0"}})
	for i := range 8 {
		w.run(30 * time.Second)
		p.say(protocol.Subset{
			{Feed: feed.URL("https://example.com/" + string(rune('0'+i))), Hops: protocol.Withdrawn},
			{Feed: feed.URL("https://example.com/" + string(rune('1'+i)))},
		})
	}
	if len(r.adverts) > 0 {
		t.Errorf("told %v after the connect, within the period", r.adverts[0].Sub(began))
	}
	w.run(2 * time.Minute)
	if len(r.adverts) != 1 || r.heard["https://example.com/8"] != 1 || len(r.heard) != 2 {
		t.Errorf("told %d times, and believes %v", len(r.adverts), r.heard)
	}
}

// Paper §3.1: "The immediate response to set changes may cause considerable traffic due to feedback loops." Five
// nodes know each other, and one changes its mind every 20 s: the others say so to each neighbor once in a period.
func TestChangesDoNotFeedBack(t *testing.T) {
	w := newNetwork(t)
	w.feed(blog)
	hosts := w.full(5, node.Config{}, news)
	for i := range 180 {
		if i%2 == 0 {
			hosts[0].step(node.Subscribe{Feeds: []feed.URL{blog}})
		} else {
			hosts[0].step(node.Unsubscribe{Feeds: []feed.URL{blog}})
		}
		w.run(20 * time.Second)
	}
	for _, h := range hosts[1:] {
		if n := count(h.calls, "update_subset"); n > 4*13 {
			t.Errorf("%d adverts to 4 neighbors in 12 periods", n)
		}
	}
}

// Paper §3.1: "the direct subscription sets are always exchanged from the start": no period has to pass.
func TestDirectSetsAreExchangedFromTheStart(t *testing.T) {
	w, a := newAlone(t, node.Config{}, blog)
	b := w.add(node.Config{Peers: []string{a.id.String()}}, blog, comic)
	for !linked(a, b) && w.Now().Before(epoch.Add(time.Minute)) {
		w.run(10 * time.Millisecond)
	}
	ofA, _ := b.node.HopsOf(a.id, blog)
	ofB, _ := a.node.HopsOf(b.id, comic)
	if ofA != 0 || ofB != 0 || a.status(b).Feeds != 2 ||
		b.status(a).Feeds != 1 {
		t.Error("neighbors do not know each other's own feeds from the start")
	}
	if n := count(a.calls, "update_subset") + count(b.calls, "update_subset"); n != 0 {
		t.Errorf("that took %d adverts", n)
	}
}

// restless has nodes of a network crash for a while, one every two minutes, and come back when their neighbors have
// noticed.
func (o *overlay) restless(d time.Duration) {
	const apart = 2 * time.Minute
	crashes, absent := int(d/apart), int(noticed/apart)+1
	for i := range crashes + absent {
		if i >= absent {
			o.list[(i-absent)%len(o.list)].start()
		}
		if i < crashes {
			o.list[i%len(o.list)].kill()
		}
		o.run(apart)
	}
}

// Paper §3.1: "Although feeds associated with large hop counts are more subject to change": where nodes come and go,
// what stands at three hops in the sets of neighbors changes more often than what stands at two, that more often
// than at one, and one's own interest not at all.
func TestFarInterestsChangeMore(t *testing.T) {
	t.Parallel()
	// With two neighbors the network has distances.
	o := newOverlayOf(t, 24, 0, node.Config{MaxNeighbors: 3, MinNeighbors: 2, AdvertInterval: time.Minute})
	o.run(10 * time.Minute)
	var changed, standing [4]float64
	o.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		update, ok := c.(protocol.UpdateSubset)
		l := to.node.LinkTo(from.id)
		if !ok || l == nil {
			return nil, false
		}
		for _, in := range update.Changes {
			if hops, ok := l.Peer.Hops(in.Feed); ok && hops != in.Hops {
				changed[hops]++
			}
		}
		return nil, false
	}
	for range 12 {
		o.restless(10 * time.Minute)
		for _, h := range o.list {
			for _, id := range h.node.LinkIDs() {
				for _, u := range o.feeds {
					if hops, ok := h.node.HopsOf(id, u); ok {
						standing[hops]++
					}
				}
			}
		}
	}
	var rate [4]float64
	for hops := range rate {
		rate[hops] = changed[hops] / (standing[hops] / 12) / 2
	}
	t.Logf("changes an hour and feed at 0 to 3 hops: %.2f; standing there: %.0f", rate, standing)
	if rate[0] > 0 || rate[1] <= 0 || rate[2] <= rate[1] || rate[3] <= rate[2] {
		t.Errorf("changes an hour and feed at 0 to 3 hops: %.2f", rate)
	}
}

// Paper §3.1: "the advertisement period can be set to a large value to reduce the overhead", as far interests
// "affect the overall performance to a less degree".
func TestLongPeriodsSaveAdvertsAndHardlyCost(t *testing.T) {
	t.Parallel()
	measure := func(period time.Duration) (adverts int, s service) {
		o := newOverlayOf(t, 16, 0, node.Config{AdvertInterval: period})
		o.run(10 * time.Minute)
		o.restless(time.Hour)
		for _, h := range o.list {
			adverts += count(h.calls, "update_subset")
		}
		o.publishFor(6 * time.Hour)
		return adverts, o.service(func(*testHost) bool { return true }, epoch)
	}
	often, base := measure(30 * time.Second)
	seldom, got := measure(10 * time.Minute)
	t.Logf("every 30 s: %d adverts, lag %v; every 10 min: %d, %v", often, base.lag, seldom, got.lag)
	if seldom*2 > often {
		t.Errorf("%d adverts with a period of 10 min, %d with 30 s", seldom, often)
	}
	if got.lag > base.lag*11/10 || got.coverage < base.coverage*0.98 {
		t.Errorf("entries come %v late with a period of 10 min, %v with 30 s; %.1f%% and %.1f%% of them", got.lag,
			base.lag, 100*got.coverage, 100*base.coverage)
	}
}
