package daemon

import (
	"context"
	"errors"
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
