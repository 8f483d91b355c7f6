package node_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
)

// renames is a publisher whose feed was read and then moves for good to a name of it.
func (w *network) renames(from, to feed.URL, n int) *publisher {
	p := w.feed(from)
	p.answer = func(f node.Fetch) node.Fetched {
		if f.At() != from {
			return listing(f.Feed, n)
		}
		ev := listing(f.Feed, n)
		ev.Moved, ev.Named = to, true
		return ev
	}
	w.feed(to).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, n) }
	return p
}

// A feed that was read and moves goes by its new name after a day, with all that is here of it: so those who read it
// before and those who came since meet.
func TestWhatWasReadGetsItsNewName(t *testing.T) {
	w := newNetwork(t)
	w.feed(news).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
	c := node.Config{Trackers: []string{tracker}, Policy: polling.Fixed{Every: 6 * time.Hour}}
	a, b := w.add(c), w.add(c)
	labels := archive.SharesLabels
	a.step(node.Subscribe{Feeds: []feed.URL{news}, Weight: 5, Sharing: &labels})
	w.run(time.Minute)
	old := w.renames(news, there, 4)
	b.step(node.Subscribe{Feeds: []feed.URL{there}})
	w.run(23 * time.Hour)
	if got := a.followed(); !slices.Equal(got, []feed.URL{news}) {
		t.Fatalf("within a day it follows %v", got)
	}
	for range 8 {
		if w.run(time.Hour); slices.Equal(a.followed(), []feed.URL{there}) {
			break
		}
	}
	if s := a.stored(there); s.Page != news || s.Alias != "" ||
		s.NextPoll.Before(w.Now()) {
		t.Fatalf("follows %v, %+v", a.followed(), s)
	}
	requests := old.requests
	s := a.node.Feeds()[0]
	if s.Weight != 5 || s.Sharing != labels || s.Page != news || s.Alias != "" || s.LastSuccess.IsZero() ||
		s.Since.IsZero() {
		t.Errorf("it is followed as %+v", s)
	}
	if to, _ := a.node.Became(news); to != there ||
		!slices.Contains(a.notes, node.Note(node.Replaced{Page: news, Feed: there})) {
		t.Errorf("the old name became %q, notes %v", to, a.notes)
	}
	w.run(time.Hour)
	if _, byOld := b.node.HopsOf(a.id, news); byOld || !a.neighborOf(b.id) {
		t.Errorf("%v hears of the old name: %v", b.id, byOld)
	} else if hops, ok := b.node.HopsOf(a.id, there); hops != 0 || !ok {
		t.Errorf("it hears of the new one at hop count %d, %v", hops, ok)
	}
	w.feed(there).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 5) }
	w.run(13 * time.Hour)
	if n := a.node.Feeds()[0].Delivered + b.node.Feeds()[0].Delivered; n != 1 || old.requests != requests {
		t.Errorf("of one entry %d were brought by who read it before, or came since; %d more requests at the old name",
			n, old.requests-requests)
	}
	if got := len(a.arrived); got != 5 {
		t.Errorf("%d entries arrived, want the five that there are", got)
	}
	a.kill()
	a.start()
	a.step(node.Subscribe{Feeds: []feed.URL{news}, Standing: true})
	w.run(13 * time.Hour)
	if got := a.followed(); !slices.Equal(got, []feed.URL{there}) || old.requests != requests || len(a.arrived) != 5 {
		t.Errorf("after a restart: follows %v, %d entries arrived", got, len(a.arrived))
	}
}

// A feed is renamed by a document that shows that it is the same: a poll that brought none asks for it whole the next
// time.
func TestANameByAWholeDocument(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 6 * time.Hour}}, news)
	whole := 0
	p := w.feed(news)
	p.answer = func(f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.ETag, ev.Moved, ev.Named = `"1"`, there, true
		if f.ETag == `"1"` {
			ev.Document, ev.Status = nil, 304
		} else {
			whole++
		}
		return ev
	}
	w.feed(there).answer = p.answer
	w.run(2 * 24 * time.Hour)
	if whole != 2 || !slices.Equal(h.followed(), []feed.URL{there}) {
		t.Errorf("follows %v after %d whole documents", h.followed(), whole)
	}
}

// Where the new address of a feed does not work any more it is asked for at the old one, as one that has the new name.
func TestANewNameThatWasWrong(t *testing.T) {
	for _, code := range []int{404, 410} {
		w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 6 * time.Hour}}, news)
		w.feed(news).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
		w.run(time.Minute)
		w.renames(news, there, 3)
		w.run(3 * 24 * time.Hour)
		if got := h.followed(); !slices.Equal(got, []feed.URL{there}) {
			t.Fatalf("follows %v", got)
		}
		w.feed(there).answer = func(f node.Fetch) node.Fetched {
			if f.At() == there {
				return status(code, 0)
			}
			return listing(f.Feed, 4)
		}
		w.run(4 * 24 * time.Hour)
		s := h.node.Subscription(there)
		if s == nil || s.Ended || s.Errors != 0 || s.Alias != news || len(h.arrived) != 4 {
			t.Errorf("after %d: %d entries arrived, %+v", code, len(h.arrived), h.node.Feeds())
		}
		// Where both are gone it is asked for no more.
		w.feed(there).answer = func(f node.Fetch) node.Fetched { return status(410, 0) }
		w.run(4 * 24 * time.Hour)
		if s := h.node.Subscription(there); s == nil || !s.Ended {
			t.Errorf("both are gone: %+v", h.node.Feeds())
		}
	}
}

// What may be another feed keeps its name, and is asked for where it moved; so does what the owner follows by both
// names, what is on this node alone, and what neighbors know nothing of.
func TestWhatGetsNoOtherName(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		wish    node.Subscribe
		prepare func(w *network, h *testHost)
		answer  func(w *network, f node.Fetch, ev *node.Fetched)
	}{
		"both are followed": {prepare: func(w *network, h *testHost) {
			h.step(node.Subscribe{Feeds: []feed.URL{there}})
		}},
		"discreet": {wish: node.Subscribe{Discreet: &yes}},
		"private":  {wish: node.Subscribe{Private: &yes}},
		"by way of what is none": {answer: func(w *network, f node.Fetch, ev *node.Fetched) {
			switch f.At() {
			case news:
				ev.Moved, ev.Named = third, false
			case third:
				ev.Moved, ev.Named = there, true
			}
		}},
		"no name of it": {answer: func(w *network, f node.Fetch, ev *node.Fetched) { ev.Named = false }},
		"other entries": {answer: func(w *network, f node.Fetch, ev *node.Fetched) {
			for i := range ev.Document.Entries {
				e := &ev.Document.Entries[i]
				e.ID, e.Title = fmt.Sprint(w.Now(), i), fmt.Sprint("at ", w.Now(), i)
			}
		}},
		"too many entries by that name": {prepare: func(w *network, h *testHost) {
			var records []archive.Record
			for _, e := range listing(there, archive.MaxMerged/archive.RenamedEntry).Document.Entries {
				records = append(records, archive.NewRecord(e, w.Now(), stranger(1)))
			}
			h.store.Shared().Keep(records)
		}},
	} {
		w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 6 * time.Hour}})
		wish := c.wish
		wish.Feeds = []feed.URL{news}
		w.feed(news).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
		h.step(wish)
		w.run(time.Minute)
		answer := w.renames(news, there, 3)
		if before := answer.answer; c.answer != nil {
			answer.answer = func(f node.Fetch) node.Fetched {
				ev := before(f)
				c.answer(w, f, &ev)
				return ev
			}
		}
		if c.prepare != nil {
			c.prepare(w, h)
		}
		w.run(3 * 24 * time.Hour)
		if s := h.node.Subscription(news); s == nil || s.Alias != there || s.Errors != 0 {
			t.Errorf("%s: follows %v", name, h.followed())
		}
		if name == "both are followed" && h.node.Subscription(there) == nil {
			t.Error("what is followed by its new name is polled no more")
		}
	}
}

// What is polled for others by its new name is renamed as any feed and polled once, unless its owner follows it
// discreetly: others see nothing of that. By its old name it is polled for nobody.
func TestNamesOfWhatIsPolledForOthers(t *testing.T) {
	for _, discreet := range []bool{false, true} {
		w := newNetwork(t)
		a, old, to := w.volunteer(6), lone(1), lone(2)
		w.publish(to)
		patron(a, 0, to)
		w.run(poller.VolunteerWatch + 5*time.Minute)
		wantVolunteered(t, a, to)
		w.feed(old).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
		policy := "fixed:6h"
		a.step(node.Subscribe{Feeds: []feed.URL{old}, Discreet: &discreet, Policy: &policy})
		w.run(time.Hour)
		w.renames(old, to, 3)
		w.run(40 * time.Hour)
		if discreet {
			wantVolunteered(t, a, to)
			continue
		}
		wantVolunteered(t, a)
		if got := a.followed(); !slices.Equal(got, []feed.URL{to, news}) {
			t.Errorf("follows %v", got)
		}
		patron(a, 1, old)
		w.run(poller.VolunteerWatch + 2*time.Hour)
		wantVolunteered(t, a)
	}
}
