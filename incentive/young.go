package incentive

import (
	"time"

	"feedex/feed"
)

// ahead is how far a date may lie in the future: clocks differ. One further ahead is no date.
const ahead = time.Hour

// date is when the entry was published or, where the publisher does not say, last changed; ok is false where
// nothing credible says so.
func date(now time.Time, e *feed.Entry) (at time.Time, ok bool) {
	for _, t := range []time.Time{e.Published, e.Updated} {
		if !t.IsZero() && !t.After(now.Add(ahead)) {
			return t, true
		}
	}
	return time.Time{}, false
}

// Young counts the entries that are young enough to be worth anything. One without a date may be.
func Young(now time.Time, entries []feed.Entry) int {
	n := 0
	for i := range entries {
		if at, ok := date(now, &entries[i]); !ok || now.Sub(at) <= young {
			n++
		}
	}
	return n
}

// YoungSince reports whether an entry that has no date, and came here at seen, is young.
func YoungSince(now time.Time, e *feed.Entry, seen time.Time) bool {
	_, dated := date(now, e)
	return !dated && now.Sub(seen) <= young
}

// Dated counts the young entries that have a date.
func Dated(now time.Time, entries []feed.Entry) int { return len(dates(now, entries)) }

// dates are those of the young entries that have one.
func dates(now time.Time, entries []feed.Entry) (list []uint32) {
	for i := range entries {
		if at, ok := date(now, &entries[i]); ok && now.Sub(at) <= young {
			list = append(list, unix(at))
		}
	}
	return list
}
