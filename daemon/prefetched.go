package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"feedex/feed"
	"feedex/node"
)

// prefetch fetches what is at u, which nobody follows. Where that is a feed, it stands for its first poll.
func (h *host) prefetch(ctx context.Context, u feed.URL) (node.Fetched, error) {
	got, err := h.fetchForOwner(ctx, node.Fetch{Feed: u})
	if err != nil {
		return node.Fetched{}, err
	}
	_, err = chore(ctx, h, func() (struct{}, error) {
		h.store.KeepRequests(got.Requests)
		return struct{}{}, h.store.Commit()
	})
	if err != nil || got.Document == nil {
		return got, err
	}
	again, doc := got, *got.Document
	doc.Entries = slices.Clone(doc.Entries)    // the caller reads the others
	again.Document, again.Requests = &doc, nil // the requests are in the log
	h.prefetched.put(again, time.Now())
	return got, nil
}

const (
	// prefetchedFor is how long a document that was looked at stands for the first poll of its feed.
	prefetchedFor = 5 * time.Minute
	// maxPrefetched is of how many feeds one is kept.
	maxPrefetched = 16
)

// prefetched are documents of feeds that were fetched before these were followed, so that their first poll need not
// fetch them again. The zero value is ready.
type prefetched struct {
	mu  sync.Mutex
	all map[feed.URL]prefetchedFeed
}

type prefetchedFeed struct {
	got node.Fetched
	at  time.Time
}

// put keeps what came of looking at a feed.
func (l *prefetched) put(got node.Fetched, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for u, x := range l.all {
		if now.Sub(x.at) >= prefetchedFor {
			delete(l.all, u)
		}
	}
	if l.all == nil {
		l.all = make(map[feed.URL]prefetchedFeed)
	}
	if len(l.all) < maxPrefetched {
		l.all[got.Feed] = prefetchedFeed{got, now}
	}
}

// take is what came of looking at a feed, if f is its first poll and that was a moment ago.
func (l *prefetched) take(f node.Fetch, now time.Time) (node.Fetched, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.all[f.Feed]
	delete(l.all, f.Feed)
	first := f.At() == f.Feed && f.ETag == "" && f.LastModified == "" && f.Body == (feed.Digest{})
	return x.got, ok && first && now.Sub(x.at) < prefetchedFor
}
