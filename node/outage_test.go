package node_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

var unreached = node.Fetched{Unreached: true, Err: errors.New("no route to host")}

// scattered is a node that polls so many feeds, each at a host of its own, every hour.
func scattered(t *testing.T, feeds int, down func(u feed.URL) bool) (w *network, h *testHost, asked func() int) {
	w = newNetwork(t)
	var list []feed.URL
	requests := 0
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/feed", i))
		w.feed(u).answer = func(f node.Fetch) node.Fetched {
			requests++
			if down(u) {
				return unreached
			}
			return listing(u, 1)
		}
		list = append(list, u)
	}
	return w, w.add(node.Config{Policy: polling.Fixed{Every: time.Hour}}, list...), func() int { return requests }
}

// While our own network is down no feed fails, few try, and when it is back all are polled soon, none twice.
func TestOurNetworkIsDown(t *testing.T) {
	down := false
	w, h, asked := scattered(t, 40, func(feed.URL) bool { return down })
	w.run(3 * time.Hour)
	down = true
	w.run(10 * time.Minute)
	before := asked()
	w.run(10 * time.Hour)
	if h.node.Status().Offline.IsZero() {
		t.Error("the status does not say that nobody can be reached")
	}
	if n := asked() - before; n > 400 {
		t.Errorf("%d attempts in ten hours", n)
	}
	for _, s := range h.node.Feeds() {
		if s.Errors != 0 || s.Interval != time.Hour {
			t.Errorf("%s: %d errors, interval %v", s.URL, s.Errors, s.Interval)
		}
	}
	down = false
	before = asked()
	back := w.Now()
	w.run(5 * time.Minute)
	if n := asked() - before; n != 40 {
		t.Errorf("%d polls when the network was back, want one of each of 40 feeds", n)
	}
	for _, s := range h.node.Feeds() {
		if s.LastSuccess.Before(back) || s.LastError != "" {
			t.Errorf("%s: last success %v, error %q", s.URL, s.LastSuccess, s.LastError)
		}
	}
	if !h.node.Status().Offline.IsZero() {
		t.Error("the status still says that nobody can be reached")
	}
}

// What was fetched for the owner shows as well that the network works: two hosts of few may be down by themselves, and
// what the node asks for unasked would wait for the next poll of another.
func TestAnAnswerToTheOwnerIsOne(t *testing.T) {
	w, h, _ := scattered(t, 2, func(feed.URL) bool { return true })
	w.run(time.Hour)
	for _, offline := range []bool{true, false} {
		if at := h.node.Status().Offline; at.IsZero() == offline {
			t.Errorf("offline since %v, want %v", at, offline)
		}
		h.step(node.OwnerFetched{At: "https://other.example.com/page", Answer: status(404, 0)})
	}
}

// A host that is down alone is its publisher's trouble, and backs off; the others are polled as ever.
func TestOneHostIsDown(t *testing.T) {
	w, h, _ := scattered(t, 5, func(u feed.URL) bool { return u == "https://host0.example.com/feed" })
	w.run(3 * 24 * time.Hour)
	if n := w.feed("https://host0.example.com/feed").requests; n > 100 {
		t.Errorf("%d requests to a host that is down for three days", n)
	}
	for i, s := range h.node.Feeds() {
		if i == 0 && s.Errors < 5 || i > 0 && (s.Errors != 0 || w.Now().Sub(s.LastSuccess) > 61*time.Minute) {
			t.Errorf("%s: %d errors, last success %v ago", s.URL, s.Errors, w.Now().Sub(s.LastSuccess))
		}
	}
	if !h.node.Status().Offline.IsZero() {
		t.Error("our network is thought to be down")
	}
}
