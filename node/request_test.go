package node_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/polling"
)

// status is an answer without a document.
func status(code int, retryAfter time.Duration) node.Fetched {
	ev := node.Fetched{Status: code, RetryAfter: retryAfter}
	if code != 304 {
		ev.Err = fmt.Errorf("HTTP status %d", code)
	}
	return ev
}

// listing is an answer with a document of so many entries.
func listing(u feed.URL, entries int) node.Fetched {
	doc := &feed.Document{Feed: u}
	for i := range entries {
		doc.Entries = append(doc.Entries,
			feed.Entry{Feed: u, ID: fmt.Sprint(i), Published: epoch.Add(-time.Duration(i+1) * time.Hour)})
	}
	return node.Fetched{Status: 200, Document: doc, ETag: `"1"`, Body: feed.Digest{1}}
}

// alone is a node without neighbors that polls a feed every 20 minutes if it may, and what its publisher answers.
func alone(w *network, answer func(n int, f node.Fetch) node.Fetched) (*testHost, *publisher) {
	p := w.feed(news)
	p.answer = func(f node.Fetch) node.Fetched { return answer(p.requests, f) }
	return w.add(node.Config{Policy: polling.Fixed{Every: 20 * time.Minute}}, news), p
}

// gaps are the times between polls.
func (p *publisher) gaps() (list []time.Duration) {
	for i := 1; i < len(p.asked); i++ {
		list = append(list, p.asked[i].Sub(p.asked[i-1]).Round(time.Minute))
	}
	return list
}

func TestPaceOfTheDocumentIsHonored(t *testing.T) {
	for _, test := range []struct {
		name string
		pace feed.PollingHints
		ok   func(at time.Time, gap time.Duration) bool
	}{
		{"ttl", feed.PollingHints{Every: 3 * time.Hour},
			func(_ time.Time, gap time.Duration) bool { return gap == 3*time.Hour }},
		{"ttl of a month", feed.PollingHints{Every: 30 * 24 * time.Hour},
			func(_ time.Time, gap time.Duration) bool { return gap == 24*time.Hour }},
		{"skipHours", feed.PollingHints{SkipHours: 1<<24 - 1 - 1<<5 - 1<<17},
			func(at time.Time, _ time.Duration) bool { return at.Hour() == 5 || at.Hour() == 17 }},
		{"skipDays", feed.PollingHints{SkipDays: 1<<time.Saturday | 1<<time.Sunday},
			func(at time.Time, _ time.Duration) bool {
				return at.Weekday() != time.Saturday && at.Weekday() != time.Sunday
			}},
	} {
		w := newNetwork(t)
		h, p := alone(w, func(n int, f node.Fetch) node.Fetched {
			if n > 1 {
				return status(304, 0)
			}
			ev := listing(f.Feed, 3)
			ev.Document.Pace = test.pace
			return ev
		})
		w.run(4 * 24 * time.Hour)
		h.kill() // it is remembered
		h.start()
		w.run(4 * 24 * time.Hour)
		if len(p.asked) < 7 {
			t.Errorf("%s: %d polls in eight days", test.name, len(p.asked))
		}
		for i, gap := range p.gaps()[1:] {
			if !test.ok(p.asked[i+2], gap) {
				t.Errorf("%s: polled on %v, %v after the last time", test.name, p.asked[i+2].Format("Mon 15:04"), gap)
			}
		}
	}
}

// A publisher's word about when to come again outlives the node, whatever its owner chose since.
func TestCourtesyOutlivesTheNode(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(n int, f node.Fetch) node.Fetched {
		ev := listing(f.Feed, n)
		ev.Freshness = courtesy.Freshness{Stated: true, Lifetime: 12 * time.Hour}
		return ev
	})
	w.run(10 * time.Minute)
	for range 20 {
		h.kill()
		h.config.Policy = polling.Fixed{Every: 5 * time.Minute}
		h.start()
		w.run(30 * time.Minute)
	}
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	if len(p.asked) != 1 {
		t.Errorf("%d requests while the document was fresh", len(p.asked)-1)
	}
	w.run(2 * time.Hour)
	if len(p.asked) != 2 {
		t.Errorf("%d requests once it was not", len(p.asked)-1)
	}
}

// The process ends while a poll is under way, again and again: nobody is asked again at once.
func TestACrashWithinAPollCausesNoEarlyOne(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 3) })
	w.run(time.Hour)
	p.slow = time.Hour
	for !h.node.Subscription(news).Polling {
		w.run(time.Second)
	}
	before := len(p.asked)
	for range 5 {
		h.kill()
		h.start()
		w.run(time.Minute)
	}
	if n := len(p.asked) - before; n != 0 {
		t.Errorf("%d requests within five minutes of a poll that was not answered", n)
	}
	w.run(10 * time.Minute)
	if n := len(p.asked) - before; n != 1 {
		t.Errorf("%d requests within a quarter of an hour", n)
	}
}

// The machine slept: what fell due meanwhile is polled when it wakes, but not all at once, and nothing else is.
func TestSleepCausesNoStampede(t *testing.T) {
	w := newNetwork(t)
	var feeds []feed.URL
	for i := range 60 {
		feeds = append(feeds, feed.URL(fmt.Sprintf("https://host%d.example.com/", i)))
		w.feed(feeds[i])
	}
	h := w.add(node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, feeds...)
	w.run(5 * time.Hour)
	count := func() (n int) {
		for _, u := range feeds {
			n += w.feed(u).requests
		}
		return n
	}
	before := count()
	const asleep = 3 * time.Hour
	due := 0
	for _, s := range h.node.Feeds() {
		if s.NextPoll.Before(w.Now().Add(asleep)) {
			due++
		}
	}
	w.sleep(asleep)
	w.run(5 * time.Second)
	if n := count() - before; n > due/3 {
		t.Errorf("%d of %d overdue feeds were polled within five seconds", n, due)
	}
	w.run(time.Minute)
	if n := count() - before; n < due || n > due+3 {
		t.Errorf("%d feeds were polled within a minute, %d were overdue", n, due)
	}
}

// A document that cannot be used is not asked for whole as long as it stays the same, but once a week: the program may
// have learned to read it.
func TestUnusableDocumentsAreAskedForConditionally(t *testing.T) {
	whole := []time.Time{}
	w := newNetwork(t)
	h, p := alone(w, func(n int, f node.Fetch) node.Fetched {
		if n == 1 {
			return listing(f.Feed, 3)
		}
		if f.ETag == `"bad"` && f.Body == (feed.Digest{2}) {
			return node.Fetched{Status: 304, ETag: f.ETag, Body: f.Body}
		}
		if f.ETag == "" {
			whole = append(whole, w.Now())
		}
		return node.Fetched{Status: 200, ETag: `"bad"`, Body: feed.Digest{2}, Unusable: true,
			Err: errors.New("byte 7: not a feed")}
	})
	w.run(28 * 24 * time.Hour)
	s := h.node.Feeds()[0]
	if s.Errors != len(p.asked)-1 || s.LastError != "byte 7: not a feed" {
		t.Errorf("after %d polls: %d errors, %q", len(p.asked), s.Errors, s.LastError)
	}
	if len(whole) < 2 || len(whole) > 4 {
		t.Errorf("%d unconditional requests in four weeks", len(whole))
	}
	for i := 1; i < len(whole); i++ {
		if gap := whole[i].Sub(whole[i-1]); gap < 7*24*time.Hour {
			t.Errorf("two unconditional requests within %v", gap)
		}
	}
	if !h.has(listing(news, 1).Document.Entries[0].EntryID()) {
		t.Error("the last good state is gone")
	}
	p.answer = func(f node.Fetch) node.Fetched { return listing(f.Feed, 4) }
	w.run(27 * time.Hour)
	if s := h.node.Feeds()[0]; s.Errors != 0 || s.LastError != "" {
		t.Errorf("after a good document: %d errors, %q", s.Errors, s.LastError)
	}
}

// A broken document without a validator comes and goes: its feed is asked about the one before, which is back.
func TestABrokenDocumentInPassing(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(n int, f node.Fetch) node.Fetched {
		switch {
		case n == 1:
			return listing(f.Feed, 3)
		case f.ETag != `"1"`:
			t.Errorf("request %d has the validator %q", n, f.ETag)
		case n <= 3:
			return node.Fetched{Status: 200, ETag: f.ETag, Body: f.Body, Err: errors.New("byte 7: not a feed")}
		}
		return node.Fetched{Status: 304, ETag: f.ETag, Body: f.Body}
	})
	w.run(6 * time.Hour)
	if s := h.node.Feeds()[0]; len(p.asked) < 6 || s.Errors != 0 || s.LastError != "" || s.Interval != 20*time.Minute {
		t.Errorf("after %d polls: %+v", len(p.asked), s)
	}
}

// 410 ends polling, and says so; the owner may try again.
func TestGoneForGood(t *testing.T) {
	gone := true
	w := newNetwork(t)
	h, p := alone(w, func(n int, f node.Fetch) node.Fetched {
		if n > 1 && gone {
			return status(410, 0)
		}
		return listing(f.Feed, 3)
	})
	w.run(time.Hour)
	before := len(p.asked)
	w.run(30 * 24 * time.Hour)
	h.kill()
	h.start()
	w.run(30 * 24 * time.Hour)
	if n := len(p.asked) - before; before != 2 || n != 0 {
		t.Errorf("%d requests until it was gone, %d after that", before, n)
	}
	if s := h.node.Feeds()[0]; !s.Ended || s.LastError == "" || !s.NextPoll.IsZero() || h.node.Status().Ended != 1 {
		t.Errorf("status %+v", s)
	}
	gone = false
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Hour)
	if s := h.node.Feeds()[0]; s.Ended || s.Errors != 0 || h.node.Status().Ended != 0 || len(p.asked) < before+2 {
		t.Errorf("after its owner subscribed again: %+v, %d requests", s, len(p.asked)-before)
	}
}

// What is gone is not asked for again at once because its owner still wants it.
func TestGoneAndWantedAtOnce(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(int, node.Fetch) node.Fetched { return status(410, 0) })
	w.run(time.Minute)
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	if s := h.node.Feeds()[0]; len(p.asked) != 1 || s.NotBefore.IsZero() {
		t.Errorf("wanted after a minute, it is asked for %d times: %+v", len(p.asked), s)
	}
	w.run(10 * time.Minute)
	if len(p.asked) != 2 {
		t.Errorf("then it is asked for %d times", len(p.asked))
	}
}

// A publisher's 410 does not keep an owner waiting who follows the feed anew.
func TestGoneAndFollowedAnew(t *testing.T) {
	gone := true
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
		if gone {
			return status(410, 12*time.Hour)
		}
		return listing(f.Feed, 3)
	})
	w.run(time.Hour)
	gone = false
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	h.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Minute)
	if s := h.node.Feeds()[0]; len(p.asked) != 2 || s.LastSuccess.IsZero() {
		t.Errorf("after %d requests: %+v", len(p.asked), s)
	}
}

// A delta (RFC 3229) adds to what the feed lists.
func TestDeltasAddToTheDocument(t *testing.T) {
	w := newNetwork(t)
	h, _ := alone(w, func(n int, f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 5)
		if n > 1 {
			ev.Status, ev.Partial = 226, true
			ev.Document.Entries = []feed.Entry{{Feed: f.Feed, ID: fmt.Sprint("new ", n),
				Published: epoch.Add(time.Hour)}}
		}
		return ev
	})
	w.run(time.Minute)
	before := h.node.Subscription(news).LastListed
	w.run(20 * time.Minute)
	s := h.node.Subscription(news)
	if len(s.LastListed) != 5 || s.LastListed[3].Entry != before[4].Entry || s.History.Window != 5 {
		t.Errorf("lists %d entries, window %d; want the new one after the newest four", len(s.LastListed),
			s.History.Window)
	}
	e := feed.Entry{Feed: news, ID: "new 2"}
	if !h.has(e.EntryID()) || s.LastListed[4].Entry != e.EntryID() {
		t.Error("the entry of the delta is not there")
	}
}

// Publishers that add up what nodes say of subscribers within a day count each reader once: whoever follows a feed says
// so for itself, however many get what its poll brings, and polls in time.
func TestEachReaderCountsOnce(t *testing.T) {
	w := newNetwork(t)
	said := make(map[*testHost]bool)
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, effect := range effects {
			if f, ok := effect.(node.Fetch); ok && f.Feed == news && f.Reader {
				said[h] = true
			}
		}
	}
	hosts := w.full(5, node.Config{}, news)
	w.run(5 * 24 * time.Hour)
	for range 3 {
		clear(said)
		w.run(24 * time.Hour)
		if len(said) != len(hosts) {
			t.Errorf("within a day %d of %d nodes say that they follow the feed", len(said), len(hosts))
		}
	}
}

// The requests of polls to publishers are kept for the owner. Only the first request of the first poll of a feed is its
// first, also after a restart; and what comes after the feed was given up counts too.
func TestRequestsAreKept(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: rarely{}}, news)
	poll := func(status ...int) {
		if s := h.node.Subscription(news); s != nil {
			s.Polling = true
		}
		ev := node.Fetched{Feed: news}
		for _, code := range status {
			ev.Requests = append(ev.Requests, grade.Request{At: w.Now(), URL: string(news), Status: code})
		}
		h.step(ev)
	}
	poll(302, 200)
	h.kill()
	h.start()
	poll(304)
	h.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	poll(410)
	var got []int
	for i, r := range h.store.LoadRequests(10) {
		got = append(got, r.Status)
		if r.First != (i == 0) {
			t.Errorf("request %d: first %v", i, r.First)
		}
	}
	if len(got) != 4 || got[0] != 302 || got[1] != 200 || got[2] != 304 || got[3] != 410 {
		t.Errorf("kept %v, want 302, 200, 304, 410", got)
	}
}

// A publisher that calls its documents fresh for a day is asked once a day by each node, whatever they tell each other.
func TestADayOfFreshnessIsOneRequest(t *testing.T) {
	const nodes, days = 5, 10
	w := newNetwork(t)
	published := 0
	w.feed(news).answer = func(f node.Fetch) node.Fetched {
		published++
		ev := listing(f.Feed, published)
		ev.Freshness = courtesy.Freshness{Stated: true, Lifetime: 24 * time.Hour}
		return ev
	}
	w.full(nodes, node.Config{}, news)
	w.run(24 * time.Hour)
	begun := published
	w.run(days * 24 * time.Hour)
	if got := published - begun; got < nodes*(days-1) || got > nodes*days {
		t.Errorf("%d requests of %d nodes in %d days", got, nodes, days)
	}
}
