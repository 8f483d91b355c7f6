package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Feeds that are followed without saying so.

// follow has the node follow feeds discreetly, or openly.
func (h *testHost) follow(discreet bool, feeds ...feed.URL) {
	h.step(node.Subscribe{Feeds: feeds, Discreet: &discreet})
}

// knownOf counts the feed's entries that the node tells its neighbor from about.
func (h *testHost) knownOf(u feed.URL, from *testHost) int {
	r := h.hears(from, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u}}})
	return len(r.Reply.(protocol.Answer).Found)
}

// A node that follows a feed discreetly polls it and keeps the entries, and its neighbors hear nothing of it that they
// would not hear of a node that does not follow it: not in adverts, not in offers, and not in answers, in this run or
// the next.
func TestADiscreetFeedLeavesNoTraceOfItsPolls(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 3, node.Config{AdvertInterval: time.Minute})
	reader, quiet, source := line[0], line[1], line[2] // the reader cannot fetch news itself
	quiet.follow(true, news)
	early := w.publish(news)
	heard := func(h *testHost, want int) {
		t.Helper()
		hops, ok := h.node.HopsOf(quiet.id, news)
		if ok != (want >= 0) || ok && hops != want {
			t.Errorf("%s hears of the feed at hop count %d, %v; want %d", h.id, hops, ok, want)
		}
	}
	w.run(10 * time.Minute)
	heard(source, 1) // for the reader's sake
	heard(reader, protocol.Withdrawn)
	late := w.publish(news)
	w.run(3 * time.Hour)
	if got := quiet.node.Status().Counters; got.Polled != 2 {
		t.Fatalf("polled %d entries of two", got.Polled)
	}
	quiet.kill()
	quiet.start()
	w.run(3 * time.Hour)
	heard(reader, protocol.Withdrawn)
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
	heard(reader, 1)
	source.offerAll(bundleWith(w.feeds[news].entries...))
	w.run(10 * time.Minute)
	if !reader.has(early) || !reader.has(late) {
		t.Error("what a neighbor brought did not go on")
	}
	if n := quiet.knownOf(news, reader); n != 2 {
		t.Errorf("a query found %d entries of the two that a neighbor brought", n)
	}
}

// Of a bundle that is known in part, what only own polls have shown goes on too, in whatever version it comes: a node
// that merely passes things on could not have known it. The owner keeps what the publisher shows.
func TestNothingIsPrunedForADiscreetPoll(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 3, node.Config{AdvertInterval: time.Minute})
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
	if got := quiet.node.Status().Counters.Delivered; got != 1 {
		t.Errorf("%d entries count as delivered, of which the owner had one", got)
	}
	w.run(time.Minute)
	if !reader.has(polled) || !reader.store.HasDID(both.DID) {
		t.Error("the bundle was pruned")
	}
	w.publish(news)
	w.run(3 * time.Hour)
	altered := w.feeds[news].entries[2]
	shown := altered.Digest()
	altered.Title = "altered"
	quiet.put(source, bundleWith(altered))
	w.run(time.Minute)
	if reader.digest(altered.EntryID()) != altered.Digest() {
		t.Error("an altered entry was held back, which only a node that polls the feed could know")
	}
	if quiet.digest(altered.EntryID()) != shown {
		t.Error("an altered entry is in the place of the one that the publisher shows")
	}
}

// Entries that neighbors bring of a feed that is followed discreetly its owner has, too, once, and polls confirm them.
func TestTheOwnerOfADiscreetFeedGetsWhatNeighborsBring(t *testing.T) {
	w := newNetwork(t)
	line := lineOf(w, 3, node.Config{AdvertInterval: time.Minute})
	quiet, source := line[1], line[2]
	quiet.follow(true, news)
	source.follow(false, news)
	w.run(20 * time.Minute)
	id := w.publish(news)
	source.poll(news)
	w.run(time.Minute)
	if !quiet.has(id) {
		t.Fatal("it did not come")
	}
	if s := quiet.node.Feed(news); s.Delivered != 1 || s.Polled != 0 {
		t.Errorf("%d delivered and %d polled, want one that was delivered", s.Delivered, s.Polled)
	}
	w.run(3 * time.Hour)
	v := quiet.store.Known([]feed.EntryID{id})[0]
	if s := quiet.node.Feed(news); !v.Confirmed || !v.Polled || s.Delivered != 1 || s.Polled != 0 {
		t.Errorf("after a poll it is known as %+v, %d delivered and %d polled", v, s.Delivered, s.Polled)
	}
	found, err := quiet.store.Search(t.Context(), feed.Filter{Feed: news})
	if err != nil || len(found) != 1 {
		t.Errorf("the owner finds %d entries of one, %v", len(found), err)
	}
}

// amongFriends is a network in which one node is asked by a reader and has three friends, of as many networks.
func amongFriends(t *testing.T) (w *network, quiet, reader *testHost, friends []*testHost) {
	w = newNetwork(t)
	line := lineOf(w, 2, node.Config{AdvertInterval: time.Minute})
	reader, quiet = line[0], line[1]
	for _, ip := range []string{"30.1.1.1", "30.2.1.1", "30.3.1.1"} {
		friends = append(friends, quiet.agreeable(at(ip), blog))
	}
	w.run(5 * time.Minute)
	return w, quiet, reader, friends
}

// What witnesses agree on is confirmed for the owner of a discreet feed as well.
func TestWitnessesConfirmForTheOwnerOfADiscreetFeed(t *testing.T) {
	w, quiet, _, friends := amongFriends(t)
	quiet.follow(true, news)
	w.run(time.Minute)
	e := feed.Entry{Feed: news, ID: "new", Title: "new", Published: w.Now()}
	quiet.hasHeard(friends...)
	for i, f := range friends {
		if v := quiet.store.Known([]feed.EntryID{e.EntryID()})[0]; i < 2 && v.Confirmed {
			t.Fatalf("%d witnesses confirm an entry", i)
		}
		quiet.take(f, bundleWith(e, feed.Entry{Feed: news, ID: "old", Title: f.id.String(),
			Published: w.Now().AddDate(0, 0, -9)}))
	}
	if v := quiet.store.Known([]feed.EntryID{e.EntryID()})[0]; !v.Confirmed {
		t.Errorf("the owner has it as %+v", v)
	}
}

// hearsAltered has witnesses agree on another version of an entry.
func (h *testHost) hearsAltered(e feed.Entry, witnesses ...*testHost) {
	h.net.t.Helper()
	h.hasHeard(witnesses...)
	e.Title, e.Updated = "altered", e.Published.Add(time.Second)
	for _, f := range witnesses {
		h.take(f, bundleWith(e, feed.Entry{Feed: news, ID: "old", Title: f.id.String(),
			Published: h.net.Now().AddDate(0, 0, -9)}))
	}
}

// tells returns the node's answer when another asks for an entry.
func (h *testHost) tells(other *testHost, id feed.EntryID) []protocol.Found {
	h.net.t.Helper()
	r := h.hears(other, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{IDs: []feed.EntryID{id}}}})
	return r.Reply.(protocol.Answer).Found
}

// A version that a poll of a discreet feed has shown, and neighbors brought before, changes for its owner by another
// poll only, whether they brought it before the feed was followed or after. Others hear the version on which two
// witnesses agree.
func TestWitnessesDoNotAlterWhatADiscreetPollHasShown(t *testing.T) {
	for _, before := range []bool{true, false} {
		w, quiet, reader, friends := amongFriends(t)
		if !before {
			quiet.follow(true, news)
			w.run(time.Minute)
		}
		id := w.publish(news)
		e := w.feeds[news].entries[0]
		quiet.take(friends[0], bundleWith(e))
		if quiet.follow(true, news); before {
			w.run(time.Minute)
		}
		quiet.poll(news)
		polled := func(want feed.Digest) {
			t.Helper()
			if v := quiet.store.Known([]feed.EntryID{id})[0]; v.Digest != want || !v.Polled {
				t.Errorf("brought before it was followed %v: the owner has %+v, want what the poll has shown", before,
					v)
			}
		}
		polled(e.Digest())
		quiet.hearsAltered(e, friends[1:]...)
		polled(e.Digest())
		if found := quiet.tells(reader, id); len(found) != 1 || found[0].Title != "altered" {
			t.Errorf("others hear %+v", found)
		}
		p := w.feeds[news]
		p.entries[0].Title = "edited"
		p.edits++
		quiet.poll(news)
		polled(p.entries[0].Digest())
	}
}

// An owner who gives up discretion tells others what own polls list from then on, as the publisher shows it: two
// witnesses who say otherwise change nothing of that, and what they had altered before is set right.
func TestOpenPollsSetRightWhatWitnessesAltered(t *testing.T) {
	for _, before := range []bool{true, false} {
		w, quiet, reader, friends := amongFriends(t)
		quiet.follow(true, news)
		w.run(time.Minute)
		id := w.publish(news)
		e := w.feeds[news].entries[0]
		quiet.take(friends[0], bundleWith(e))
		quiet.poll(news)
		if before {
			quiet.hearsAltered(e, friends[1:]...)
		}
		quiet.follow(false, news)
		w.run(time.Minute)
		quiet.poll(news)
		quiet.hearsAltered(e, friends[1:]...)
		found := quiet.tells(reader, id)
		if len(found) != 1 || found[0].Title != e.Title || quiet.digest(id) != e.Digest() {
			t.Errorf("altered before %v: others hear %+v, and the owner has %q", before, found,
				quiet.record(id).Entry.Title)
		}
	}
}

// A node that gives up discretion asks for the whole document once: an answer that it is the same would leave to others
// what witnesses had altered, for as long as the publisher changes nothing. The rule holds for an answer on its way,
// too.
func TestAnUnchangedDocumentSetsRightWhatWitnessesAltered(t *testing.T) {
	for _, underWay := range []bool{false, true} {
		w, quiet, reader, friends := amongFriends(t)
		quiet.follow(true, news)
		w.run(time.Minute)
		id := w.publish(news)
		e := w.feeds[news].entries[0]
		quiet.take(friends[0], bundleWith(e))
		w.run(5 * time.Hour)
		quiet.hearsAltered(e, friends[1:]...)
		if underWay {
			w.feeds[news].slow = time.Minute
			for s := quiet.node.Subscription(news); !s.Polling; {
				w.next()
			}
		}
		quiet.follow(false, news)
		w.run(10 * time.Hour)
		if found := quiet.tells(reader, id); len(found) != 1 || found[0].Title != e.Title {
			t.Errorf("with a poll under way %v: others hear %+v", underWay, found)
		}
		if s := quiet.node.Subscription(news); s.ETag == "" || s.Polling {
			t.Errorf("with a poll under way %v: later polls are not conditional", underWay)
		}
	}
}

// Discretion can be given up, and taken up again: what was polled openly before is offered no more.
func TestDiscretionChanges(t *testing.T) {
	w, a, b := newPair(t, node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, news, blog)
	b.blocked[news] = true
	heard := func(want int) {
		t.Helper()
		w.run(5 * time.Second)
		if hops, ok := b.node.HopsOf(a.id, news); ok != (want >= 0) || ok && hops != want {
			t.Errorf("the feed is advertised at hop count %d, %v; want %d", hops, ok, want)
		}
	}
	open := w.publish(news)
	w.run(2 * time.Hour)
	if !b.has(open) {
		t.Fatal("an entry of a feed that is followed openly did not arrive")
	}
	heard(0)
	a.follow(true, news)
	heard(protocol.Withdrawn)
	if s := a.node.Feeds()[1]; s.URL != news || !s.Discreet || s.Weight != 1 {
		t.Errorf("status %+v", s)
	}
	quietly := w.publish(news)
	w.run(2 * time.Hour)
	a.step(node.Subscribe{Feeds: []feed.URL{news}}) // says nothing about discretion
	heard(protocol.Withdrawn)
	a.follow(false, news)
	heard(0)
	again := w.publish(news)
	w.run(2 * time.Hour)
	if !b.has(again) || b.has(quietly) || !a.has(quietly) {
		t.Errorf("of a node that follows it openly again: what was polled since came %v, what was polled before %v",
			b.has(again), b.has(quietly))
	}
	// A node that follows it no more forgets nothing.
	a.follow(true, news)
	a.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	w.run(10 * time.Minute)
	a.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(10 * time.Minute)
	heard(protocol.Withdrawn)
}

// A publisher's wish that nothing be passed on is heeded where discretion is given up, and what was passed on to nobody
// before is passed on to nobody after it is taken up.
func TestDiscretionKeepsWhatIsPrivate(t *testing.T) {
	w := newNetwork(t)
	a := w.full(3, node.Config{Trackers: []string{tracker}, AdvertInterval: time.Minute}, blog)[0]
	b, c := w.list[1], w.list[2]
	w.forbid(a, news)
	w.feed(news).private = true
	w.publish(news)
	a.follow(false, news)
	w.run(3 * time.Hour)
	w.publish(news)
	a.follow(true, news)
	b.follow(false, news)
	c.follow(false, news)
	w.run(3 * time.Hour)
	a.advertise(b, 0, news)
	w.run(3 * time.Hour)
	a.follow(false, news)
	w.publish(news)
	w.run(3 * time.Hour)
	if s := a.node.Feed(news); !s.Private || !a.has(w.feeds[news].entries[2].EntryID()) {
		t.Errorf("%+v", s)
	}
}

// The price: nobody brings entries of a discreet feed for its own sake, and neighbors think no more of us for it.
func TestDiscretionHasItsPrice(t *testing.T) {
	for discreet, want := range map[bool]float64{false: 1, true: 0} {
		w, a, b := newPair(t, node.Config{}, blog)
		w.feed(news)
		w.run(10 * time.Minute)
		before := b.status(a).Claimed
		a.follow(discreet, news)
		b.follow(false, news)
		a.blocked[news] = true
		w.run(10 * time.Minute)
		w.publish(news)
		w.run(2 * time.Hour)
		if got := a.node.Neighbors()[0].Got; got != want {
			t.Errorf("discreet %v: the entry earned %v for the neighbor that brought it, want %v", discreet, got, want)
		}
		if given := b.node.Neighbors()[0].Given; given != want {
			t.Errorf("discreet %v: the entry cost %v, want %v", discreet, given, want)
		}
		// The feed is the only one of its kind, which counts fourfold.
		if got := b.status(a).Claimed - before; got != 4*want {
			t.Errorf("discreet %v: we are worth %v more to the neighbor, want %v", discreet, got, 4*want)
		}
	}
}

// The weight of a feed counts for what a neighbor is worth, can be changed, and is remembered.
func TestWeightsAreKept(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news, blog)
	worth := func(want int) {
		t.Helper()
		w.run(5 * time.Minute)
		// Each feed counts fourfold: nobody else offers it.
		if got := a.status(b).Claimed; got != float64(4*want) {
			t.Errorf("the neighbor is worth %v, want %d", got, 4*want)
		}
	}
	weigh := func(weight int) { a.step(node.Subscribe{Feeds: []feed.URL{news}, Weight: weight}) }
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
	a.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	worth(1)
	weigh(3)
	worth(4)
}
