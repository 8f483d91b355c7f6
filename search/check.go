package search

import (
	"errors"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Errors of Check. No honest node gives such an answer.
var (
	// ErrTooMany means that an answer lists more than was asked for.
	ErrTooMany = errors.New("answer lists more entries than were asked for")
	// ErrNotAsked means that an answer lists an entry that was not asked for.
	ErrNotAsked = errors.New("answer lists an entry that was not asked for")
)

// Check says what is wrong with an answer to a query of limit entries, as far as what it lists can tell:
// words may stand where we do not see them.
func Check(f feed.Filter, a protocol.Answer) error {
	if len(a.Found) > f.Limit {
		return ErrTooMany
	}
	for i := range a.Found {
		if !asked(f, &a.Found[i]) {
			return ErrNotAsked
		}
	}
	return nil
}

func asked(f feed.Filter, found *protocol.Found) bool {
	at := Time(found)
	return found.Feed != "" &&
		(f.Feed == "" || found.Feed == f.Feed) &&
		(f.Since.IsZero() || !at.Before(f.Since)) &&
		(f.Until.IsZero() || at.Before(f.Until)) &&
		(len(f.IDs) == 0 || slices.Contains(f.IDs, found.ID))
}

// Time is when an entry was published or, where that is not known, last changed or, without a date that can
// be, first seen: what since and until are about.
func Time(f *protocol.Found) time.Time { return feed.TimeOf(f.Published, f.Updated, f.Seen) }
