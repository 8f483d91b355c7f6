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
