package node_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// refresh has the node's owner refresh a feed, and returns how many requests that brought within a minute.
func (h *testHost) refresh(p *publisher, u feed.URL) int {
	before := len(p.asked)
	h.step(node.Refresh{Feeds: []feed.URL{u}})
	h.net.run(time.Minute)
	return len(p.asked) - before
}

// A feed is polled at once when its owner wants that, though not within five minutes of the last poll; and when it
// would have been polled it still is.
func TestRefresh(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 3) })
	w.run(90 * time.Minute)
	for s := h.node.Feed(news); s.NextPoll.Sub(w.Now()) < 12*time.Minute || s.RefreshAt.After(w.Now()); {
		w.run(time.Minute)
		s = h.node.Feed(news)
	}
	due := h.node.Feed(news).NextPoll
	if n := h.refresh(p, news); n != 1 {
		t.Fatalf("refreshed, the feed is polled %d times", n)
	}
	s := h.node.Feed(news)
	if !s.NextPoll.Equal(due) || !s.RefreshAt.Equal(s.LastPoll.Add(5*time.Minute)) {
		t.Errorf("then it falls due at %v, where it would have at %v; again from %v on, polled at %v", s.NextPoll, due,
			s.RefreshAt, s.LastPoll)
	}
	if n := h.refresh(p, news); n != 0 {
		t.Errorf("refreshed again within a minute, it is polled %d times", n)
	}
	w.run(5 * time.Minute)
	if n := h.refresh(p, news); n != 1 || !h.node.Feed(news).NextPoll.Equal(due) {
		t.Errorf("after five minutes it is polled %d times", n)
	}
	before := len(p.asked)
	w.run(due.Sub(w.Now()) + time.Minute)
	if n := len(p.asked) - before; n != 1 {
		t.Errorf("when it falls due it is polled %d times", n)
	}
}

// Who follows a feed again that was read just now has what is here, and the next poll five minutes after the last;
// where there was nothing to read it is asked for at once.
func TestFollowedAgain(t *testing.T) {
	for _, there := range []bool{true, false} {
		w := newNetwork(t)
		h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
			if !there {
				return status(404, 0)
			}
			return listing(f.Feed, 3)
		})
		w.run(10 * time.Second)
		for range 2 {
			h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
			h.step(node.Subscribe{Feeds: []feed.URL{news}})
			if h.node.AwaitsPoll(news) == there {
				t.Errorf("there %v: somebody waits: %v", there, !there)
			}
			w.run(time.Second)
		}
		if n := len(p.asked); there && n != 1 || !there && n != 3 {
			t.Errorf("there %v: followed twice again it is asked for %d times", there, n)
		}
		w.run(6 * time.Minute)
		if gaps := p.gaps(); there && !slices.Equal(gaps, []time.Duration{5 * time.Minute}) {
			t.Errorf("then it is polled %v after one another", gaps)
		}
	}
}

// What a clock that was ahead once had read is polled at once when it is followed again; and what was asked for when it
// was unfollowed was refused by nobody.
func TestFollowedAgainWithoutWaiting(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 3) })
	w.run(10 * time.Second)
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	f := h.stored(news)
	f.LastPoll, f.LastSuccess = w.Now().Add(90*24*time.Hour), w.Now().Add(90*24*time.Hour)
	h.store.KeepFeed(f)
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(2 * time.Minute)
	if n := len(p.asked); n != 2 {
		t.Errorf("it was asked for %d times", n)
	}
	p.slow = time.Minute
	h.step(node.Subscribe{Feeds: []feed.URL{third}})
	w.feed(third).slow = time.Minute
	w.run(time.Second)
	h.step(node.Unsubscribe{Feeds: []feed.URL{third}})
	h.step(node.Subscribe{Feeds: []feed.URL{third}})
	if !h.node.AwaitsPoll(third) || !h.node.Feed(third).NotBefore.IsZero() {
		t.Errorf("it is left alone: %+v", h.node.Feed(third))
	}
}

// Nobody's wish to know goes before a publisher's wish to be left alone, and what is not followed is not polled.
func TestARefreshLeavesPublishersAlone(t *testing.T) {
	for name, answer := range map[string]func(ev *node.Fetched, now time.Time){
		"it refuses": func(ev *node.Fetched, _ time.Time) {
			ev.Status, ev.Err, ev.RetryAfter = 429, errors.New("no"), 3*time.Hour
		},
		"its document is fresh": func(ev *node.Fetched, _ time.Time) {
			ev.Freshness.Stated, ev.Freshness.Lifetime = true, 3*time.Hour
		},
		"it is gone for good": func(ev *node.Fetched, _ time.Time) { ev.Status, ev.Err = 410, errors.New("gone") },
		"it skips these hours": func(ev *node.Fetched, now time.Time) {
			ev.Document.Pace.SkipHours = 1<<24 - 1 - 1<<((now.Hour()+12)%24)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newNetwork(t)
			h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
				ev := listing(f.Feed, 3)
				if answer(&ev, w.Now()); ev.Err != nil {
					ev.Document = nil
				}
				return ev
			})
			w.run(10 * time.Minute)
			if n := h.refresh(p, news); n != 0 {
				t.Errorf("refreshed, it is polled %d times", n)
			}
			if s := h.node.Feed(news); !s.Ended && s.RefreshAt.Before(w.Now().Add(time.Hour)) {
				t.Errorf("its owner may have it polled from %v on, now is %v", s.RefreshAt, w.Now())
			}
			if n := h.refresh(p, "http://example.net/unknown"); n != 0 {
				t.Errorf("another feed is polled %d times", n)
			}
		})
	}
}

// What others poll does not put off what an owner wants now.
func TestARefreshIsNotLeftToOthers(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(6, node.Config{}, news)
	w.run(6 * time.Hour)
	h := hosts[0]
	for h.node.Feed(news).RefreshAt.After(w.Now()) {
		w.run(time.Minute)
	}
	before, at := w.feed(news).requests, h.node.Feed(news).LastPoll
	h.step(node.Refresh{Feeds: []feed.URL{news}})
	w.run(time.Second)
	if n := w.feed(news).requests - before; n != 1 || !h.node.Feed(news).LastPoll.After(at) {
		t.Errorf("refreshed among others, it is polled %d times", n)
	}
}
