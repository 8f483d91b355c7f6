package node_test

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// One test a claim of the paper; docs/papers/feedex.md has them all. Sections 3.1, 3.2 and 3.5 have files of their own.

const (
	news  feed.URL = "https://news.example.com/feed"
	blog  feed.URL = "https://blog.example.org/atom"
	comic feed.URL = "https://comic.example.net/rss"
)

const (
	tracker     = "http://tracker.example.com/"
	deadTracker = "http://dead.example.com/" // it never answers
	noTracker   = "http://node.example.com/" // a node does
)

// Paper §3: "hop count 1 means that the feed is not in its interest but in at least one of its
// neighbors', and so forth", §3.4: "not greater than a system parameter max_subset_hops".
func TestInterestSpreadsHopByHop(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 6, node.Config{AdvertInterval: time.Minute})
	w.run(10 * time.Minute)
	for i := 1; i < len(line); i++ {
		hops, ok := line[i].node.HopsOf(line[i-1].id, news)
		want := i - 1
		if want <= 3 && (!ok || hops != want) || want > 3 && ok {
			t.Errorf("node %d hears of the feed at hop count %d, %v from its left neighbor; want %d", i, hops, ok, want)
		}
	}
	// Only the first node is interested, the last but two can fetch: entries travel back.
	id := w.publish(news)
	far := line[3]
	far.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(10 * time.Minute)
	if !line[0].has(id) {
		t.Error("an entry found three hops away did not arrive")
	}
}

// lineOf links nodes in a line. The first follows news, which it cannot fetch itself; each follows a
// feed of its own as well.
func lineOf(w *network, n int, c node.Config) []*testHost {
	c.MinNeighbors = 1
	for i := range n {
		cc := c
		if i > 0 {
			cc.Peers = []string{w.list[i-1].id.String()}
		}
		own := feed.URL("https://example.com/" + string(rune('a'+i)))
		w.feed(own)
		feeds := []feed.URL{own}
		if i == 0 {
			feeds = append(feeds, news)
		}
		h := w.add(cc, feeds...)
		h.blocked[news] = i == 0
	}
	return w.list
}

// Paper §3.4: "These new entries are bundled and forwarded to the neighbors that subscribe to the
// corresponding feed."
func TestNewEntriesReachThoseWhoCannotFetch(t *testing.T) {
	w := newNetwork(t)
	c := node.Config{Trackers: []string{tracker}}
	w.add(c, news)
	others := []*testHost{w.add(c, news), w.add(c, news)}
	for _, h := range others {
		h.blocked[news] = true
	}
	w.run(time.Minute)
	id := w.publish(news)
	w.run(2 * time.Hour) // the first node polls once an hour
	for _, h := range others {
		if !h.has(id) {
			t.Errorf("%s, whom the publisher blocks, has not got the entry", h.id)
		}
	}
}

// Paper §3.4: "The bundle is forwarded to a neighbor only if the neighbor is interested in the bundle".
func TestNobodyIsOfferedWhatTheyDoNotWant(t *testing.T) {
	w := newNetwork(t)
	c := node.Config{Trackers: []string{tracker}}
	a := w.add(c, news, blog)
	b := w.add(c, blog)
	got := w.trafficTo(b)
	w.run(time.Minute)
	w.publish(news)
	w.run(2 * time.Hour)
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	if len(got.offers) != 0 || len(got.puts) != 0 {
		t.Errorf("%d offers and %d deliveries of a feed that the neighbor does not follow", len(got.offers),
			len(got.puts))
	}
}

// Paper §3.4: "using a check_did call [...] Second, if the neighbor returns 'unseen,' the entry bundle is
// forwarded via a put_entries call."
func TestEachNodeIsDeliveredABundleOnce(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(8, node.Config{}, news)
	for _, h := range hosts[1:] {
		h.blocked[news] = true
	}
	w.run(2 * time.Hour)
	id := w.publish(news)
	w.run(2 * time.Hour)
	puts := 0
	for _, h := range hosts {
		if !h.has(id) {
			t.Errorf("%s misses the entry", h.id)
		}
		c := h.node.Status().Counters
		puts += int(c.PutsReceived - c.Audits) // an audit has a bundle delivered that is there already
	}
	if puts != len(hosts)-1 {
		t.Errorf("%d deliveries to %d nodes", puts, len(hosts)-1)
	}
}

// Paper §3.4: "It is a receiver, rather than a sender, that puts the forwarder on the path list".
func TestReceiverAppendsTheSenderToThePath(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 3, node.Config{AdvertInterval: time.Minute})
	var path []protocol.NodeID
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if put, ok := c.(protocol.PutEntries); ok && to == line[0] {
			path = put.Bundle.Path
		}
		return nil, false
	}
	w.run(5 * time.Minute)
	w.publish(news)
	line[2].step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(30 * time.Second) // then it may find the first by itself
	if want := []protocol.NodeID{line[2].id}; !slices.Equal(path, want) {
		t.Errorf("path at the third node is %v, want %v: without the second, whom the receiver appends", path, want)
	}
}

// Paper §3.4: "If a node detects a loop [...] the entry bundle is discarded."
func TestABundleThatComesBackGoesNoFurther(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, b := hosts[0], hosts[1]
	bundle := bundleOf(1)
	first := a.put(b, bundle)
	w.run(time.Minute)
	offers := 0
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		switch c := c.(type) {
		case protocol.CheckDID:
			offers++
		case protocol.CheckDIDs:
			offers += len(c.DIDs)
		}
		return nil, false
	}
	again := a.put(hosts[2], bundle.Via(a.id))
	w.run(time.Minute)
	if first.Fault != nil || again.Fault != nil {
		t.Fatalf("refused: %v, %v", first.Fault, again.Fault)
	}
	if offers > 0 {
		t.Error("a bundle that came back was offered again")
	}
}

// Paper §3.4: "Those old entries are removed from the bundle before it is further forwarded."
func TestKnownEntriesArePruned(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 3, node.Config{AdvertInterval: time.Minute})
	w.run(5 * time.Minute)
	middle := line[1]
	var got []*protocol.Bundle
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if put, ok := c.(protocol.PutEntries); ok && to == line[0] {
			got = append(got, put.Bundle)
		}
		return nil, false
	}
	one, two := bundleOf(1), bundleOf(2) // the second holds the entry of the first, and one more
	middle.put(line[2], one)
	w.run(time.Minute)
	middle.put(line[2], two)
	w.run(time.Minute)
	if len(got) != 2 {
		t.Fatalf("%d deliveries, want 2", len(got))
	}
	if len(got[1].Entries) != 1 || got[1].DID == two.DID || got[1].Verify() != nil {
		t.Errorf("the second delivery holds %d entries under did %s: %v", len(got[1].Entries), got[1].DID,
			got[1].Verify())
	}
}

// bundleOf is a bundle of the first n entries of news.
func bundleOf(n int) *protocol.Bundle {
	var entries []feed.Entry
	for i := range n {
		e := feed.Entry{Feed: news, ID: "entry " + string(rune('0'+i)), Title: "T", Published: epoch}
		entries = append(entries, e)
	}
	return protocol.NewBundle(news, entries)
}

// Paper §3.4: "nodes store the bundle identifiers did that have been seen recently".
func TestStoredBundlesAreAnsweredSeen(t *testing.T) {
	_, a, b := newPair(t, node.Config{}, news)
	bundle := bundleOf(1)
	check := func() protocol.Reply {
		return a.answerTo(b.id, a.node.SessionOf(b.id), protocol.CheckDID{DID: bundle.DID}).Reply
	}
	if check() != protocol.Seen(false) {
		t.Error("a bundle that nobody has is answered seen")
	}
	a.put(b, bundle)
	if check() != protocol.Seen(true) {
		t.Error("a stored bundle is answered unseen")
	}
	a.kill()
	a.start()
	if !a.node.Saw(bundle.DID) {
		t.Error("a restart forgot the bundle")
	}
}

// Paper §4.3: "a FeedEx node is able to detect neighbor failures and act accordingly (e.g., remove
// unreachable nodes and replenish new neighbors if there remain less than min_peers neighbors)".
func TestAVanishedNeighborIsReplaced(t *testing.T) {
	w := newNetwork(t)
	c := node.Config{MaxNeighbors: 3, MinNeighbors: 2}
	hosts := w.full(8, c, news)
	victim := hosts[0]
	var bereft []*testHost
	for _, h := range hosts[1:] {
		if linked(h, victim) {
			bereft = append(bereft, h)
		}
	}
	if len(bereft) == 0 {
		t.Fatal("nobody was linked with the victim")
	}
	victim.kill()
	w.run(time.Hour)
	for _, h := range bereft {
		if h.neighborOf(victim.id) {
			t.Errorf("%s still counts on a dead neighbor", h.id)
		}
		if h.node.Status().Neighbors < 2 {
			t.Errorf("%s has %d neighbors and found nobody in place of the dead one", h.id, h.node.Status().Neighbors)
		}
	}
}
