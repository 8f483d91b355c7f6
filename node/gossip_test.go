package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Tests of the bundles that a node takes in, and from which neighbors.

// A neighbor that alone wants a feed cannot fill our disk with it.
func TestWhatOnlyTheSenderWantsIsRefused(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, sender, other := hosts[0], hosts[1], hosts[2]
	junk := feed.URL("https://junk.example.com/feed")
	wants := protocol.UpdateSubset{Changes: protocol.Subset{{Feed: junk}}}
	put := func(id string) (node.Respond, feed.EntryID) {
		e := feed.Entry{Feed: junk, ID: id}
		return a.put(sender, protocol.NewBundle(junk, []feed.Entry{e})), e.EntryID()
	}
	a.hears(sender, wants)
	if r, id := put("1"); r.Fault == nil || r.Fault.Code != protocol.UnwantedFeed || a.has(id) {
		t.Errorf("answered %v, %v; stored %v", r.Reply, r.Fault, a.has(id))
	}
	a.hears(other, wants)
	if r, id := put("2"); r.Fault != nil || !a.has(id) {
		t.Errorf("once another neighbor wants it: answered %v, %v; stored %v", r.Reply, r.Fault, a.has(id))
	}
}

// A withdrawal takes a while to be heard: what comes meanwhile is refused, and hardly held against the
// sender.
func TestAFeedOfAMomentAgoIsNoOffence(t *testing.T) {
	_, a, b := newPair(t, node.Config{}, news, blog)
	a.step(node.Unsubscribe{Feeds: []feed.URL{news, blog}})
	a.hears(b, protocol.UpdateSubset{Changes: protocol.Subset{{Feed: news, Hops: protocol.Withdrawn}}})
	for i := range 5 {
		if r := a.put(b, one(fmt.Sprint(i))); r.Fault == nil || r.Fault.Code != protocol.UnwantedFeed {
			t.Errorf("answered %v, %v", r.Reply, r.Fault)
		}
	}
	if !a.neighborOf(b.id) {
		t.Fatal("the link ended")
	}
	if s := a.node.Neighbors()[0]; s.Standing < 90 || s.Fined != 0 {
		t.Errorf("standing %d, fined %v", s.Standing, s.Fined)
	}
}

// A document with more entries than a bundle may hold goes out as several, and all of it arrives.
func TestALargeDocumentTravelsInBundles(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	b.blocked[news] = true
	w.feed(news).window = 250
	var ids []feed.EntryID
	for range 250 {
		ids = append(ids, w.publish(news))
	}
	a.poll(news)
	w.run(time.Minute)
	for i, id := range ids {
		if !b.has(id) {
			t.Fatalf("entry %d of %d did not arrive", i, len(ids))
		}
	}
	if n := a.node.Status().Counters.PutsSent; n != 3 {
		t.Errorf("250 entries went out in %d bundles, want 3", n)
	}
}

// An entry that no message can carry stays with the node that polled it; the others travel.
func TestAnEntryTooLongToTravelIsKept(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	b.blocked[news] = true
	long, short := w.publish(news), w.publish(news)
	e := &w.feed(news).entries[0]
	e.Title = string(make([]byte, protocol.MaxTitleBytes+1))
	a.poll(news)
	w.run(time.Minute)
	if !a.has(long) || b.has(long) || !b.has(short) {
		t.Errorf("kept %v, delivered %v, the other delivered %v", a.has(long), b.has(long), b.has(short))
	}
}
