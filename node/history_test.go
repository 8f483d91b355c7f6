package node_test

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/node"
	"feedex/polling"
)

// A witness remembers the polls that it was asked about.
type witness struct {
	polling.Fixed
	polls *[]polling.Poll
}

func (p witness) Interval(poll polling.Poll) time.Duration {
	*p.polls = append(*p.polls, poll)
	return p.Fixed.Interval(poll)
}

func TestPoliciesLearnWhenAFeedPublished(t *testing.T) {
	w := newNetwork(t)
	var polls []polling.Poll
	h := w.add(node.Config{Policy: witness{polling.Fixed{Every: 500 * time.Hour}, &polls}}, news)
	w.run(time.Minute)
	begun := w.Now()
	entry := func(id string, published time.Duration, title string) feed.Entry {
		e := feed.Entry{Feed: news, ID: id, Title: title}
		if published != 0 {
			e.Published = begun.Add(published)
		}
		return e
	}
	poll := func(entries ...feed.Entry) polling.Poll {
		t.Helper()
		w.run(time.Hour)
		h.node.Subscription(news).Polling = true
		ev := node.Fetched{Feed: news}
		if entries != nil {
			ev.Document = &feed.Document{Feed: news, Entries: entries}
		}
		polls = nil
		h.step(ev)
		if len(polls) != 1 || !polls[0].At.Equal(w.Now()) {
			t.Fatalf("at %v the policy was asked about %+v", w.Now(), polls)
		}
		return polls[0]
	}
	check := func(p polling.Poll, window int, want ...time.Duration) {
		t.Helper()
		var times []int64
		for _, d := range want {
			times = append(times, begun.Add(d).Unix())
		}
		if !slices.Equal(p.History.Times, times) || p.History.Window != window {
			t.Errorf("history %v, window %d, want %v, %d", p.History.Times, p.History.Window, times, window)
		}
	}
	const d = 24 * time.Hour
	a, b, old := entry("a", -3*d, "A"), entry("b", -2*d, "B"), entry("old", 0, "without a date")
	h.node.Subscription(news).Interval = 0 // as before the first poll
	check(poll(b, a, old), 2, -3*d, -2*d)
	check(poll(), 2, -3*d, -2*d)
	// One is new, one new without a date, one is edited and dated anew, one is dated next year.
	c, undated, ahead := entry("c", 150*time.Minute, "C"), entry("undated", 0, "new"), entry("ahead", 365*d, "ahead")
	third := w.Now().Add(time.Hour).Sub(begun)
	check(poll(ahead, undated, c, entry("b", time.Minute, "B, edited"), a), 5, -3*d, -2*d, 150*time.Minute,
		third, third)
	check(poll(ahead, undated, c), 3, -3*d, -2*d, 150*time.Minute, third, third)

	// A clock that is a little ahead of ours publishes nothing in the future.
	fourth := w.Now().Add(time.Hour).Sub(begun)
	check(poll(entry("soon", fourth+time.Minute, "soon")), 1, -3*d, -2*d, 150*time.Minute, third, third, fourth)

	// Nor does it publish the same entry again at each poll until then.
	ahead = entry("within the hour", fourth+50*time.Minute, "soon")
	h.node.Subscription(news).Polling = true
	h.step(node.Fetched{Feed: news, Document: &feed.Document{Feed: news, Entries: []feed.Entry{ahead, c}}})
	times := h.node.Subscription(news).History.Times
	w.sleep(10 * time.Minute)
	h.node.Subscription(news).Polling = true
	h.step(node.Fetched{Feed: news, Document: &feed.Document{Feed: news, Entries: []feed.Entry{ahead, c}}})
	if again := h.node.Subscription(news).History.Times; !slices.Equal(again, times) {
		t.Errorf("history %v, ten minutes later %v", times, again)
	}

	// After a restart it is rebuilt from the archive; what came first without a date says nothing. An edited entry
	// keeps its date.
	h.kill()
	h.start()
	check(poll(), 2, -3*d, -2*d, 150*time.Minute, third, third, fourth, fourth)
	check(poll(c, entry("b", time.Minute, "B, edited"), a), 3, -3*d, -2*d, 150*time.Minute, third, third,
		fourth, fourth)
}

// Many publishers give the day alone. Entries that they publish in the course of it are found in the course of it,
// before and after a restart.
func TestDatesOfDays(t *testing.T) {
	const gap, listed = 6 * time.Minute, 20
	w := newNetworkOf(t, lab.Config{Seed: 3})
	w.feed(news).answer = func(f node.Fetch) node.Fetched {
		doc := &feed.Document{Feed: f.Feed}
		for i := range time.Duration(listed) {
			at := w.Now().Truncate(gap).Add(-i * gap)
			doc.Entries = append(doc.Entries, feed.Entry{Feed: f.Feed, ID: at.String(),
				Published: at.Truncate(24 * time.Hour)})
		}
		return node.Fetched{Status: 200, Document: doc}
	}
	h := w.add(node.Config{Policy: polling.Auto{Range: polling.Range{Min: 30 * time.Minute, Max: 16 * time.Hour}}},
		news)
	w.run(2 * 24 * time.Hour)
	for range 3 {
		before := h.node.Status().Counters.Polled
		w.run(24 * time.Hour)
		if found := h.node.Status().Counters.Polled - before; found < 230 {
			t.Errorf("%d of 240 entries were found within a day", found)
		}
		h.kill()
		h.start()
	}
}
