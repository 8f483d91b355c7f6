package node_test

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/polling"
	"feedex/protocol"
)

// Feeds that are advertised as if they were followed.

// advertise has a neighbor say what it wants at which hop count.
func (h *testHost) advertise(from *testHost, hops int, feeds ...feed.URL) {
	var changes protocol.Subset
	for _, u := range feeds {
		changes = append(changes, protocol.Interest{Feed: u, Hops: hops})
	}
	h.hears(from, protocol.UpdateSubset{Changes: changes})
}

// covering are the cover feeds of the node, sorted.
func (h *testHost) covering() []feed.URL {
	return slices.Sorted(slices.Values(h.node.Covers()))
}

func wantCovers(t *testing.T, h *testHost, want ...feed.URL) {
	t.Helper()
	if got := h.covering(); !slices.Equal(got, want) {
		t.Errorf("cover feeds are %v, want %v", got, want)
	}
	var kept []feed.URL
	for _, f := range h.store.LoadFeeds() {
		if f.Cover {
			kept = append(kept, f.URL)
		}
	}
	if !slices.Equal(kept, want) {
		t.Errorf("cover feeds that are kept are %v, want %v", kept, want)
	}
	if n := h.node.Status().Covers; n != len(want) {
		t.Errorf("the status says %d cover feeds, want %d", n, len(want))
	}
}

// The most popular of the neighbors' feeds are taken, equal ones by URL; they are kept while somebody wants
// them, however popular others become, and over a restart; they are passed on, and never polled.
func TestCoverFeeds(t *testing.T) {
	const (
		first, second, third feed.URL = "https://a.example.com/", "https://b.example.com/", "https://c.example.com/"
		lonely, refused      feed.URL = "https://0.example.com/", "https://1.example.com/"
		intern               feed.URL = "https://wiki.corp.example.com/"
	)
	w := newNetwork(t)
	for _, u := range []feed.URL{news, first, second, third, lonely, refused, intern} {
		w.feed(u)
	}
	w.feed(refused).private = true
	a := w.add(node.Config{CoverFeeds: 2, AdvertInterval: time.Minute, PrivateHosts: []string{"wiki.corp.example.com"}},
		news, refused)
	w.run(time.Second)
	a.step(node.Unsubscribe{Feeds: []feed.URL{refused}})
	var friends []*testHost
	meet := func(feeds ...feed.URL) {
		friends = nil
		for i := range 4 {
			friend := a.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, byte(i), 0, 1}), 7790), feeds...)
			friend.script = func(_ *testHost, c node.Call) protocol.Reply {
				switch c := c.Call.(type) {
				case protocol.WhoAmI:
					return a.id
				case protocol.CheckDID:
					return protocol.Seen(false)
				case protocol.PutEntries:
					friend.calls = append(friend.calls, c.Bundle.DID.String())
				}
				return protocol.OK{}
			}
			friends = append(friends, friend)
		}
	}
	wantHops := func(u feed.URL, want int) {
		t.Helper()
		for _, f := range friends {
			if got := a.node.Told(u, f.id); got != want {
				t.Errorf("%s is advertised at hop count %d, want %d", u, got, want)
			}
		}
	}
	meet(news, intern, refused)
	a.advertise(friends[0], 0, lonely)
	w.run(2 * time.Minute)
	wantCovers(t, a) // there are none that could be

	a.advertise(friends[0], 0, first, second, third)
	a.advertise(friends[1], 1, first, second)
	a.advertise(friends[2], 2, third)
	a.advertise(friends[3], 4, third, lonely) // out of reach
	w.run(2 * time.Minute)
	wantCovers(t, a, first, second)
	wantHops(first, 0)
	wantHops(second, 0)
	if hops := a.node.Told(third, friends[1].id); hops != 1 {
		t.Errorf("another feed is advertised at hop count %d, want 1", hops)
	}

	// It stays so.
	for _, f := range friends {
		a.advertise(f, 0, third)
		a.advertise(f, protocol.Withdrawn, first)
	}
	w.run(membership.CoverPatience / 2)
	a.advertise(friends[3], 3, first)
	w.run(3 * membership.CoverPatience)
	wantCovers(t, a, first, second)
	a.kill()
	a.start()
	w.run(30 * time.Minute)
	meet(news, second)
	wantHops(first, 0)
	wantHops(second, 0)
	wantCovers(t, a, first, second)

	// Entries of cover feeds are passed on.
	bundle := protocol.NewBundle(second, []feed.Entry{{Feed: second, ID: "1", Published: w.Now()}})
	if r := a.put(friends[0], bundle); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	w.run(time.Minute)
	if count(friends[1].calls, bundle.DID.String()) == 0 {
		t.Error("an entry of a cover feed was not passed on")
	}
	if n := w.feeds[first].requests + w.feeds[second].requests; n != 0 {
		t.Errorf("cover feeds were polled %d times", n)
	}

	// Feeds that nobody wants any more make room, and so do those that the owner follows and says so.
	for _, f := range friends {
		a.advertise(f, 0, third)
	}
	w.run(membership.CoverPatience)
	wantCovers(t, a, second, third)
	wantHops(first, protocol.Withdrawn)
	a.follow(true, third)
	w.run(3 * time.Minute)
	wantCovers(t, a, second, third)
	wantHops(third, 0)
	a.follow(false, third)
	w.run(3 * time.Minute)
	wantCovers(t, a, second)
	wantHops(third, 0)

	// An owner who wants none has none.
	a.kill()
	a.config.CoverFeeds = 0
	a.start()
	w.run(2 * time.Minute)
	wantCovers(t, a)
}

// A cover feed stays for as long as it brings something now and then. One that brings nothing for a week is given
// up, and not chosen again soon: nodes that hear of it
// from each other must not keep up an interest that nobody has.
func TestCoverFeedsThatAreSilentAreGivenUp(t *testing.T) {
	const ghost feed.URL = "https://ghost.example.com/"
	w := newNetwork(t)
	c := node.Config{CoverFeeds: 1, AdvertInterval: time.Hour}
	hosts := w.full(3, c, news)
	follower := w.add(node.Config{Trackers: []string{tracker}}, news, ghost)
	second := w.add(node.Config{Trackers: []string{tracker}}, news, ghost)
	w.feed(ghost)
	w.run(3 * time.Hour)
	for _, h := range hosts {
		wantCovers(t, h, ghost)
	}
	for range 3 {
		w.run(membership.CoverIdle / 2)
		w.publish(ghost)
		w.run(3 * time.Hour)
		for _, h := range hosts {
			wantCovers(t, h, ghost)
		}
	}
	follower.step(node.Unsubscribe{Feeds: []feed.URL{ghost}})
	second.step(node.Unsubscribe{Feeds: []feed.URL{ghost}})
	w.run(24 * time.Hour)
	for _, h := range hosts {
		wantCovers(t, h, ghost) // nobody follows it, and each hears of it from the others
	}
	w.run(membership.CoverIdle)
	for _, h := range w.list {
		if len(h.covering()) != 0 {
			t.Errorf("%s still covers %v", h.id, h.covering())
		}
		for _, id := range h.node.LinkIDs() {
			if hops, ok := h.node.HopsOf(id, ghost); ok {
				t.Errorf("%s hears from %s of a feed that nobody follows, at hop count %d", h.id, id, hops)
			}
		}
	}
}

// An observer is a neighbor that writes down at which hop counts it hears of feeds from one node.
type observer struct {
	first map[feed.URL]bool // in the set it was given at first
	ever  map[feed.URL]bool // at hop count 0 at any time
	left  map[feed.URL]bool // at another hop count, or withdrawn, at any time
	hops  map[feed.URL]int  // now
}

func (o *observer) hear(s protocol.Subset, whole bool) {
	if whole {
		for u := range o.hops {
			if !slices.ContainsFunc(s, func(in protocol.Interest) bool { return in.Feed == u }) {
				o.left[u] = true
			}
		}
		o.hops = make(map[feed.URL]int)
	}
	for _, in := range s {
		o.hops[in.Feed] = in.Hops
		if in.Hops == 0 {
			o.ever[in.Feed] = true
		} else {
			o.left[in.Feed] = true
		}
	}
	if whole && len(o.first) == 0 {
		maps.Copy(o.first, o.ever)
	}
}

// spy has o hear what leaves the node for its neighbor to.
func (w *network) spy(aNode, to *testHost, o *observer) {
	tags := make(map[uint64]bool) // of calls of the neighbor
	w.watch = func(h *testHost, ev node.Event, effects []node.Effect) {
		if asked, ok := ev.(node.Asked); ok && h == aNode && asked.From == to.id {
			tags[asked.Tag] = true
		}
		if h != aNode {
			return
		}
		for _, e := range effects {
			switch e := e.(type) {
			case node.Call:
				if e.To.Node != to.id && e.To.Host != to.id.String() {
					continue
				}
				switch c := e.Call.(type) {
				case protocol.Connect:
					o.hear(c.Subset, true)
				case protocol.UpdateSubset:
					o.hear(c.Changes, false)
				}
			case node.Respond:
				if s, ok := e.Reply.(protocol.Subset); ok && tags[e.Tag] && len(s) > 0 {
					o.hear(s, true)
				}
			}
		}
	}
}

// A neighbor looks for a day, with a restart in it, at how far away the feeds are that a node wants: by that it
// finds out which ones the node follows no better than by chance among those and the cover feeds. And nobody takes the
// node for a liar, though it claims far more than others and polls little.
func TestCoverFeedsHideWhatIsFollowed(t *testing.T) {
	t.Parallel()
	const own = 4
	sizes := []int{0, 5, 20}
	if raced {
		sizes = sizes[1:2]
	}
	for _, cover := range sizes {
		o := newOverlay(t, 20, 0)
		aNode := o.add(node.Config{
			Trackers: []string{tracker}, CoverFeeds: cover, Incentive: incentive.Config{Bound: 10},
			Policy: polling.Fixed{Every: 4 * time.Hour},
		}, o.feeds[:own]...)
		o.publishFor(2 * time.Hour)
		seen := &observer{first: map[feed.URL]bool{}, ever: map[feed.URL]bool{}, left: map[feed.URL]bool{}}
		late := o.add(node.Config{Peers: []string{aNode.id.String()}, Incentive: incentive.Config{Bound: 10}},
			o.feeds[own],
			o.feeds[own+1])
		o.spy(aNode, late, seen)
		for hour := range 4 {
			o.publishFor(2 * time.Hour)
			if hour == 1 {
				aNode.kill()
				o.run(time.Minute)
				aNode.start()
			}
			for _, h := range o.list {
				if h.node.Lies(aNode.id) {
					t.Errorf("%d cover feeds: %s takes the node for a liar after %v", cover, h.id,
						o.Now().Sub(h.status(aNode).Since))
				}
			}
		}
		if len(seen.hops) == 0 {
			t.Fatal("the observer was never a neighbor")
		}
		for _, h := range o.list {
			if h.suspects(aNode.id) > 0 {
				t.Errorf("%d cover feeds: %s noted something against the node", cover, h.id)
			}
		}
		now := make(map[feed.URL]bool)
		for u, hops := range seen.hops {
			now[u] = hops == 0
		}
		always := maps.Clone(seen.ever)
		maps.DeleteFunc(always, func(u feed.URL, _ bool) bool { return seen.left[u] })
		for name, guessed := range map[string]map[feed.URL]bool{"ever": seen.ever, "at first": seen.first, "now": now,
			"always": always} {
			hits, all := 0, 0
			for u, yes := range guessed {
				if yes {
					all++
				}
				if yes && aNode.node.Subscription(u) != nil {
					hits++
				}
			}
			if hits == 0 || hits*(own+cover) > own*all {
				t.Errorf("%d cover feeds: %d of the %d feeds that were %s at hop count 0 are followed, more than %d "+
					"of %d", cover, hits, all, name, own, own+cover)
			}
		}
	}
}
