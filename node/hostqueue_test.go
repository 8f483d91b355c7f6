package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
)

// shared is a node that polls so many feeds of one host every 20 minutes, if it may; answer is told the requests
// there were so far.
func shared(w *network, host string, feeds int, answer func(n int, f node.Fetch) node.Fetched) (h *testHost,
	asked *[]time.Time) {
	asked = new([]time.Time)
	var list []feed.URL
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("http://%s/%d", host, i))
		w.feed(u).answer = func(f node.Fetch) node.Fetched {
			*asked = append(*asked, w.Now())
			return answer(len(*asked), f)
		}
		list = append(list, u)
	}
	h = w.add(node.Config{AllowLocal: true, Policy: polling.Fixed{Every: 20 * time.Minute}}, list...)
	return h, asked
}

// within counts the times within d from begin on.
func within(times []time.Time, begin time.Time, d time.Duration) (n int) {
	for _, at := range times {
		if !at.Before(begin) && at.Before(begin.Add(d)) {
			n++
		}
	}
	return n
}

// A new host gets one request; nothing more before that is answered.
func TestFirstContactCostsOneRequest(t *testing.T) {
	w := newNetwork(t)
	h, asked := shared(w, "news.example.com", 20,
		func(_ int, f node.Fetch) node.Fetched { return status(429, time.Hour) })
	w.run(time.Hour - time.Minute)
	for _, s := range h.node.Feeds() {
		if left := s.NotBefore.Sub(w.Now()); left < time.Minute || left > 10*time.Minute ||
			s.NextPoll.Before(s.NotBefore) {
			t.Errorf("%s is left alone for %v, and polled in %v", s.URL, left, s.NextPoll.Sub(w.Now()))
		}
	}
	if len(*asked) != 1 {
		t.Errorf("%d requests to a host that refused the first for an hour", len(*asked))
	}
}

// Feeds of a host are polled one after another, and no faster than its budget.
func TestFeedsOfAHostShareItsBudget(t *testing.T) {
	busy := 0
	w := newNetwork(t)
	h, asked := shared(w, "news.example.com", 30, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
	w.watch = func(_ *testHost, ev node.Event, effects []node.Effect) {
		if _, ok := ev.(node.Fetched); ok {
			busy--
		}
		for _, e := range effects {
			if _, ok := e.(node.Fetch); ok {
				if busy++; busy > 1 {
					t.Errorf("%d polls at a host at a time", busy)
				}
			}
		}
	}
	w.run(time.Minute)
	if n := len(*asked); n < courtesy.Burst || n > courtesy.Burst+7 {
		t.Errorf("%d requests in the first minute, want a burst of %d and one each %v", n, courtesy.Burst,
			courtesy.FirstGap)
	}
	w.run(9 * time.Minute)
	first := make(map[feed.URL]bool)
	for _, f := range h.node.Feeds() {
		first[f.URL] = !f.LastSuccess.IsZero()
	}
	for u, ok := range first {
		if !ok {
			t.Errorf("%s has not had its turn in ten minutes", u)
		}
	}
}

// One that is told to slow down does, and remembers it.
func TestRefillIsLearned(t *testing.T) {
	limit := 40 * time.Second // the host allows one request in that time
	var last time.Time
	refused := 0
	w := newNetwork(t)
	h, asked := shared(w, "news.example.com", 60, func(_ int, f node.Fetch) node.Fetched {
		now := w.Now()
		defer func() { last = now }()
		if now.Sub(last) < limit {
			refused++
			return status(429, 5*time.Minute)
		}
		return listing(f.Feed, 1)
	})
	w.run(12 * time.Hour)
	early := refused
	h.kill()
	h.start()
	w.run(12 * time.Hour)
	if all := len(*asked); refused*20 > all || refused-early > early || all < 1000 {
		t.Errorf("%d of %d requests were refused, %d of them in the second half of a day", refused, all, refused-early)
	}
	kept := h.store.LoadHosts()
	if len(kept) != 1 || kept[0].Name != "news.example.com" || kept[0].Gap < courtesy.FirstGap {
		t.Errorf("of the host is kept %+v", kept)
	}
}

// 429 speaks for the host where that is public, and for the URL alone where it is not.
func TestScopeOfARefusal(t *testing.T) {
	for host, want := range map[string]int{"news.example.com": 1, "192.168.1.7": 10, "bridge.local:8080": 10} {
		w := newNetwork(t)
		var refused feed.URL
		_, asked := shared(w, host, 10, func(n int, f node.Fetch) node.Fetched {
			switch {
			case n == 1:
				refused = f.Feed
				return status(429, 3*time.Hour)
			case f.Feed == refused && w.Now().Sub(epoch) < 3*time.Hour:
				t.Errorf("%s was asked for while it was not to be", f.Feed)
			}
			return listing(f.Feed, 1)
		})
		w.run(15 * time.Minute)
		if len(*asked) < want || want == 1 && len(*asked) != 1 {
			t.Errorf("%s: %d requests after the first was refused, want %d", host, len(*asked), want)
		}
		w.run(4 * time.Hour)
	}
}

// A feed behind 429 for a day: few requests, none too early, and afterwards all is as before.
func TestADayBehind429(t *testing.T) {
	for _, retryAfter := range []time.Duration{0, time.Hour} {
		begin, end := epoch.Add(2*time.Hour), epoch.Add(26*time.Hour)
		w := newNetwork(t)
		h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
			if w.Now().After(begin) && w.Now().Before(end) {
				return status(429, retryAfter)
			}
			return listing(f.Feed, 1)
		})
		w.run(26 * time.Hour)
		if n := within(p.asked, begin, 24*time.Hour); n > 8 {
			t.Errorf("Retry-After %v: %d requests within the day", retryAfter, n)
		}
		for i := 1; i < len(p.asked); i++ {
			if gap := p.asked[i].Sub(p.asked[i-1]); p.asked[i-1].After(begin) && p.asked[i-1].Before(end) &&
				gap < retryAfter {
				t.Errorf("asked again after %v, was told to wait for %v", gap, retryAfter)
			}
		}
		w.run(24 * time.Hour)
		if s := h.node.Feeds()[0]; s.Errors != 0 || s.Interval != 20*time.Minute ||
			w.Now().Sub(s.LastSuccess) > time.Hour {
			t.Errorf("Retry-After %v: a day later %+v", retryAfter, s)
		}
	}
}

// A host that answers 403 in place of 429 gets a rest, all of it, and is known for it afterwards.
func TestHostsThatThrottleBy403(t *testing.T) {
	refuse := false
	w := newNetwork(t)
	_, asked := shared(w, "news.example.com", 10, func(_ int, f node.Fetch) node.Fetched {
		if refuse {
			return status(403, 0)
		}
		return listing(f.Feed, 1)
	})
	w.run(2 * time.Hour)
	refuse = true
	w.run(20 * time.Minute)
	*asked = nil
	refuse = false
	w.run(12 * time.Hour)
	refuse = true
	w.run(time.Hour)
	*asked = nil
	w.run(9 * time.Minute)
	if len(*asked) > 1 {
		t.Errorf("%d requests within the rest of a host that is known for its 403", len(*asked))
	}
}

// A feed that is forbidden for good is left alone ever longer, and costs its host's other feeds nothing but one rest.
func TestAForbiddenFeedAlone(t *testing.T) {
	begun := false
	requests := 0
	w := newNetwork(t)
	h, asked := shared(w, "news.example.com", 5, func(_ int, f node.Fetch) node.Fetched {
		if f.Feed == "http://news.example.com/0" && begun {
			requests++
			return status(403, 0)
		}
		return listing(f.Feed, 1)
	})
	w.run(2 * time.Hour)
	begun = true
	w.run(7 * 24 * time.Hour)
	if requests > 16 {
		t.Errorf("%d requests in a week for what is forbidden", requests)
	}
	if n := within(*asked, epoch.Add(2*time.Hour), 7*24*time.Hour) - requests; n < 4*(7*24*3-2) {
		t.Errorf("%d requests in a week for the four others, each of every 20 minutes", n)
	}
	for _, s := range h.node.Feeds()[1:] {
		if s.Errors != 0 || w.Now().Sub(s.LastSuccess) > 25*time.Minute {
			t.Errorf("%s was last polled %v ago", s.URL, w.Now().Sub(s.LastSuccess))
		}
	}
	if kept := h.store.LoadHosts(); len(kept) != 0 {
		t.Errorf("the host is thought to be slow: %+v", kept)
	}
}

// A host that never let anybody in: its feed backs off, and nobody else is asked less.
func TestAHostThatForbidsAll(t *testing.T) {
	w := newNetwork(t)
	_, p := alone(w, func(int, node.Fetch) node.Fetched { return status(403, 0) })
	w.run(7 * 24 * time.Hour)
	if n := len(p.asked); n > 18 {
		t.Errorf("%d requests in a week", n)
	}
}

// A feed that is given up while it waits for its turn is not polled.
func TestAFeedThatIsGivenUpHasNoTurn(t *testing.T) {
	w := newNetwork(t)
	h, asked := shared(w, "news.example.com", 20, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
	w.run(time.Second)
	before := len(*asked)
	for _, s := range h.node.Feeds()[1:] {
		h.step(node.Unsubscribe{Feeds: []feed.URL{s.URL}})
	}
	w.run(15 * time.Minute)
	if n := len(*asked) - before; n > 1 {
		t.Errorf("%d requests after that", n)
	}
}

// A feed that was left and taken up again while it was polled is polled once more, after that.
func TestTheHostIsFreedWhateverHappens(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
	p.slow = 10 * time.Second
	w.run(20 * time.Minute)
	for !h.node.Subscription(news).Polling {
		w.run(time.Second)
	}
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Second)
	if h.node.Subscription(news).Polling {
		t.Error("two polls of a feed at a time")
	}
	before := len(p.asked)
	w.run(poller.Unfinished + time.Minute)
	if n := len(p.asked) - before; n != 1 || h.stored(news).LastSuccess.IsZero() {
		t.Errorf("%d requests after that", n)
	}
}

// What a publisher answers to the owner holds for polls: a refusal of a page of its archive speaks for the host where
// that is public, and one of the feed itself for that alone where it is not.
func TestARefusedPageSlowsPolls(t *testing.T) {
	for _, test := range []struct {
		host, page string
		answer     node.Fetched
		spared     int // of three feeds
	}{
		{"news.example.com", "old", status(429, 3*time.Hour), 3},
		{"news.example.com", "old", status(503, 3*time.Hour), 3},
		{"news.example.com", "old", status(404, 0), 0},
		{"news.example.com", "old", status(403, 0), 0},
		{"news.example.com", "1", status(500, 3*time.Hour), 1},
		{"192.168.1.7", "1", status(429, 3*time.Hour), 1},
		{"192.168.1.7", "old", status(429, 3*time.Hour), 0},
	} {
		w := newNetwork(t)
		h, _ := shared(w, test.host, 3, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
		w.run(time.Hour)
		test.answer.From = test.host
		h.step(node.OwnerFetched{At: feed.URL("http://" + test.host + "/" + test.page), Answer: test.answer})
		said := w.Now()
		h.kill()
		h.start()
		w.run(3*time.Hour - time.Minute)
		spared := 0
		for _, s := range h.node.Feeds() {
			if s.LastPoll.Before(said) {
				spared++
			}
		}
		if spared != test.spared {
			t.Errorf("%s/%s answers %d: %d of 3 feeds were left alone, want %d", test.host, test.page,
				test.answer.Status, spared, test.spared)
		}
		w.run(time.Hour)
		for _, s := range h.node.Feeds() {
			if s.LastPoll.Before(said) {
				t.Errorf("%s was not polled since", s.URL)
			}
		}
	}
}
