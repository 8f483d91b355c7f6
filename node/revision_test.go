package node_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// Versions of a known entry: which neighbors are believed, and what goes on.

// editors are n nodes that follow news, of which everyone has polled one entry, last changed at its
// publication.
func editors(t *testing.T, n int, c node.Config) (*network, feed.Entry) {
	w := newNetwork(t)
	w.publish(news)
	e := &w.feeds[news].entries[0]
	e.Updated = e.Published
	w.full(n, c, news)
	w.run(2 * time.Hour)
	for _, h := range w.list {
		h.poll(news)
	}
	if r := w.list[0].record(e.EntryID()); !r.Confirmed {
		t.Fatal("the entry is not confirmed by a poll")
	}
	return w, *e
}

// edit has the publisher change its first entry, and say when if dated.
func (w *network) edit(text string, dated bool) feed.Entry {
	p := w.feeds[news]
	p.entries[0].Summary = text
	if dated {
		p.entries[0].Updated = w.Now().Truncate(time.Second)
	}
	p.edits++
	return p.entries[0]
}

// version is a bundle of e with another text, changed so long after publication, that came that way.
func version(e feed.Entry, text string, after time.Duration, path ...protocol.NodeID) *protocol.Bundle {
	e.Summary, e.Updated = text, e.Updated.Add(after)
	b := bundleWith(e)
	b.Path = path
	return b
}

// shows reports whether a reader can find the text.
func (h *testHost) shows(text string) bool {
	found, err := h.store.Search(context.Background(), feed.Filter{Words: []string{text}})
	if err != nil {
		h.net.t.Fatal(err)
	}
	return len(found) > 0
}

// One of three neighbors alters what it brings: nobody reads it, and the next own poll sounds the alarm.
func TestAnAlteredEntryIsNeverShown(t *testing.T) {
	w, e := editors(t, 4, bound())
	a, foe := w.list[0], w.list[1]
	shown := false
	w.watch = func(h *testHost, _ node.Event, _ []node.Effect) { shown = shown || h == a && a.shows("altered") }
	before := a.account(foe)
	for i := range 3 { // in one bundle and another
		b := version(e, "altered", time.Minute)
		if i > 0 {
			b = bundleWith(b.Entries[0], feed.Entry{Feed: news, ID: fmt.Sprint("beside ", i),
				Title: "T", Published: w.Now().AddDate(0, 0, -9)})
		}
		a.take(foe, b)
	}
	w.run(59 * time.Minute)
	a.poll(news)
	if got := a.node.Status().Counters.Altered; got != 0 {
		t.Errorf("%d versions count as altered before publishers' caches are over", got)
	}
	w.run(3 * time.Hour)
	if got := a.node.Status().Counters.Altered; got != 1 || a.suspects(foe.id) != 1 {
		t.Errorf("%d versions count as altered, %d notes say so; want 1", got, a.suspects(foe.id))
	}
	if shown || a.digest(e.EntryID()) != e.Digest() {
		t.Error("the altered text was shown")
	}
	if got := a.account(foe); !a.neighborOf(foe.id) || got.Fined != 0 || got.Got != before.Got {
		t.Error("it is punished, although some publishers show everybody another version")
	}
	if !a.has(bundleWith(feed.Entry{Feed: news, ID: "beside 1", Title: "T"}).Entries[0].EntryID()) {
		t.Error("what came beside it was not kept")
	}
}

// A version that an own poll has shown stays as it is, whatever neighbors agree on; one that none has shown gives way
// to two witnesses.
func TestWhoConfirmsAVersion(t *testing.T) {
	x, y := stranger(1), stranger(2)
	for name, c := range map[string]struct {
		first, second []protocol.NodeID
		after         time.Duration
		same          bool // the same neighbor brings both
		strangers     bool // they never brought what is true
		ours          int  // whose word our version is
		want          bool
	}{
		"two polls": {ours: confirmed, after: time.Minute, want: true},
		"two relays": {ours: confirmed, first: []protocol.NodeID{x},
			second: []protocol.NodeID{y}, after: time.Minute, want: true},
		"two relays of one source": {ours: confirmed, first: []protocol.NodeID{x, y},
			second: []protocol.NodeID{x}, after: time.Minute},
		"two relays of one network": {ours: confirmed, first: []protocol.NodeID{x},
			second: []protocol.NodeID{near(x)}, after: time.Minute},
		"one neighbor twice": {ours: confirmed, second: []protocol.NodeID{x},
			after: time.Minute, same: true},
		"two strangers":                          {ours: confirmed, after: time.Minute, strangers: true},
		"a version that is not dated":            {ours: confirmed},
		"one that is older":                      {ours: confirmed, after: -time.Minute},
		"one from the future":                    {ours: confirmed, after: 10 * time.Hour},
		"not dated, but ours is not known":       {ours: brought, want: true},
		"likewise, by strangers":                 {ours: brought, strangers: true},
		"later than what an own poll has shown":  {ours: polled, after: time.Minute},
		"not dated, as an own poll has shown it": {ours: polled},
		"earlier than what an own poll shows":    {ours: polled, after: -time.Minute},
		"later than what a poll confirmed":       {ours: listed, after: time.Minute},
	} {
		w, e := editors(t, 4, bound())
		a, b, third := w.list[0], w.list[1], w.list[3]
		if c.ours != polled {
			e = feed.Entry{Feed: news, ID: "brought", Title: "T", Published: w.Now(), Updated: w.Now()}
			a.take(third, bundleWith(e))
		}
		switch c.ours {
		case confirmed:
			a.store.Confirm(w.Now(), []feed.EntryID{e.EntryID()})
		case listed:
			w.feed(news).entries = append(w.feed(news).entries, e)
			a.poll(news)
		}
		other := w.list[2]
		if c.same {
			other = b
		}
		if !c.strangers {
			a.hasHeard(b, other)
		}
		sent := 0
		w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
			for _, ef := range effects {
				if call, ok := ef.(node.Call); ok && h == a && call.To.Node == third.id {
					if put, ok := call.Call.(protocol.PutEntries); ok && put.Bundle.Entries[0].Summary == "edited" {
						sent++
					}
				}
			}
		}
		before := []incentive.Credit{a.account(b).Got, a.account(other).Got}
		v := version(e, "edited", c.after, c.first...)
		a.take(b, v)
		if a.shows("edited") {
			t.Fatalf("%s: the first is shown", name)
		}
		again := version(e, "edited", c.after)
		again = bundleWith(again.Entries[0], feed.Entry{Feed: news, ID: "old", Title: "T",
			Published: w.Now().AddDate(0, 0, -9)})
		again.Path = c.second
		a.take(other, again)
		if a.shows("edited") != c.want {
			t.Errorf("%s: shown is %v, want %v", name, !c.want, c.want)
		}
		awaited := c.ours == brought || c.ours == confirmed && c.after > 0 && c.after < time.Hour
		if !c.want && a.node.Saw(v.DID) == awaited {
			t.Errorf("%s: the bundle counts as seen: %v", name, awaited)
		}
		if r := a.record(e.EntryID()); r.Confirmed != (c.want || c.ours != brought) {
			t.Errorf("%s: it is confirmed: %v", name, r.Confirmed)
		}
		w.run(10 * time.Second)
		if passed := c.want && c.after > 0; (sent == 1) != passed || sent > 1 {
			t.Errorf("%s: it was passed on %d times", name, sent)
		}
		if got := []incentive.Credit{a.account(b).Got, a.account(other).Got}; !slices.Equal(got, before) {
			t.Errorf("%s: it earned: %v, before %v", name, got, before)
		}
	}
}

// The sources of a version that a node keeps.
const (
	brought   = iota // one neighbor's
	confirmed        // that of two witnesses
	listed           // an own poll's, after a neighbor brought it
	polled           // an own poll's
)

// A neighbor that is behind has an older version, and nobody wonders.
func TestAnOlderVersionIsNoAlarm(t *testing.T) {
	w, e := editors(t, 2, bound())
	a, late := w.list[0], w.list[1]
	b := version(e, "older", -time.Minute)
	a.take(late, b)
	w.run(2 * time.Hour)
	if c := a.node.Status().Counters; c.Altered != 0 || a.node.SetAside() != 0 ||
		!a.node.Saw(b.DID) {
		t.Errorf("%d count as altered, %d are set aside", c.Altered, a.node.SetAside())
	}
}

// No neighbor that had a version set aside is asked for it again; everybody else is.
func TestASetAsideVersionIsTakenOnceFromEach(t *testing.T) {
	w, _ := editors(t, 4, bound())
	a, foe, other := w.list[0], w.list[1], w.list[2]
	e := feed.Entry{Feed: news, ID: "brought", Title: "T", Published: w.Now(), Updated: w.Now()}
	a.take(w.list[3], bundleWith(e))
	v := version(e, "altered", time.Minute)
	check := protocol.CheckDID{DID: v.DID}
	if r := a.hears(foe, check); r.Reply != protocol.Seen(false) {
		t.Fatalf("at first it is answered %v", r.Reply)
	}
	a.take(foe, v)
	a.take(foe, v)
	if got := a.node.SetAside(); got != 1 ||
		a.node.Owes(foe.id, v.DID) {
		t.Errorf("%d versions are set aside", got)
	}
	if r := a.hears(foe, check); r.Reply != protocol.Seen(true) {
		t.Errorf("the neighbor that delivered it is answered %v", r.Reply)
	}
	if r := a.hears(other, check); r.Reply != protocol.Seen(false) {
		t.Errorf("a neighbor that did not is answered %v", r.Reply)
	}
}

// An edit that a publisher dates reaches nodes that never could poll the entry once two witnesses have it; one that it
// does not date stays with nodes that poll, and a node that has polled the entry waits for the next poll.
func TestEditsReachOthersByTwoWays(t *testing.T) {
	for _, c := range []struct{ dated, polled, want bool }{{true, false, true}, {false, false, false},
		{true, true, false}} {
		w, e := editors(t, 3, bound())
		first, second, blind := w.list[0], w.list[1], w.list[2]
		blind.hasHeard(first, second)
		if !c.polled {
			blind.blocked[news] = true
			w.run(time.Minute)
			w.publish(news)
			e = w.feed(news).entries[1]
			w.feed(news).entries = w.feed(news).entries[1:]
			w.feed(news).entries[0].Updated = e.Published
			first.poll(news)
			second.poll(news)
			w.run(10 * time.Second)
			blind.store.Confirm(w.Now(), []feed.EntryID{e.EntryID()})
		}
		blind.blocked[news] = true
		w.run(10 * time.Minute)
		edited := w.edit("edited", c.dated)
		first.poll(news)
		w.run(10 * time.Second)
		if blind.shows("edited") || !first.shows("edited") {
			t.Fatalf("%+v: one neighbor's word is believed", c)
		}
		second.poll(news)
		w.run(10 * time.Second)
		if got := blind.digest(e.EntryID()) == edited.Digest(); got != c.want {
			t.Errorf("%+v: it has the edited version: %v", c, got)
		}
		if !blind.record(e.EntryID()).Confirmed {
			t.Errorf("%+v: it is not confirmed", c)
		}
		w.run(3 * time.Hour)
		for i, h := range w.list {
			if got := h.node.Status().Counters; got.Altered != 0 || got.Forged != 0 {
				t.Errorf("%+v: node %d counts %d altered, %d forged", c, i, got.Altered, got.Forged)
			}
		}
	}
}

// The fourth edit of a day is not passed on.
func TestEditsArePassedOnAFewTimesADay(t *testing.T) {
	w, e := editors(t, 2, node.Config{})
	a, b := w.list[0], w.list[1]
	b.blocked[news] = true
	sent := 0
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, ef := range effects {
			if call, ok := ef.(node.Call); ok && h == a && call.Call.Method() == (protocol.PutEntries{}).Method() {
				sent++
			}
		}
	}
	for i, want := range []int{1, 2, 3, 3, 3, 4} {
		w.run(5 * time.Hour)
		edited := w.edit(fmt.Sprint("edit ", i), true)
		a.poll(news)
		w.run(10 * time.Second)
		if a.digest(e.EntryID()) != edited.Digest() || sent != want {
			t.Errorf("after edit %d: %d were sent, want %d", i, sent, want)
		}
	}
}

// Two witnesses agree on what is not the publisher's, before any own poll: that sets it right, also after a restart.
func TestAnOwnPollOverrulesTwoWitnesses(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w, _ := editors(t, 3, bound())
		a := w.list[0]
		a.hasHeard(w.list[1:]...)
		w.publish(news)
		e := w.feed(news).entries[1]
		a.take(w.list[1], version(e, "altered", 0))
		a.take(w.list[2], bundleWith(version(e, "altered", 0).Entries[0],
			feed.Entry{Feed: news, ID: "beside", Title: "T", Published: w.Now()}))
		if e := a.record(e.EntryID()); !e.Confirmed || !a.shows("altered") {
			t.Fatal("two witnesses were not believed")
		}
		if restart {
			a.kill()
			a.start()
		}
		w.run(time.Hour*11/10 + time.Minute) // its turn comes by then
		if a.shows("altered") || a.digest(e.EntryID()) != e.Digest() {
			t.Errorf("restart %v: the publisher's version did not come", restart)
		}
	}
}

// Somebody alters an entry, dates it later than its publisher did, and is faster than everybody else. Versions that two
// neighbors bring after that are kept all the same.
func TestALaterDateKeepsNobodyAway(t *testing.T) {
	for name, later := range map[string]time.Duration{"a little": time.Minute,
		"beyond belief": 20 * 365 * 24 * time.Hour} {
		w := newNetwork(t)
		w.full(4, bound(), news)
		a := w.list[0]
		a.hasHeard(w.list[1:]...)
		e := feed.Entry{Feed: news, ID: "true", Title: "T", Published: w.Now(), Updated: w.Now().Truncate(time.Second)}
		a.take(w.list[1], version(e, "altered", later))
		a.take(w.list[2], bundleWith(e))
		if a.node.Saw(bundleWith(e).DID) {
			t.Errorf("%s: nobody is asked for the publisher's version any more", name)
		}
		a.take(w.list[3], bundleWith(e))
		if a.digest(e.EntryID()) != e.Digest() || a.shows("altered") {
			t.Errorf("%s: the publisher's version was dropped", name)
		}
	}
}
