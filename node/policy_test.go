package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// choose has the node poll news by a policy.
func (h *testHost) choose(policy string) {
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Policy: &policy})
}

func TestPolicyOfOneFeed(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	w.feed(blog)
	h := w.add(node.Config{Policy: polling.Fixed{Every: 10 * time.Hour},
		Polling: polling.Settings{Every: 2 * time.Hour}}, news, blog)
	w.run(time.Minute)
	requests := func(d time.Duration) int {
		before := w.feed(news).requests
		w.run(d)
		return w.feed(news).requests - before
	}
	h.choose("20m") // at once, not after ten hours
	if n := requests(10 * time.Hour); n < 29 || n > 31 {
		t.Errorf("every 20 minutes: %d requests in 10 hours", n)
	}
	if n := w.feed(blog).requests; n > 3 {
		t.Errorf("the other feed was asked for %d times", n)
	}
	h.choose("fixed") // as the settings have it
	if n := requests(20 * time.Hour); n < 10 || n > 11 {
		t.Errorf("every 2 hours: %d requests in 20 hours", n)
	}
	h.choose("every full moon")
	if got := h.node.Feeds()[1].Policy; got != "fixed" {
		t.Errorf("what is no policy is %q now", got)
	}
	// It stays chosen after a restart, and when the feed is subscribed again.
	h.kill()
	h.start()
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	if n := requests(20 * time.Hour); n < 9 || n > 12 {
		t.Errorf("every 2 hours, after a restart: %d requests in 20 hours", n)
	}
	h.choose("")
	if n := requests(40 * time.Hour); n < 4 || n > 5 {
		t.Errorf("by the node's own policy: %d requests in 40 hours", n)
	}
	if got := h.node.Feeds()[1].Policy; got != "" {
		t.Errorf("policy %q, want none", got)
	}
}

// A policy that this version cannot read, written by a newer one, is the node's own.
// A feed that publishes nothing is left alone for a tenth of the time for which it was as it is, as a cache might
// guess; one that does not, whatever its Last-Modified says.
func TestWhatIsUnchangedForLong(t *testing.T) {
	for _, test := range []struct {
		entries  int
		from, to time.Duration
	}{{0, 16 * time.Hour, 16 * time.Hour}, {20, 30 * time.Minute, 4 * time.Hour}} {
		w := newNetwork(t)
		p := w.feed(news)
		p.answer = func(f node.Fetch) node.Fetched {
			ev := listing(f.Feed, test.entries)
			ev.Unchanged = 90 * 24 * time.Hour
			return ev
		}
		bounds := polling.Range{Min: 30 * time.Minute, Max: 16 * time.Hour}
		h := w.add(node.Config{Policy: polling.Auto{Range: bounds}}, news)
		w.run(time.Minute)
		if got := h.node.Feeds()[0].Interval; got < test.from || got > test.to {
			t.Errorf("%d entries: polled each %v, want %v to %v", test.entries, got, test.from, test.to)
		}
	}
}

func TestUnreadablePolicy(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: time.Hour}}, news)
	w.run(2 * time.Hour)
	f := h.node.Subscription(news).Feed
	f.Policy = "lunar"
	h.kill()
	h.store.KeepFeed(f)
	h.start()
	if got := h.node.Subscription(news).PollPolicy; got != (polling.Fixed{Every: time.Hour}) {
		t.Errorf("polled by %+v", got)
	}
}

// The default is Auto: a node with neighbors that bring what is published polls more rarely than one alone, and comes
// back to it when they do not any more (Paper §3.3).
func TestNeighborsSparePolls(t *testing.T) {
	w := newNetwork(t)
	w.feed(news).window = 50
	for range 40 {
		w.publish(news)
		w.run(time.Hour)
	}
	for range 6 {
		c := node.Config{Trackers: []string{tracker}}
		h := w.add(c, news)
		h.node.Config().Policy = polling.Auto{}
		h.node.Subscription(news).PollPolicy = polling.Auto{}
	}
	alone := w.add(node.Config{}, news)
	alone.node.Subscription(news).PollPolicy = polling.Auto{}
	day := func() {
		for range 24 {
			w.publish(news)
			w.run(time.Hour)
		}
	}
	for range 6 {
		day()
	}
	h, helped := w.list[0].node.Subscription(news), 0.0
	for _, one := range w.list[:6] {
		helped += one.node.Feed(news).Helped / 6
	}
	if helped < 0.6 {
		t.Fatalf("neighbors bring %.2f on average", helped)
	}
	if lone := alone.node.Subscription(news); lone.Helped != 0 || float64(h.Interval) < 1.4*float64(lone.Interval) {
		t.Errorf("polls every %v, alone every %v; alone neighbors bring %.2f", h.Interval, lone.Interval, lone.Helped)
	}
	spared := func(h *testHost) float64 { return h.node.Status().Counters.PollsSpared }
	if spared(w.list[0]) < 1 || spared(alone) != 0 {
		t.Errorf("neighbors spare a node %.1f polls, and %.1f where there are none", spared(w.list[0]), spared(alone))
	}
	for _, other := range w.list[1:6] {
		other.kill()
	}
	// Before its next poll somebody was heard, before that after it nobody.
	for range 2 {
		for last := h.LastPoll; h.LastPoll.Equal(last); {
			w.publish(news)
			w.run(time.Hour)
		}
	}
	if lone := alone.node.Subscription(news); float64(h.Interval) > 1.2*float64(lone.Interval) {
		t.Errorf("nobody is heard: polls every %v, alone every %v", h.Interval, lone.Interval)
	}
	for range 6 {
		day()
	}
	if lone := alone.node.Subscription(news); h.Helped > 0.1 || float64(h.Interval) > 1.2*float64(lone.Interval) {
		t.Errorf("neighbors are gone: they bring %.2f, polls every %v, alone every %v", h.Helped, h.Interval,
			lone.Interval)
	}
}
