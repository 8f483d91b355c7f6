package node_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Paper §3.1, Bootstrapping, sentence by sentence: how nodes find each other and connect.

// Paper §3.1: "First, a node can contact a well-known server that provides the list."
func TestNodesMeetThroughATracker(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, node.Config{}, news)
	for i, a := range hosts {
		for _, b := range hosts[i+1:] {
			if !linked(a, b) {
				t.Errorf("%s and %s are not linked", a.id, b.id)
			}
		}
	}
}

// Paper §3.1: "Second, the feed servers may append to a feed document a list of clients that have
// recently retrieved the same feed."
func TestNodesMeetThroughAFeedDocument(t *testing.T) {
	w, a := newAlone(t, node.Config{}, news)
	w.feed(news).clients = []string{a.id.String(), "10.0.0.1:7790", "no address"}
	w.publish(news)
	b := w.add(node.Config{}, news)
	w.run(time.Minute)
	if !linked(a, b) {
		t.Error("the node that the document lists is no neighbor")
	}
	if slices.ContainsFunc(w.list[1].node.Neighbors(),
		func(s node.NeighborStatus) bool { return s.ID.String() == "10.0.0.1:7790" }) ||
		b.node.BookLen() != 1 {
		t.Error("an address inside a private network was taken from a document")
	}
}

// Paper §3.1: "Third, if a node has participated in the system before, it may reuse some of its earlier
// neighbors that are available at the moment."
func TestNodesReuseEarlierNeighbors(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	b := hosts[1]
	b.kill()
	w.run(5 * time.Minute)
	if linked(hosts[0], hosts[2]) == false {
		t.Fatal("the others lost each other")
	}
	b.config.Trackers = nil // nothing but its memory
	b.start()
	w.run(5 * time.Minute)
	if !linked(b, hosts[0]) || !linked(b, hosts[2]) {
		t.Error("a node that came back did not find its earlier neighbors")
	}
}

// Paper §3.1: "The contacting node includes its information so that it can be included later in the lists for
// other nodes."
func TestWhoAsksATrackerIsFound(t *testing.T) {
	const wanted = 4
	w := newNetwork(t)
	hosts := w.full(10, node.Config{MinNeighbors: wanted}, news)
	asked := make(map[*testHost]int)
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if c, ok := e.(node.Call); ok && c.To.Tracker == tracker {
				asked[h]++
			}
		}
	}
	w.run(time.Hour)
	for _, h := range hosts {
		if h.node.Status().Neighbors < wanted {
			t.Fatalf("%s has %d neighbors", h.id, h.node.Status().Neighbors)
		}
		if asked[h] < 4 {
			t.Errorf("%s, which has all that it wants, showed itself %d times in an hour", h.id, asked[h])
		}
	}
}

// Paper §3.1: "Reconnecting to old neighbors is advantageous in that they can trust each other from the past
// experience": one that gave before is served at once, a stranger is given one entry on trust.
func TestEarlierNeighborsAreTrusted(t *testing.T) {
	w, a, old := newPair(t, bound(), news, blog, comic)
	for _, u := range []feed.URL{news, blog, comic} {
		for i := range 3 {
			e := feed.Entry{Feed: u, ID: string(rune('a' + i)), Published: w.Now()}
			a.put(old, protocol.NewBundle(u, []feed.Entry{e}))
		}
	}
	old.kill()
	w.run(noticed)
	if a.neighborOf(old.id) {
		t.Fatal("a neighbor that is dead was not noticed")
	}
	old.start()
	w.run(3 * time.Minute)
	stranger := a.hearer(stranger(1))
	stranger.connect(protocol.Subset{{Feed: news}})
	w.run(time.Minute)
	if !linked(a, old) || !stranger.linked {
		t.Fatal("not linked")
	}
	old.blocked[news] = true
	stranger.got = 0 // of what went round lately it had its one entry, or none
	before := old.node.Status().Counters.Delivered
	var ids []feed.EntryID
	for range 12 {
		ids = append(ids, w.publish(news))
		a.poll(news)
		w.run(10 * time.Second)
	}
	if got := old.node.Status().Counters.Delivered - before; got != 12 || !old.has(ids[11]) {
		t.Errorf("a neighbor of earlier that gave is given %d of 12 entries", got)
	}
	if stranger.got > 1 {
		t.Errorf("a stranger is given %d entries", stranger.got)
	}
}

// between puts a node that follows news between a neighbor that wants blog itself and comic at two hops, and a
// stranger.
func between(w *network) (q *testHost, r, p *hearer) {
	q = w.add(node.Config{}, news)
	w.run(time.Second)
	r, p = q.hearer(stranger(1)), q.hearer(stranger(2))
	r.connect(protocol.Subset{{Feed: blog}, {Feed: comic, Hops: 2}})
	return q, r, p
}

// Paper §3.1: "The connect call [...] carries the subscription set as an argument. Each element of the
// subscription set is a pair of the URL of a feed and the hop count of interest".
func TestConnectCarriesTheSet(t *testing.T) {
	w := newNetwork(t)
	q, _, p := between(w)
	var sent protocol.Subset
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if connect, ok := c.(protocol.Connect); ok && to == p.testHost {
			sent = connect.Subset
		}
		return nil, false
	}
	q.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
	w.run(time.Second)
	if want := (protocol.Subset{{Feed: news}, {Feed: blog, Hops: 1},
		{Feed: comic, Hops: 3}}); !slices.Equal(sent, want) {
		t.Errorf("connect carried %v, want %v", sent, want)
	}
}

// Paper §3.1: "If the connected node Q decides to accept the connecting node P, Q returns its subscription set to
// P. Then, Q updates its subscription set including hop counts."
func TestTheAnswerIsTheOthersSet(t *testing.T) {
	w := newNetwork(t)
	_, r, p := between(w)
	const own, near, far feed.URL = "https://example.com/own", "https://example.com/near", "https://example.com/far"
	p.connect(protocol.Subset{{Feed: own}, {Feed: near, Hops: 2}, {Feed: far, Hops: 3}})
	if want := map[feed.URL]int{news: 0, blog: 1, comic: 3}; !maps.Equal(p.heard, want) {
		t.Errorf("answered %v, want %v", p.heard, want)
	}
	w.run(6 * time.Minute)
	if want := map[feed.URL]int{news: 0, own: 1, near: 3}; !maps.Equal(r.heard, want) {
		t.Errorf("another neighbor was told %v, want %v", r.heard, want)
	}
}

// Paper §3.1: "Q's returning set must be computed excluding P's advertisement": also where P is a neighbor already
// and connects anew.
func TestTheAnswerLeavesOutTheCallersOwn(t *testing.T) {
	w := newNetwork(t)
	_, r, p := between(w)
	for range 2 {
		p.connect(protocol.Subset{{Feed: "https://example.com/own"}, {Feed: comic}})
		if want := map[feed.URL]int{news: 0, blog: 1, comic: 3}; !maps.Equal(p.heard, want) {
			t.Errorf("answered %v, want %v", p.heard, want)
		}
		w.run(6 * time.Minute)
		if hops, ok := r.heard[comic]; !ok || hops != 1 {
			t.Errorf("another neighbor was told of it at %d, %v", hops, ok)
		}
	}
}

// Paper §3.1: "If Q decides not to accept P (for example, because Q's neighbor capacity is full), it returns an
// empty set, which is interpreted accordingly by P": P has no neighbor in Q, and finds others.
func TestAnEmptyAnswerDeclines(t *testing.T) {
	w, q := newAlone(t, node.Config{MaxNeighbors: 1}, news)
	w.run(time.Second)
	first := q.hearer(stranger(1))
	first.connect(protocol.Subset{{Feed: news}})
	other := w.add(node.Config{}, news)
	w.trackers[tracker] = []protocol.NodeID{q.id, other.id}
	var answers []protocol.Reply
	w.watch = func(h *testHost, ev node.Event, _ []node.Effect) {
		if a, ok := ev.(node.Answered); ok && a.Peer == q.id {
			answers = append(answers, a.Reply)
		}
	}
	p := w.add(node.Config{Trackers: []string{tracker}}, news)
	w.run(20 * time.Minute)
	if len(answers) == 0 || slices.ContainsFunc(answers, func(r protocol.Reply) bool {
		s, ok := r.(protocol.Subset)
		return !ok || len(s) > 0
	}) {
		t.Errorf("of %d answers of a full node not all were empty", len(answers))
	}
	if p.neighborOf(q.id) || q.neighborOf(p.id) || !first.linked {
		t.Error("declined, and linked all the same")
	}
	if !linked(p, other) {
		t.Error("it did not find the other")
	}
}
