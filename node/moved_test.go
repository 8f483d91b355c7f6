package node_test

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

const there feed.URL = "https://new.example.org/feed"

// movable is a node that polls a feed every six hours, which redirects to where to says.
func movable(t *testing.T, to func(f node.Fetch) feed.URL) (*network, *testHost, *publisher) {
	w := newNetwork(t)
	p := w.feed(news)
	p.answer = func(f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Moved = to(f)
		return ev
	}
	return w, w.add(node.Config{Policy: polling.Fixed{Every: 6 * time.Hour}}, news), p
}

// A feed that moves is asked for at its new address, once that was seen for a day, and its entries stay the same.
func TestAFeedThatMoves(t *testing.T) {
	var at []feed.URL
	w, h, _ := movable(t, func(f node.Fetch) feed.URL {
		at = append(at, f.At())
		if f.At() == news {
			return there
		}
		return ""
	})
	w.run(23 * time.Hour)
	if s := h.node.Subscription(news); s.Alias != "" || s.Moved != there {
		t.Errorf("within a day: alias %q, moved %q", s.Alias, s.Moved)
	}
	h.kill()
	h.start()
	w.run(3 * 24 * time.Hour)
	s := h.node.Feeds()[0]
	if s.URL != news || s.Alias != there || at[len(at)-1] != there {
		t.Errorf("%+v, asked at %v", s, at)
	}
	if got := len(h.arrived); got != 3 {
		t.Errorf("%d entries arrived, want the three that there are", got)
	}
	h.kill()
	h.start()
	w.run(7 * time.Hour)
	if at[len(at)-1] != there || h.node.Subscription(news).Queued.Host() != "new.example.org" {
		t.Errorf("after a restart it was asked for at %s", at[len(at)-1])
	}
}

// A new address that does not work, or that sends back, is given up.
func TestAMoveThatWasWrong(t *testing.T) {
	for name, wrong := range map[string]func(f node.Fetch) node.Fetched{
		"fails":   func(f node.Fetch) node.Fetched { return status(404, 0) },
		"is gone": func(f node.Fetch) node.Fetched { return status(410, 0) },
		"sends back": func(f node.Fetch) node.Fetched {
			ev := listing(f.Feed, 3)
			ev.Moved = news
			return ev
		},
	} {
		broken := false
		w, h, p := movable(t, func(node.Fetch) feed.URL { return there })
		p.answer = func(f node.Fetch) node.Fetched {
			if f.At() == there && broken {
				return wrong(f)
			}
			ev := listing(f.Feed, 3)
			if f.At() == news && !broken {
				ev.Moved = there
			}
			return ev
		}
		w.run(3 * 24 * time.Hour)
		if h.stored(news).Alias != there {
			t.Fatalf("%s: has not moved", name)
		}
		broken = true
		w.run(6 * 24 * time.Hour)
		if s := h.node.Subscription(news); s.Alias != "" || s.Errors != 0 || s.Ended ||
			s.Queued.Host() != news.Host() {
			t.Errorf("%s: alias %q, %d errors, ended %v", name, s.Alias, s.Errors, s.Ended)
		}
	}
}

// moves is a publisher that redirects for good to where its feed is now, as package fetch tells of it.
func (w *network) moves(from, to feed.URL) *publisher {
	p := w.feed(from)
	p.answer = func(f node.Fetch) node.Fetched {
		if f.At() != from || !f.New {
			ev := listing(f.Feed, 3)
			ev.Moved = to
			return ev
		}
		ev := listing(to, 3)
		ev.Instead = to
		return ev
	}
	return p
}

// A feed that moved before it was read is followed where it is, and its document counts for it: so those who say its
// old name and those who say the new one meet.
func TestWhatMovedBeforeItWasReadIsFollowedWhereItIs(t *testing.T) {
	w := newNetwork(t)
	old := w.moves(news, there)
	w.feed(there).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
	labels, name := archive.SharesLabels, "fixed:3h"
	c := node.Config{Trackers: []string{tracker}}
	a, b := w.add(c), w.add(c)
	a.step(node.Subscribe{Feeds: []feed.URL{news}, Weight: 5, Sharing: &labels, Policy: &name})
	b.step(node.Subscribe{Feeds: []feed.URL{there}})
	w.run(time.Minute)
	if got := a.followed(); !slices.Equal(got, []feed.URL{there}) || old.requests != 1 || w.feed(there).requests != 1 {
		t.Fatalf("follows %v after %d requests there, and %d here for another node", got, old.requests,
			w.feed(there).requests)
	}
	s := a.node.Feeds()[0]
	if s.Weight != 5 || s.Sharing != labels || s.Policy != name || s.Page != news ||
		s.LastSuccess.IsZero() || s.Alias != "" {
		t.Errorf("it is followed as %+v", s)
	}
	if to, known := a.node.Became(news); to != there || known ||
		!slices.Contains(a.notes, node.Note(node.Replaced{Page: news, Feed: there})) {
		t.Errorf("the old name became %q, notes %v", to, a.notes)
	}
	if a.node.AwaitsPoll(news) {
		t.Error("who said the old name still waits for its first poll")
	}
	if got := len(a.arrived); got != 3 {
		t.Errorf("%d entries arrived, want the three that there are", got)
	}
	w.run(time.Hour)
	if !a.neighborOf(b.id) {
		t.Error("who said the old name and who said the new one have not met")
	}
	// A config file says the old name at each start.
	a.kill()
	a.start()
	a.step(node.Subscribe{Feeds: []feed.URL{news}, Standing: true})
	w.run(9 * time.Hour)
	if got := a.followed(); !slices.Equal(got, []feed.URL{there}) || old.requests != 1 {
		t.Errorf("after a restart: follows %v after %d requests", got, old.requests)
	}
}

// What is followed already stays as it is, and takes in what its other name had.
func TestTwoNamesOfOneFeed(t *testing.T) {
	w := newNetwork(t)
	old := w.moves(news, there)
	w.feed(there).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
	h := w.add(node.Config{})
	h.step(node.Subscribe{Feeds: []feed.URL{there}, Weight: 3})
	w.run(time.Minute)
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Weight: 7})
	w.run(10 * time.Minute)
	if s := h.node.Feeds(); len(s) != 1 || s[0].URL != there || s[0].Weight != 3 || s[0].Page != news {
		t.Fatalf("follows %+v", s)
	}
	if to, known := h.node.Became(news); to != there || !known || len(h.arrived) != 3 || old.requests != 1 {
		t.Errorf("became %q, known before: %v; %d entries arrived after %d requests", to, known, len(h.arrived),
			old.requests)
	}
	// There may be more, and none is asked for again because a config file says it at each start.
	older := w.moves(third, there)
	h.step(node.Subscribe{Feeds: []feed.URL{third}})
	w.run(10 * time.Minute)
	h.kill()
	h.start()
	h.step(node.Subscribe{Feeds: []feed.URL{news, there, third}, Standing: true})
	w.run(time.Hour)
	for _, u := range []feed.URL{news, third} {
		if to, _ := h.node.Became(u); to != there {
			t.Errorf("%s became %q", u, to)
		}
	}
	if got := h.followed(); !slices.Equal(got, []feed.URL{there}) || old.requests != 1 || older.requests != 1 {
		t.Errorf("after a restart it follows %v, after %d and %d requests", got, old.requests, older.requests)
	}
}

// An old name that is said again is asked for again once what it became is followed no more, and not before.
func TestAnOldNameIsSaidAgain(t *testing.T) {
	w := newNetwork(t)
	old := w.moves(news, there)
	answer := old.answer
	old.answer = func(f node.Fetch) node.Fetched {
		ev := answer(f)
		ev.Freshness = courtesy.Freshness{Lifetime: 6 * time.Hour, Stated: true}
		return ev
	}
	h := w.add(node.Config{})
	for range 2 {
		h.step(node.Subscribe{Feeds: []feed.URL{news}})
		w.run(time.Minute)
		h.step(node.Subscribe{Feeds: []feed.URL{news}, Weight: 7})
		if s := h.node.Feeds(); len(s) != 1 || s[0].URL != there || s[0].Weight != 7 {
			t.Fatalf("follows %+v", s)
		}
		h.step(node.Unsubscribe{Feeds: []feed.URL{there}})
	}
	if old.requests != 2 {
		t.Errorf("it was asked for %d times", old.requests)
	}
}

// A feed that ended, or fails, is asked for again where another name of it shows that it is there.
func TestAnOldNameRevives(t *testing.T) {
	for _, code := range []int{410, 500} {
		w := newNetwork(t)
		w.moves(news, there)
		p := w.feed(there)
		p.answer = func(node.Fetch) node.Fetched { return status(code, 0) }
		h := w.add(node.Config{}, there)
		w.run(time.Minute)
		p.answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
		h.step(node.Subscribe{Feeds: []feed.URL{news}})
		w.run(time.Minute)
		if s := h.node.Subscription(there); s == nil || s.Ended || s.Errors != 0 || s.LastSuccess.IsZero() {
			t.Errorf("after %d it is %+v", code, s)
		}
	}
}

// What comes by the old name while it is asked for keeps that.
func TestSomethingComesWhileItMoves(t *testing.T) {
	w := newNetwork(t)
	w.moves(news, there).slow = 10 * time.Second
	h := w.add(node.Config{}, news)
	w.run(5 * time.Second)
	e := listing(news, 1).Document.Entries[0]
	h.store.Keep([]archive.Record{archive.NewRecord(e, w.Now(), stranger(1))})
	w.run(time.Minute)
	if s := h.node.Subscription(news); s == nil || s.LastSuccess.IsZero() || s.Moved != there {
		t.Errorf("follows %v", h.followed())
	}
}

// A page that names a feed by its old name, as pages with old links do, leads to where that is.
func TestAPageNamesAnOldName(t *testing.T) {
	for _, choice := range []bool{false, true} {
		w := newNetwork(t)
		old := w.moves(news, there)
		names := []feed.URL{news}
		if choice {
			names = append(names, third)
		}
		w.page(site, names...)
		h := w.add(node.Config{})
		for _, u := range []feed.URL{news, site, news} {
			h.step(node.Subscribe{Feeds: []feed.URL{u}})
			w.run(time.Minute)
		}
		if got := h.followed(); !slices.Equal(got, []feed.URL{there}) || old.requests != 1 || len(h.arrived) != 3 {
			t.Errorf("choice %v: follows %v, after %d requests, with %d entries", choice, got, old.requests,
				len(h.arrived))
		}
		if to, _ := h.node.Became(site); to != there {
			t.Errorf("choice %v: the page became %q", choice, to)
		}
	}
}

// An address that moved to an old name of a feed has moved to the feed.
func TestAnOldNameLeadsToAnother(t *testing.T) {
	w := newNetwork(t)
	w.moves(news, there)
	w.moves(third, news)
	h := w.add(node.Config{})
	for _, u := range []feed.URL{news, third} {
		h.step(node.Subscribe{Feeds: []feed.URL{u}})
		w.run(time.Minute)
	}
	if got := h.followed(); !slices.Equal(got, []feed.URL{there}) || len(h.arrived) != 3 {
		t.Errorf("follows %v, with %d entries", got, len(h.arrived))
	}
	if to, known := h.node.Became(third); to != there || !known {
		t.Errorf("the other name became %q, known before: %v", to, known)
	}
}

// What is followed discreetly by one of its names is so by the other.
func TestBothNamesAreDiscreet(t *testing.T) {
	w := newNetwork(t)
	w.moves(news, there)
	w.feed(there).answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 3) }
	h := w.add(node.Config{}, there)
	w.run(time.Minute)
	yes := true
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Discreet: &yes})
	w.run(time.Minute)
	if s := h.node.Feeds(); len(s) != 1 || s[0].URL != there || !s[0].Discreet {
		t.Errorf("follows %+v", s)
	}
}

// What was read, or is here from others, has entries by its name, and keeps it. So does what a page named, or
// publishers could send a node about.
func TestWhatWasReadKeepsItsName(t *testing.T) {
	for name, prepare := range map[string]func(w *network, h *testHost){
		"read": func(w *network, h *testHost) {
			w.publish(news)
			h.step(node.Subscribe{Feeds: []feed.URL{news}})
			w.run(time.Minute)
			h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
		},
		"here": func(w *network, h *testHost) {
			e := listing(news, 1).Document.Entries[0]
			h.store.Keep([]archive.Record{archive.NewRecord(e, w.Now(), stranger(1))})
		},
		"named by a page": func(w *network, h *testHost) {
			w.page(site, news)
			w.feed(news).answer = func(node.Fetch) node.Fetched { return status(500, 0) }
			h.step(node.Subscribe{Feeds: []feed.URL{site}})
			w.run(time.Minute)
		},
	} {
		w, h := newAlone(t, node.Config{})
		prepare(w, h)
		w.moves(news, there)
		h.step(node.Subscribe{Feeds: []feed.URL{news}})
		w.run(3 * time.Hour)
		if s := h.node.Subscription(news); s == nil || s.LastSuccess.IsZero() || s.Moved != there {
			t.Errorf("%s: follows %v", name, h.followed())
		}
	}
}
