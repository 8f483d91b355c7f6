package node_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
)

// polls are the times at which a node of one follows news, and the publisher's entries do not matter.
func pollTimes(w *network, d time.Duration) (times []time.Duration) {
	begun := w.Now()
	before := w.feed(news).requests
	for w.Now().Sub(begun) < d {
		w.run(time.Second)
		if n := w.feed(news).requests; n != before {
			times = append(times, w.Now().Sub(begun))
			before = n
		}
	}
	return times
}

func TestSubscribingCostsOneRequestAtOnce(t *testing.T) {
	w, h := newAlone(t, node.Config{}, news, news)
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(5 * time.Minute)
	if n := w.feed(news).requests; n != 1 {
		t.Errorf("%d requests at subscribing", n)
	}
}

func TestFixedPolicyPollsAtItsInterval(t *testing.T) {
	w := newNetwork(t)
	w.add(node.Config{Policy: polling.Fixed{Every: time.Hour}}, news)
	times := pollTimes(w, 6*time.Hour)
	for i := 2; i < len(times); i++ {
		if gap := times[i] - times[i-1]; gap < 59*time.Minute || gap > 61*time.Minute {
			t.Errorf("polled after %v", gap)
		}
	}
	if len(times) < 5 {
		t.Errorf("polled %d times in six hours", len(times))
	}
}

// Nodes that start together must not poll together.
func TestFirstPollsAreSpread(t *testing.T) {
	w := newNetwork(t)
	seconds := map[int]int{}
	for range 50 {
		w.add(node.Config{}, news)
	}
	w.run(time.Minute)
	for range 60 {
		before := w.feed(news).requests
		w.run(time.Minute)
		seconds[w.feed(news).requests-before]++
	}
	for polls := range seconds {
		if polls > 8 {
			t.Errorf("%d of 50 nodes polled within a minute", polls)
		}
	}
}

// The second poll comes within the interval where that is short, so that even then somebody looks meanwhile; and
// not within minutes where the node chose it.
func TestWhenTheSecondPollComes(t *testing.T) {
	for _, c := range []struct{ every, from, to time.Duration }{
		{20 * time.Second, 2 * time.Second, 20 * time.Second},
		{10 * time.Minute, time.Minute, 10 * time.Minute},
		{time.Hour, 10 * time.Minute, 64 * time.Minute},
		{10 * time.Hour, time.Hour, 10 * time.Hour},
	} {
		w := newNetwork(t)
		first, last := 24*time.Hour, time.Duration(0)
		for range 200 {
			h := w.add(node.Config{Policy: polling.Fixed{Every: c.every}}, news)
			w.run(time.Second)
			wait := h.stored(news).NextPoll.Sub(h.stored(news).LastPoll)
			first, last = min(first, wait), max(last, wait)
			h.kill()
		}
		if span := c.to - c.from; first < c.from || last > c.to || first > c.from+span/10 || last < c.to-span/10 {
			t.Errorf("every %v: after %v to %v, want %v to %v", c.every, first, last, c.from, c.to)
		}
	}
}

func TestRestartCausesNoEarlyPoll(t *testing.T) {
	w := newNetwork(t)
	w.publish(news)
	h := w.add(node.Config{}, news)
	w.run(3 * time.Hour)
	due := h.stored(news).NextPoll
	before := w.feed(news).requests
	h.kill()
	h.start()
	if got := h.stored(news).NextPoll; !got.Equal(due.Truncate(time.Millisecond)) {
		t.Errorf("after a restart the feed is due at %v, before it was %v", got, due)
	}
	w.run(due.Sub(w.Now()) - time.Second)
	if n := w.feed(news).requests - before; n != 0 {
		t.Errorf("%d polls before the feed was due", n)
	}
	w.run(2 * time.Second)
	if n := w.feed(news).requests - before; n != 1 {
		t.Errorf("%d polls when the feed fell due", n)
	}
	if h.stored(news).ETag == "" {
		t.Error("the validator was forgotten")
	}
}

func TestOverdueFeedsAreSpreadAfterAnAbsence(t *testing.T) {
	w := newNetwork(t)
	var feeds []feed.URL
	for i := range 60 {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		w.feed(u)
		feeds = append(feeds, u)
	}
	h := w.add(node.Config{}, feeds...)
	w.run(time.Hour)
	h.kill()
	w.run(24 * time.Hour)
	count := func() (n int) {
		for _, u := range feeds {
			n += w.feed(u).requests
		}
		return n
	}
	before := count()
	h.start()
	w.run(5 * time.Second)
	if n := count() - before; n > 20 {
		t.Errorf("%d of 60 feeds were polled within five seconds", n)
	}
	w.run(time.Minute)
	if n := count() - before; n != 60 {
		t.Errorf("%d of 60 overdue feeds were polled within a minute", n)
	}
}

func TestShorterIntervalCountsAtOnce(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 24 * time.Hour}}, news)
	w.run(10 * time.Minute)
	h.kill()
	h.config.Policy = polling.Fixed{Every: 20 * time.Minute}
	before := w.feed(news).requests
	h.start()
	w.run(11 * time.Minute)
	if n := w.feed(news).requests - before; n != 1 {
		t.Errorf("%d polls within the interval that the owner chose now", n)
	}
}

func TestFailingFeedIsLeftAloneEverLonger(t *testing.T) {
	w := newNetwork(t)
	w.feed(news).err = errors.New("HTTP status 500")
	h := w.add(node.Config{Policy: polling.Fixed{Every: 10 * time.Minute}}, news)
	times := pollTimes(w, 4*24*time.Hour)
	var last time.Duration
	for i := 1; i < len(times); i++ {
		gap := times[i] - times[i-1]
		if gap < last-time.Hour && last < poller.LongestBackoff {
			t.Errorf("polled after %v, after %v before", gap, last)
		}
		if gap > poller.LongestBackoff*11/10+time.Minute {
			t.Errorf("left alone for %v", gap)
		}
		last = gap
	}
	if len(times) > 16 {
		t.Errorf("a feed that fails was polled %d times in four days", len(times))
	}
	s := h.node.Feeds()[0]
	if s.Errors != len(times)+1 || // the first poll was at subscribing
		s.LastError != "HTTP status 500" {
		t.Errorf("status says %d errors, %q", s.Errors, s.LastError)
	}
	w.feed(news).err = nil
	w.run(2 * poller.LongestBackoff)
	if s := h.node.Feeds()[0]; s.Errors != 0 || s.LastError != "" {
		t.Errorf("after it works again status says %d errors, %q", s.Errors, s.LastError)
	}
}

func TestPublisherMayAskToStayAway(t *testing.T) {
	w, h := newAlone(t, node.Config{}, news)
	w.run(time.Minute)
	h.node.Subscription(news).Polling = true
	h.step(node.Fetched{Feed: news, Status: 429, Err: errors.New("HTTP status 429"), RetryAfter: 7 * time.Hour})
	before := w.feed(news).requests
	w.run(7*time.Hour - time.Minute)
	if n := w.feed(news).requests - before; n != 0 {
		t.Errorf("%d requests although the publisher asked to stay away", n)
	}
	w.run(2 * time.Hour)
	if n := w.feed(news).requests - before; n == 0 {
		t.Error("no request after the time that the publisher named")
	}
}

func TestUnsubscribing(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	id := w.publish(news)
	w.run(2 * time.Hour)
	a.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	if !a.has(id) {
		t.Error("the entries are gone")
	}
	if _, ok := b.node.HopsOf(a.id, news); ok {
		t.Error("the neighbor was not told")
	}
	before := w.feed(news).requests
	b.blocked[news] = true
	w.run(24 * time.Hour)
	if n := w.feed(news).requests - before; n != 0 {
		t.Errorf("%d polls of a feed that nobody follows", n)
	}
	a.kill()
	a.start()
	if len(a.node.Feeds()) != 0 {
		t.Error("after a restart the feed is followed again")
	}
}

// An edit by the publisher replaces what the node has; a neighbor's version of a known entry does not.
func TestOwnPollsReviseNeighborsDoNot(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	id := w.publish(news)
	w.run(2 * time.Hour)
	original := a.digest(id)

	forged := w.feeds[news].entries[0]
	forged.Title = "Something else"
	a.put(b, bundleWith(forged))
	if a.digest(id) != original {
		t.Error("a neighbor replaced an entry")
	}
	w.feeds[news].entries[0].Title = "Entry 0, corrected"
	w.publish(news) // another ETag
	w.run(2 * time.Hour)
	if want := w.feeds[news].entries[0].Digest(); a.digest(id) != want {
		t.Error("the publisher's correction was not taken")
	}
}

// The machine's clock was a year ahead for a while: when it is right again the feed is polled as ever, also where the
// node is started again and again.
func TestAClockThatWasAheadDoesNotSilenceAFeed(t *testing.T) {
	w, h := newAlone(t, node.Config{}, news)
	h.ahead = 365 * 24 * time.Hour
	w.run(3 * time.Hour)
	h.kill()
	h.ahead = 0
	before := w.feed(news).requests
	for range 8 {
		h.start()
		w.run(3 * time.Hour)
		h.kill()
	}
	if n := w.feed(news).requests - before; n == 0 {
		t.Errorf("no poll within a day; it is due at %v", h.stored(news).NextPoll)
	}
}

// What its owner subscribed to by a clock that was a year ahead was read since then, once a poll has read it by the
// right one; and of a feed that failed by that clock it stays known when it was read by the right one.
func TestAClockThatWasAheadLeavesWhatWasReadRead(t *testing.T) {
	w := newNetwork(t)
	down := false
	h, _ := alone(w, func(_ int, f node.Fetch) node.Fetched {
		if down {
			return status(500, 0)
		}
		return listing(f.Feed, 3)
	})
	w.publish(other)
	w.run(time.Hour)
	read := h.stored(news).LastSuccess
	h.kill()
	h.ahead, down = 365*24*time.Hour, true
	h.start()
	h.step(node.Subscribe{Feeds: []feed.URL{other}})
	w.run(time.Hour)
	h.kill()
	h.ahead = 0
	h.start()
	w.run(time.Hour)
	if s := h.stored(other); s.Since.After(w.Now()) || s.LastSuccess.Before(s.Since) {
		t.Errorf("subscribed to at %v, read at %v; it is %v", s.Since, s.LastSuccess, w.Now())
	}
	if s := h.stored(news); !s.LastSuccess.Equal(read) || s.Errors == 0 {
		t.Errorf("read at %v and then at %v, %d errors", read, s.LastSuccess, s.Errors)
	}
	w.page(other, first)
	w.run(24 * time.Hour)
	if got := h.followed(); !slices.Contains(got, other) {
		t.Errorf("a page that came in place of a feed was followed: %v", got)
	}
}

// The process ends while a poll is under way by a clock that is a year ahead: the feed is asked once more, soon and not
// at once.
func TestACrashByAClockThatIsAheadSilencesNoFeed(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 3) })
	w.run(time.Hour)
	h.kill()
	h.ahead = 365 * 24 * time.Hour
	h.start()
	p.slow = time.Hour
	for !h.node.Subscription(news).Polling {
		w.run(time.Second)
	}
	h.kill()
	h.ahead, p.slow = 0, 0
	before := len(p.asked)
	for _, step := range []struct {
		run  time.Duration
		want int
	}{{5 * time.Minute, 0}, {10 * time.Minute, 1}} {
		h.start()
		w.run(step.run)
		h.kill()
		if n := len(p.asked) - before; n != step.want {
			t.Errorf("%d requests, want %d; it is due at %v", n, step.want, h.stored(news).NextPoll)
		}
	}
}

// Of what the first poll of a feed shows, only what came out within a quarter of an hour goes to the neighbors: other
// nodes that follow the feed have the rest already.
func TestTheFirstPollOffersWhatIsNew(t *testing.T) {
	w := newNetwork(t)
	now, none := w.Now(), time.Time{}
	tests := []struct {
		name               string
		published, updated time.Time
		offered            bool
	}{
		{"an old one", now.Add(-poller.NewsFor), none, false},
		{"a young one", now, none, true},
		{"a young one, by a clock ahead of ours", now.Add(poller.NewsFor), none, true},
		{"one that says only when it was changed", none, now, true},
		{"an old one that was changed", now.Add(-poller.NewsFor), now, false},
		{"one without a date", none, none, false},
		{"one that is dated next year", now.AddDate(1, 0, 0), none, false},
	}
	ids := make([]feed.EntryID, len(tests))
	for i, tt := range tests {
		ids[i] = w.publish(news)
		e := &w.feed(news).entries[i]
		e.Published, e.Updated = tt.published, tt.updated
	}
	hosts := w.full(2, node.Config{}, "https://other.example.org/feed")
	hosts[1].blocked[news] = true
	hosts[1].step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	hosts[0].step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	for i, tt := range tests {
		if !hosts[0].has(ids[i]) || hosts[1].has(ids[i]) != tt.offered {
			t.Errorf("%s: kept %v; offered %v, want %v", tt.name, hosts[0].has(ids[i]),
				hosts[1].has(ids[i]), tt.offered)
		}
	}
	late := w.publish(news)
	w.run(time.Hour + 5*time.Minute) // the second poll comes within an hour, and a little
	if !hosts[1].has(late) {
		t.Error("what the second poll showed did not come to the neighbor")
	}
}
