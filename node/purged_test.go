package node_test

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// forget has the node's host purge entries.
func (h *testHost) forget(ids ...feed.EntryID) {
	h.net.t.Helper()
	if dropped := h.store.Purge(h.net.Now(), ids); slices.Contains(dropped, false) {
		h.net.t.Fatalf("Purge = %v", dropped)
	}
}

// newsCount counts the entries that the node called news.
func (h *testHost) newsCount() (n int) {
	for _, note := range h.notes {
		if a, ok := note.(node.Arrived); ok {
			n += len(a.Records)
		}
	}
	return n
}

// Purged entries stay in their publisher's document for long. They are no news then, open no gap, and go to nobody.
func TestWhatWasPurgedIsNotPolledAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newNetwork(t)
		hosts := w.full(2, node.Config{}, news)
		h := hosts[0]
		var old []feed.EntryID
		for range 5 {
			old = append(old, w.publish(news))
			latest := &w.feed(news).entries[len(old)-1]
			latest.Updated = latest.Published
			w.run(2 * time.Minute)
		}
		h.poll(news)
		w.run(3 * time.Hour)
		if h.newsCount() != 5 || hosts[1].newsCount() != 5 {
			t.Fatalf("%d and %d entries arrived", h.newsCount(), hosts[1].newsCount())
		}
		h.forget(old...)
		if restart {
			h.kill()
			w.run(time.Minute)
			h.start()
		}
		puts := count(h.calls, protocol.PutEntries{}.Method())
		w.feed(news).edits++ // so that the document comes, as it is
		offers := count(h.calls, protocol.CheckDID{}.Method())
		h.poll(news)
		w.run(time.Minute)
		if more := count(h.calls, protocol.CheckDID{}.Method()) - offers; more > 0 {
			t.Errorf("restart %v: %d bundles of what was purged were offered", restart, more)
		}
		fresh := w.publish(news)
		h.poll(news)
		w.run(time.Hour)
		if h.newsCount() != 6 || !h.has(fresh) || h.has(old[0]) {
			t.Errorf("restart %v: %d entries arrived, the new one is there %v, a purged one %v", restart, h.newsCount(),
				h.has(fresh), h.has(old[0]))
		}
		if more := count(h.calls, protocol.PutEntries{}.Method()) - puts; more > 1 {
			t.Errorf("restart %v: %d bundles were sent on, want that of the new entry at most", restart, more)
		}
		if s := h.node.Subscription(news); s.Gap.Open() || s.Slipped {
			t.Errorf("restart %v: a gap %+v", restart, s.Gap)
		}
	}
}

// To neighbors that bring it, what was purged is as if it were there: it is not stored and not passed on, they earn no
// more, nobody is fined, and what comes with it is taken. Another version of it is news, for what was purged may have
// been forged.
func TestWhatWasPurgedIsNotTakenFromNeighbors(t *testing.T) {
	type outcome struct {
		news, sent, suspects int
		got                  incentive.Credit
	}
	var outcomes []outcome
	for _, purged := range []bool{false, true} {
		w := newNetwork(t)
		hosts := w.full(3, bound(), news)
		h := hosts[0]
		b := fresh(w, news, "first,", 3)
		h.put(hosts[1], b)
		w.run(time.Minute)
		ids := []feed.EntryID{b.Entries[0].EntryID(), b.Entries[1].EntryID(), b.Entries[2].EntryID()}
		if purged {
			h.forget(ids...)
		}
		before := h.node.SetAside()
		h.hears(hosts[2], protocol.CheckDID{DID: b.DID})
		again := protocol.NewBundle(news,
			[]feed.Entry{b.Entries[1], {Feed: news, ID: "another", Title: "T", Published: w.Now()}})
		edited := b.Entries[0]
		edited.Title, edited.Updated = "edited", w.Now()
		for _, other := range []*protocol.Bundle{b, again,
			protocol.NewBundle(news, []feed.Entry{b.Entries[0], b.Entries[2]})} {
			if r := h.put(hosts[2], other); r.Fault != nil {
				t.Errorf("purged %v: put: %v", purged, r.Fault)
			}
			w.run(time.Minute)
		}
		for i, v := range h.store.Known(ids) {
			if v.Purged != purged || v.Kept() == purged {
				t.Errorf("purged %v: entry %d is %+v", purged, i, v)
			}
		}
		if aside := h.node.SetAside() - before; purged && aside > 0 || purged &&
			!h.node.Saw(again.DID) {
			t.Errorf("%d versions of what was purged wait to be confirmed, and the bundle is done with %v", aside,
				h.node.Saw(again.DID))
		}
		if !h.has(again.Entries[1].EntryID()) {
			t.Errorf("purged %v: what came beside it is not there", purged)
		}
		got := outcome{h.newsCount(), count(h.calls, protocol.PutEntries{}.Method()), h.suspects(hosts[2].id),
			h.account(hosts[2]).Got}
		outcomes = append(outcomes, got)
		h.put(hosts[2], protocol.NewBundle(news, []feed.Entry{edited}))
		if (h.digest(ids[0]) == edited.Digest()) != purged {
			t.Errorf("purged %v: another version is there %v", purged, !purged)
		}
	}
	if outcomes[1].got > outcomes[0].got {
		t.Errorf("%v is earned by it, %v where it was not purged", outcomes[1].got, outcomes[0].got)
	}
	outcomes[0].got, outcomes[1].got = 0, 0
	if outcomes[0] != outcomes[1] || outcomes[1].news != 4 {
		t.Errorf("%+v, and %+v where it was purged", outcomes[0], outcomes[1])
	}
}

// Purged entries are served to nobody, and not asked for on the network.
func TestWhatWasPurgedIsNeitherServedNorFetched(t *testing.T) {
	w, h := newAlone(t, node.Config{Incentive: incentive.Config{Gifts: 100_000, Gift: 100_000}})
	one, two := oldEntry(news, 1), oldEntry(news, 2)
	h.holds(one, two)
	h.forget(one.EntryID())
	if b, fault := h.wants(stranger(1), one, two); fault != nil || len(b.Entries) != 1 ||
		!b.Entries[0].Entry.Equal(&two) {
		t.Errorf("got %+v, %v, want what is left", b, fault)
	}
	holder := w.add(node.Config{})
	holder.holds(one)
	if p := h.pulls(wishFor(one, holder)); len(p.Stored) > 0 || h.has(one.EntryID()) {
		t.Errorf("fetched %+v", p)
	}
}
