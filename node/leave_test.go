package node

import (
	"testing"
	"time"

	"feedex/protocol"
)

// A poll that ends after the node left begins no other.
func TestLeavingEndsPolling(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{}, news)
	a := hosts[0]
	a.node.feeds[news].polling = true
	a.step(Leave{})
	a.step(w.fetch(a, Fetch{Feed: news}))
	if next := a.node.Next(); !next.IsZero() {
		t.Errorf("after leaving it wants to be woken in %v", next.Sub(w.now))
	}
}

// Nobody hangs on the line of a node that is gone.
func TestLeavingAnswersWhoWaits(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, Config{}, news)
	var first, got []protocol.Reply
	hosts[0].offered(hosts[1], one("x"), &first)
	hosts[0].offered(hosts[2], one("x"), &got)
	hosts[0].step(Leave{})
	w.run(time.Minute)
	if len(got) != 1 {
		t.Errorf("answered %d times", len(got))
	}
}
