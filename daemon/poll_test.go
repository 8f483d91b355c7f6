package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// A newspaper is a fetcher that brings its document with each poll that is not conditional, and notes the
// validators of all.
type newspaper struct {
	before func() // happens before the first
	mu     sync.Mutex
	sent   []string
}

func (p *newspaper) Fetch(_ context.Context, f node.Fetch) node.Fetched {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sent) == 0 {
		p.before()
	}
	p.sent = append(p.sent, f.ETag)
	if f.ETag != "" {
		return node.Fetched{Feed: f.Feed, Status: 304, ETag: f.ETag, Body: f.Body}
	}
	doc := &feed.Document{Feed: f.Feed, Entries: []feed.Entry{{Feed: f.Feed, ID: "one", Title: "First"}}}
	return node.Fetched{Feed: f.Feed, Status: 200, Document: doc, ETag: `"1"`, Body: feed.Digest{1}}
}

// last is the validator that the last of so many polls sent.
func (p *newspaper) last() (etag string, polls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[len(p.sent)-1], len(p.sent)
}

// A validator says that its document is here. So where the document could not be kept, it is not sent.
func TestValidatorsAreKeptWithTheirDocument(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		paper := &newspaper{before: func() { l.disk.set(diskState{commit: errors.New("disk is full")}) }}
		l.inspect(func(h *host) { h.fetcher = paper })
		e := feed.Entry{Feed: exampleFeed, ID: "one"}
		known := func() (yes bool) {
			l.inspect(func(h *host) { yes = !h.store.Known([]feed.EntryID{e.EntryID()})[0].Seen.IsZero() })
			return yes
		}
		l.follow()
		l.disk.set(diskState{})
		l.pass(longestWait)
		if _, polls := paper.last(); known() || polls != 1 {
			t.Fatalf("after %d polls, of which nothing could be kept, the entry is here: %v", polls, known())
		}
		l.pass(3 * time.Hour)
		if second := paper.sent[1]; second != "" || !known() {
			t.Errorf("the next poll sent %q, the entry is here: %v", second, known())
		}
		if etag, polls := paper.last(); etag != `"1"` || polls < 3 {
			t.Errorf("the last of %d polls sent %q", polls, etag)
		}
	})
}

// A crowd is a fetcher that counts polls that are under way, and ends them when it is told to.
type crowd struct {
	mu          sync.Mutex
	hosts       map[string]int
	under, most int
	several     bool // two were at one host
	end         chan struct{}
}

func (c *crowd) Fetch(ctx context.Context, f node.Fetch) node.Fetched {
	c.count(f.Feed.Host(), 1)
	defer c.count(f.Feed.Host(), -1)
	select {
	case <-c.end:
	case <-ctx.Done():
	}
	return node.Fetched{Feed: f.Feed, Status: 304}
}

func (c *crowd) count(host string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under += by
	c.most = max(c.most, c.under)
	c.hosts[host] += by
	c.several = c.several || c.hosts[host] > 1
}

// However many feeds fall due at once, 256 are asked for at a time, each at another host; the others come after them.
func TestPollsUnderWayAreBounded(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		c := &crowd{hosts: make(map[string]int), end: make(chan struct{})}
		l.inspect(func(h *host) { h.fetcher = c })
		var feeds []feed.URL
		for i := range 300 {
			feeds = append(feeds, feed.URL(fmt.Sprintf("https://h%d.example.com/a", i)),
				feed.URL(fmt.Sprintf("https://h%d.example.com/b", i)))
		}
		if err := l.Subscribe(t.Context(), node.Subscribe{Feeds: feeds}); err != nil {
			t.Fatal(err)
		}
		l.pass(time.Minute)
		c.mu.Lock()
		under := c.under
		c.mu.Unlock()
		if under != 256 {
			t.Errorf("%d polls are under way", under)
		}
		close(c.end)
		l.pass(time.Hour)
		status, err := l.Feeds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range status {
			if f.LastPoll.IsZero() {
				t.Errorf("%s was not polled", f.URL)
			}
		}
		if c.most != 256 || c.several || len(status) != len(feeds) {
			t.Errorf("%d polls at most were under way of %d feeds; two of them at one host: %v", c.most,
				len(status), c.several)
		}
	})
}
