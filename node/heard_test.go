package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// Where entries come later than if nobody heard of anybody, nobody is heard for four intervals.
func TestWhoIsOfNoHelpIsNotHeard(t *testing.T) {
	const every = 2 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	liar := eager(h, 1, nil, protocol.Notify{}.Method())
	moved := func() bool {
		due := h.node.Subscription(news).NextPoll
		h.hearsOfPoll(liar, 0, friendID(10)) // invented
		return !h.node.Subscription(news).NextPoll.Equal(due)
	}
	w.run(every + time.Hour)
	if !moved() {
		t.Fatal("news move nothing")
	}
	asked := len(w.feed(news).asked)
	polls, published := asked, 0
	for range 8 * 24 { // all poll together, so that entries wait for long; nobody missed one
		w.run(5 * time.Minute)
		if now := len(w.feed(news).asked); now > polls {
			for i := range 8 {
				h.hearsOfPoll(liar, 0, friendID(20+i))
			}
			polls = now
		} else if published++; published%2 == 0 {
			w.publish(news)
		}
	}
	if moved() {
		t.Errorf("lies are heard after %d polls", len(w.feed(news).asked)-asked)
	}
	w.run(5 * every)
	if !moved() {
		t.Error("nobody is heard ever after")
	}
}

// Whoever names a node in a bundle keeps nobody from hearing that node itself, whether it was heard before or not.
func TestABundleSpeaksForNobody(t *testing.T) {
	const every = 4 * time.Hour
	for name, before := range map[string]bool{"heard before": true, "new": false} {
		w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
		friend := eager(h, 1, nil, protocol.Notify{}.Method())
		liar := eager(h, 2, nil, protocol.Notify{}.Method())
		other := friendID(10)
		w.run(time.Minute)
		if before {
			h.hearsOfPoll(friend, 0, other)
		}
		w.run(every * 7 / 8)
		h.put(liar, bundleWith(feed.Entry{Feed: news, ID: "invented", Title: "T", Published: w.Now()}).Via(other))
		w.run(10 * time.Minute)
		due := h.untilPoll()
		if h.hearsOfPoll(friend, 0, other); h.untilPoll() == due {
			t.Errorf("%s: its own word moves nothing", name)
		}
	}
}

// Entries that nobody has published, dated so that all who are heard seem to be of no help, have nobody disregarded.
func TestInventedDatesSilenceNobody(t *testing.T) {
	const every = 2 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	liar := eager(h, 1, nil, protocol.Notify{}.Method())
	w.run(every + time.Hour)
	for i := range 12 {
		w.run(20 * time.Minute)
		h.put(liar, bundleWith(feed.Entry{Feed: news, ID: fmt.Sprint("invented ", i), Title: "T",
			Published: w.Now().Add(-every * 6 / 5)}).Via(stranger(60+i)))
	}
	w.run(every)
	due := h.node.Subscription(news).NextPoll
	if h.hearsOfPoll(liar, 0, friendID(10)); h.node.Subscription(news).NextPoll.Equal(due) {
		t.Error("news move nothing")
	}
}
