package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A poll that ends after the node left begins no other.
func TestLeavingEndsPolling(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	a := hosts[0]
	a.node.Subscription(news).Polling = true
	a.step(node.Leave{})
	a.step(w.fetch(a, node.Fetch{Feed: news}))
	if next := a.node.Next(); !next.IsZero() {
		t.Errorf("after leaving it wants to be woken in %v", next.Sub(w.Now()))
	}
}

// Nor where other feeds wait for their turn at its publisher, whether that is now or later.
func TestLeavingEndsTurns(t *testing.T) {
	for _, count := range []int{2, 2 * courtesy.Burst} {
		w := newNetwork(t)
		var urls []feed.URL
		requests := 0
		for i := range count {
			urls = append(urls, feed.URL(fmt.Sprintf("https://many.example.com/%d", i)))
			w.feeds[urls[i]] = &publisher{slow: time.Second,
				answer: func(node.Fetch) node.Fetched { requests++; return node.Fetched{Status: 304} }}
		}
		a := w.addAt(stranger(1), node.Config{}, urls...)
		turns := min(count, courtesy.Burst) - 1
		w.run(time.Duration(turns) * (time.Second + 100*time.Millisecond))
		before := requests
		a.step(node.Leave{})
		w.run(time.Minute)
		if requests != before || !a.node.Next().IsZero() {
			t.Errorf("%d feeds: %d polls after %d, and then %v", count, requests-before, before, a.node.Next())
		}
	}
}

// Nobody hangs on the line of a node that is gone.
func TestLeavingAnswersWhoWaits(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	var first, got []protocol.Reply
	hosts[0].offered(hosts[1], one("x"), &first)
	hosts[0].offered(hosts[2], one("x"), &got)
	hosts[0].step(node.Leave{})
	w.run(time.Minute)
	if len(got) != 1 {
		t.Errorf("answered %d times", len(got))
	}
}
