package node_test

import (
	"errors"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Adverts under way, lost and repeated.

// A feed is withdrawn while the advert of it is under way, or was carried out and its answer lost: the
// neighbor hears of the withdrawal all the same.
func TestAWithdrawalIsNeverLost(t *testing.T) {
	for name, set := range map[string]func(w *network, a, b *testHost){
		"the answer is slow": func(w *network, _, _ *testHost) { w.roundTrip(5 * time.Second) },
		"the answer is lost": func(w *network, a, b *testHost) {
			done := false
			w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				update, ok := c.(protocol.UpdateSubset)
				if !ok || from != a || done {
					return nil, false
				}
				done = true
				b.ask(a.id, b.node.SessionOf(a.id), update, func(node.Respond) {})
				return errors.New("connection reset by peer"), true
			}
		},
		"it is busy at first": func(w *network, a, _ *testHost) {
			done := false
			w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				_, ok := c.(protocol.UpdateSubset)
				if !ok || from != a || done {
					return nil, false
				}
				done = true
				return &protocol.RemoteError{Code: protocol.Busy, Text: "not now"}, true
			}
		},
	} {
		w, a, b := newPair(t, node.Config{}, news)
		w.feed(blog)
		set(w, a, b)
		a.step(node.Subscribe{Feeds: []feed.URL{blog}})
		for w.Now().Before(epoch.Add(time.Hour)) && count(a.calls, "update_subset") == 0 {
			w.run(100 * time.Millisecond)
		}
		w.run(w.rtt / 2)
		a.step(node.Unsubscribe{Feeds: []feed.URL{blog}})
		w.run(time.Hour)
		if !linked(a, b) {
			t.Fatalf("%s: not linked", name)
		}
		if _, ok := b.node.HopsOf(a.id, blog); ok {
			t.Errorf("%s: the neighbor still believes that we want the feed", name)
		}
	}
}

// Changes that a neighbor was told and did not take it is told again with the next advert.
func TestAnAdvertThatFailedIsRepeated(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.feed(blog)
	failures := 0
	w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, ok := c.(protocol.UpdateSubset)
		if !ok || from != a || failures == 2 {
			return nil, false
		}
		failures++
		return nil, true
	}
	a.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(3 * a.node.Config().AdvertInterval)
	if hops, ok := b.node.HopsOf(a.id, blog); !ok || hops != 0 || failures != 2 {
		t.Errorf("after %d lost adverts the neighbor knows of the feed: %v", failures, ok)
	}
}

// An owner who changes their mind ten times within a moment is heard once.
func TestChangesOfAMomentGoTogether(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	for i := range 10 {
		w.feed(feed.URL("https://" + string(rune('a'+i)) + ".example.com/"))
	}
	w.roundTrip(20 * time.Millisecond)
	before := count(a.calls, "update_subset")
	for i := range 10 {
		a.step(node.Subscribe{Feeds: []feed.URL{feed.URL("https://" + string(rune('a'+i)) + ".example.com/")}})
		w.run(50 * time.Millisecond)
	}
	w.run(2 * membership.OwnChange)
	if n := count(a.calls, "update_subset") - before; n != 1 {
		t.Errorf("%d adverts", n)
	}
	if n := b.status(a).Feeds; n != 11 {
		t.Errorf("the neighbor knows of %d feeds, want 11", n)
	}
}

// A neighbor that takes its time is not told the next thing before it took the last.
func TestOneAdvertIsUnderWayAtATime(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.feed(blog)
	w.feed(comic)
	open, most := 0, 0
	w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, ok := c.(protocol.UpdateSubset); ok && from == a {
			open++
			most = max(most, open)
			w.At(w.Now().Add(3*time.Second), func() { open-- })
		}
		return nil, false
	}
	w.roundTrip(6 * time.Second)
	a.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(2 * time.Second)
	a.step(node.Subscribe{Feeds: []feed.URL{comic}})
	w.run(time.Minute)
	if n := b.status(a).Feeds; n != 3 {
		t.Errorf("after a minute the neighbor knows of %d feeds, want 3", n)
	}
	w.run(time.Hour)
	if most != 1 {
		t.Errorf("%d adverts were under way at a time", most)
	}
}

// Feeds that a node comes to follow while it connects do not wait for the period either.
func TestFeedsFollowedWhileConnectingAreToldSoon(t *testing.T) {
	w := newNetwork(t)
	w.feed(blog)
	a, b := w.add(node.Config{}, news), w.add(node.Config{}, news)
	w.run(time.Minute)
	w.roundTrip(4 * time.Second)
	a.inside(func(n *node.Node) { n.Connect(b.id, func(error) {}) })
	w.run(time.Second)
	a.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(30 * time.Second)
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	if _, ok := b.node.HopsOf(a.id, blog); !ok {
		t.Error("half a minute later the neighbor does not know of the feed")
	}
}
