package node

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Feeds that are followed without saying so.

// follow has the node follow feeds discreetly, or openly.
func (h *testHost) follow(discreet bool, feeds ...feed.URL) {
	h.step(Subscribe{Feeds: feeds, Discreet: &discreet})
}

// trace fails the test when something leaves h that shows that it follows the feed: an advert at hop count 0, or
// a bundle that it made.
func (w *network) trace(h *testHost, u feed.URL) {
	inSubset := func(s protocol.Subset) {
		for _, in := range s {
			if in.Feed == u && in.Hops == 0 {
				w.t.Errorf("%s was advertised at hop count 0", u)
			}
		}
	}
	w.watch = func(from *testHost, _ Event, effects []Effect) {
		if from != h {
			return
		}
		for _, e := range effects {
			switch e := e.(type) {
			case Call:
				switch c := e.Call.(type) {
				case protocol.Connect:
					inSubset(c.Subset)
				case protocol.UpdateSubset:
					inSubset(c.Changes)
				case protocol.CheckDID:
					if c.Feed == u && !h.node.gossip.seen.has(c.DID) {
						w.t.Errorf("a bundle of %s was offered that nobody brought", u)
					}
				case protocol.PutEntries:
					if c.Bundle.Feed == u && len(c.Bundle.Path) == 0 {
						w.t.Errorf("a bundle of %s with an empty path left the node", u)
					}
				}
			case Respond:
				if s, ok := e.Reply.(protocol.Subset); ok {
					inSubset(s)
				}
			}
		}
	}
}

// knownOf is what the node tells its neighbor from about the feed's entries.
func (h *testHost) knownOf(u feed.URL, from *testHost) int {
	r := h.hears(from, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u}}})
	return len(r.Reply.(protocol.Answer).Found)
}

// A node that follows a feed discreetly polls it and keeps the entries, and nothing that it says or does
// differs from what a node does that only passes them on: not its adverts, nor its offers, its answers to
// offers and to queries, in this run or the next.
func TestADiscreetFeedLeavesNoTraceOfItsPolls(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	line := lineOf(w, 3, Config{AdvertInterval: time.Minute})
	reader, quiet, source := line[0], line[1], line[2] // the reader cannot fetch news itself
	w.trace(quiet, news)
	quiet.follow(true, news)
	early := w.publish(news)
	w.run(10 * time.Minute)
	for _, h := range []*testHost{reader, source} {
		if hops, ok := h.node.linkTo(quiet.id).peer.Hops(news); !ok || hops != 1 {
			t.Errorf("%s hears of the feed at hop count %d, %v; want 1", h.id, hops, ok)
		}
	}
	late := w.publish(news)
	w.run(3 * time.Hour)
	if got := quiet.node.Status().Counters; got.Polled != 2 {
		t.Fatalf("polled %d entries of two", got.Polled)
	}
	quiet.kill()
	quiet.start()
	w.run(3 * time.Hour)
	for _, id := range []feed.EntryID{early, late} {
		if !quiet.has(id) || reader.has(id) {
			t.Fatalf("kept by the node that polls: %v; by its neighbor: %v", quiet.has(id), reader.has(id))
		}
	}
	if n := quiet.knownOf(news, reader); n != 0 {
		t.Errorf("a query found %d entries that nobody had brought", n)
	}

	// Once somebody brings them they go on, and are known.
	source.follow(false, news)
	w.run(10 * time.Minute)
	source.offerAll(bundleWith(w.feeds[news].entries...))
	w.run(10 * time.Minute)
	if !reader.has(early) || !reader.has(late) {
		t.Error("what a neighbor brought did not go on")
	}
	if n := quiet.knownOf(news, reader); n != 2 {
		t.Errorf("a query found %d entries of the two that a neighbor brought", n)
	}
}

// Of a bundle that is known in part, what only own polls have shown goes on too: who merely passes things
// on could not have known it.
func TestNothingIsPrunedForADiscreetPoll(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	line := lineOf(w, 3, Config{AdvertInterval: time.Minute})
	reader, quiet, source := line[0], line[1], line[2]
	quiet.follow(true, news)
	polled := w.publish(news)
	w.run(3 * time.Hour)
	w.publish(news)
	both := bundleWith(w.feeds[news].entries...) // of which the node has polled one
	if !quiet.has(polled) {
		t.Fatal("not polled")
	}
	if r := quiet.put(source, both); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	w.run(time.Minute)
	if !reader.has(polled) || !reader.store.HasDID(both.DID) {
		t.Error("the bundle was pruned")
	}
	// Another version than ours is another matter.
	w.publish(news)
	w.run(3 * time.Hour)
	altered := w.feeds[news].entries[2]
	if !quiet.has(altered.EntryID()) {
		t.Fatal("not polled")
	}
	altered.Title = "altered"
	quiet.put(source, bundleWith(altered))
	w.run(time.Minute)
	if reader.digest(altered.EntryID()) == altered.Digest() {
		t.Error("an altered entry, of which the node knows better, went on")
	}
}

// Discretion can be given up, and taken up again: what was polled openly before is offered no more.
func TestDiscretionChanges(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, news, blog)
	a, b := hosts[0], hosts[1]
	b.blocked[news] = true
	heard := func(want int) {
		t.Helper()
		w.run(5 * time.Second)
		if hops, ok := b.node.linkTo(a.id).peer.Hops(news); !ok || hops != want {
			t.Errorf("the feed is advertised at hop count %d, %v; want %d", hops, ok, want)
		}
	}
	open := w.publish(news)
	w.run(2 * time.Hour)
	if !b.has(open) {
		t.Fatal("an entry of a feed that is followed openly did not arrive")
	}
	a.poll(news)
	w.publish(news)
	a.poll(news) // goes round, and is kept for newcomers
	a.follow(true, news)
	heard(1)
	if s := a.node.Feeds()[1]; s.URL != news || !s.Discreet || s.Weight != 1 {
		t.Errorf("status %+v", s)
	}
	w.trace(a, news)
	late := w.add(Config{Trackers: []string{tracker}}, news)
	late.blocked[news] = true
	w.run(10 * time.Minute)
	if !linked(a, late) {
		t.Fatal("not linked")
	}
	w.watch = nil
	a.step(Subscribe{Feeds: []feed.URL{news}}) // says nothing about discretion
	heard(1)
	a.follow(false, news)
	heard(0)
	again := w.publish(news)
	w.run(2 * time.Hour)
	if !b.has(again) {
		t.Error("an entry of a feed that is followed openly again did not arrive")
	}
	// Who follows it no more forgets nothing.
	a.follow(true, news)
	a.step(Unsubscribe{Feeds: []feed.URL{news}})
	w.run(10 * time.Minute)
	a.step(Subscribe{Feeds: []feed.URL{news}})
	w.run(10 * time.Minute)
	heard(1)
}

// The price: entries of a discreet feed are worth half to us, and so do others charge us; and others think
// less of us.
func TestDiscretionHasItsPrice(t *testing.T) {
	for discreet, want := range map[bool]float64{false: 1, true: 0.5} {
		w := newNetwork(t)
		hosts := w.full(2, Config{}, blog)
		a, b := hosts[0], hosts[1]
		w.feed(news)
		w.run(10 * time.Minute)
		before := b.node.table.Claimed(a.id, nil)
		a.follow(discreet, news)
		b.follow(false, news)
		a.blocked[news] = true
		w.run(10 * time.Minute)
		w.publish(news)
		w.run(2 * time.Hour)
		if got := a.node.Neighbors()[0].Got; got != want {
			t.Errorf("discreet %v: the entry earned %v for who brought it, want %v", discreet, got, want)
		}
		if given := b.node.Neighbors()[0].Given; given != want {
			t.Errorf("discreet %v: the entry cost %v, want %v", discreet, given, want)
		}
		// The feed is the only one of its kind, which counts fourfold.
		if got := feedsOf(b.node.table.Claimed(a.id, nil) - before); got != 4*want {
			t.Errorf("discreet %v: we are worth %v more to the neighbor, want %v", discreet, got, 4*want)
		}
	}
}

// The weight of a feed counts for what a neighbor is worth, can be changed, and is remembered.
func TestWeightsAreKept(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{}, news, blog)
	a, b := hosts[0], hosts[1]
	worth := func(want int) {
		t.Helper()
		w.run(5 * time.Minute)
		// Each feed counts fourfold: nobody else offers it.
		if got := feedsOf(a.node.table.Claimed(b.id, nil)); got != float64(4*want) {
			t.Errorf("the neighbor is worth %v, want %d", got, 4*want)
		}
	}
	weigh := func(weight int) { a.step(Subscribe{Feeds: []feed.URL{news}, Weight: weight}) }
	worth(2)
	weigh(7)
	worth(8)
	weigh(0) // as it is
	worth(8)
	a.kill()
	a.start()
	worth(8)
	if s := a.node.Feeds(); s[0].Weight != 1 || s[1].Weight != 7 {
		t.Errorf("weights %d and %d, want 1 and 7", s[0].Weight, s[1].Weight)
	}
	weigh(1000)
	worth(101)
	a.step(Unsubscribe{Feeds: []feed.URL{news}})
	worth(1)
	weigh(3)
	worth(4)
}
