package node

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// hearsWhat tells the node that a neighbor wants count feeds, from number first on.
func (h *testHost) hearsWhat(from *testHost, first, count int) {
	var set protocol.Subset
	for i := range count {
		set = append(set, protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://example.com/%d", first+i))})
	}
	h.hears(from, protocol.UpdateSubset{Changes: set})
}

// A node takes part in no more than so many feeds for others' sake, and chooses anew before each advert.
func TestRelaysAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, Config{MaxRelayed: 10}, news)
	a, b, c := hosts[0], hosts[1], hosts[2]
	relays := func(u string) bool { // what c has of it is welcome
		return a.hears(c, protocol.CheckDID{DID: one(u).DID, Feed: feed.URL(u), Entries: 1}).Reply == protocol.Seen(false)
	}
	a.hearsWhat(b, 0, 10)
	a.hearsWhat(b, 500, 1)
	a.hearsWhat(c, 500, 1)
	if !relays("https://example.com/0") || relays("https://example.com/500") {
		t.Error("it relays another than the ten feeds that were wanted first")
	}
	w.run(300 * time.Second)
	if !relays("https://example.com/500") {
		t.Error("what two neighbors want is not relayed in place of what one wants")
	}
	if got := c.node.linkTo(a.id).peer.Feeds(); got != 1+10 {
		t.Errorf("it advertises %d feeds, want ten beside its own", got)
	}
}

// What was promised before a choice is taken after it, although the feed is relayed no more, and nobody is blamed.
func TestAPromiseOutlivesAChoice(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, Config{MaxRelayed: 10}, news)
	a, b, c, d := hosts[0], hosts[1], hosts[2], hosts[3]
	a.hearsWhat(d, 0, 10)
	w.run(300 * time.Second) // everybody is told
	a.hearsWhat(b, 500, 10)
	a.hearsWhat(c, 500, 10)
	var promised []*protocol.Bundle
	for i := range 10 {
		u := feed.URL(fmt.Sprintf("https://example.com/%d", i))
		bundle := protocol.NewBundle(u, []feed.Entry{{Feed: u, ID: "1", Title: "T", Published: w.now}})
		if r := a.hears(b, protocol.CheckDID{DID: bundle.DID, Feed: u, Entries: 1}); r.Reply != protocol.Seen(false) {
			t.Fatalf("before the choice an offer is answered %v", r.Reply)
		}
		promised = append(promised, bundle)
	}
	a.inside(func(n *Node) {
		n.table.Relay(n.rng)
		for _, l := range n.linked {
			n.advertise(l)
		}
	})
	w.run(200 * time.Millisecond)
	left := 0
	for _, bundle := range promised {
		if !a.node.table.Advertises(a.node.linkTo(b.id).peer, bundle.Feed) {
			left++
		}
		if r := a.put(b, bundle); r.Fault != nil || !a.has(bundle.Entries[0].EntryID()) {
			t.Errorf("what was promised is refused: %v", r.Fault)
		}
	}
	if left == 0 {
		t.Fatal("the neighbor believes that all of the feeds are still relayed")
	}
	if n := len(a.account(b).Standing.Marks); n != 0 {
		t.Errorf("%d offences are held against who kept its promises", n)
	}
}
