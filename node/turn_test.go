package node

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/polling"
)

// What the owner asks of a publisher counts like polls, and waits like them where the host wants that.
func TestTheOwnersRequestsTakeTurns(t *testing.T) {
	w := newNetwork(t)
	h := w.add(Config{}, news)
	w.run(2 * time.Hour)
	page := feed.URL(string(news) + "?page=2")
	for i := range polling.Burst {
		if at, ok := h.node.TakeTurn(w.now, page); !ok || !at.Equal(w.now) {
			t.Errorf("turn %d is at %v, %v, want at once", i+1, at, ok)
		}
	}
	if at, ok := h.node.TakeTurn(w.now, page); !ok || !at.After(w.now) || at.Sub(w.now) > polling.FirstGap {
		t.Errorf("the next turn is in %v, %v", at.Sub(w.now), ok)
	}
	for _, host := range h.node.hosts {
		host.Refused(w.now, time.Hour)
	}
	if at, ok := h.node.TakeTurn(w.now, page); ok || at.Sub(w.now) < time.Hour {
		t.Errorf("a host that wants an hour's rest is asked in %v, %v", at.Sub(w.now), ok)
	}
	if at, ok := h.node.TakeTurn(w.now, "https://nobody.example.org/"); !ok || !at.Equal(w.now) {
		t.Errorf("a host without feeds is asked in %v, %v", at.Sub(w.now), ok)
	}
}

// What a publisher answers to the owner holds for polls: a refusal of a page of its archive speaks for the host where
// that is public, and one of the feed itself for that alone where it is not.
func TestARefusedPageSlowsPolls(t *testing.T) {
	for _, test := range []struct {
		host, page string
		answer     Fetched
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
		h, _ := shared(w, test.host, 3, func(_ int, f Fetch) Fetched { return listing(f.Feed, 1) })
		w.run(time.Hour)
		test.answer.From = test.host
		h.step(Visited{At: feed.URL("http://" + test.host + "/" + test.page), Answer: test.answer})
		said := w.now
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
			t.Errorf("%s/%s answers %d: %d of 3 feeds were left alone, want %d", test.host, test.page, test.answer.Status, spared, test.spared)
		}
		w.run(time.Hour)
		for _, s := range h.node.Feeds() {
			if s.LastPoll.Before(said) {
				t.Errorf("%s was not polled since", s.URL)
			}
		}
	}
}
