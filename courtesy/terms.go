package courtesy

import (
	"time"

	"feedex/feed"
	"feedex/internal/when"
)

const (
	// longestStated is the longest that a feed is left alone because its documents say that they stay as they are: a
	// publisher that states months means the server's default, not the news (RFC 9111 §4.2 lets a client ask before).
	longestStated = 24 * time.Hour
	// longestSkipped is after how long a feed is asked for in an hour that its publisher skips: every week has one
	// that it does not, of which this node missed all.
	longestSkipped = 8 * 24 * time.Hour
)

// Terms are the wishes of the publisher of a feed. The zero value is nothing.
type Terms struct {
	Lifetime  time.Duration     // how long an answer is fresh (RFC 9111 §4.2)
	NotBefore time.Time         // the next request, at the earliest
	Pace      feed.PollingHints // by the last document
}

// Freshness is the statement of an answer about how long it is fresh (RFC 9111 §4.2). The zero value says nothing.
type Freshness struct {
	Stated   bool          // the answer says so
	Lifetime time.Duration // from when it was made, never below zero
	Age      time.Duration // how long ago that was, for caches on the way
}

// Answered notes for how long the publisher wants us to stay away after an answer of that status, with a document or
// nil. Wishes that it does not state hold on from the last document: a 304 renews its freshness (RFC 9111 §4.3.4).
func (t *Terms) Answered(now time.Time, status int, doc *feed.Document, f Freshness, retryAfter time.Duration) {
	switch {
	case f.Stated:
		t.Lifetime = f.Lifetime
	case doc != nil || status == OK:
		t.Lifetime = 0
	}
	if doc != nil {
		t.Pace = doc.Pace
	}
	t.NotBefore = now.Add(owed(t.Lifetime-f.Age, t.Pace.Every, retryAfter))
}

// Failed notes and returns for how long it does after an answer that brought no document.
func (t *Terms) Failed(now time.Time, f Freshness, retryAfter time.Duration) time.Duration {
	wait := owed(f.Lifetime-f.Age, 0, retryAfter)
	t.NotBefore = now.Add(wait)
	return wait
}

// owed is for how long a feed is to be left alone, whatever its policy says: for what is left of the time in which the
// answer is fresh (RFC 9111), for as long as the document says that it stays as it is (ttl, the syndication module),
// both longestStated at most; and for as long as the publisher asks for (Retry-After).
func owed(fresh, stays, retryAfter time.Duration) time.Duration {
	return max(0, min(max(fresh, stays), longestStated), retryAfter)
}

// Allowed is at, or the next full hour that the publisher does not skip, for a feed that was last polled at last and is
// polled so often. Where this machine is off or asleep in all such hours, that must not be the end of the feed.
func (t *Terms) Allowed(at, last time.Time, interval time.Duration) time.Time {
	if due := when.Later(last.Add(interval), t.NotBefore); !last.IsZero() && at.Sub(due) >= longestSkipped {
		return at
	}
	return t.Pace.Allowed(at)
}
