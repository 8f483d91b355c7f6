package incentive

import (
	"slices"
	"time"

	"feedex/feed"
)

// A storedEntry is an entry that we have, of which there are thousands.
type storedEntry struct {
	since     uint32   // when its 48 hours began, in Unix seconds; 0 where it has no date, and a neighbor brought it
	forgotten bool     // it was here before what is remembered: anybody may have had it from us
	parties   []uint32 // by number: who had it from us, and, with one bit more, for whom it earns nothing any more
}

// newStoredEntry is an entry that came now, by an own poll or by a neighbor.
func newStoredEntry(now time.Time, e *feed.Entry, polled bool) (x storedEntry) {
	if at, ok := date(now, e); ok {
		x.since = unix(at)
	} else if polled {
		x.since = unix(now)
	}
	return x
}

// An entitlement is whether an entry earns for a holder.
type entitlement int

const (
	open  entitlement = iota // it may earn
	given                    // it came to the holder from us
	done                     // it earned, or might have
)

// isDone marks a number in storedEntry.parties.
const isDone = 1 << 31

// take returns whether the entry earns for the holder of that number, and sees to it that it is done.
func (x *storedEntry) take(h uint32) entitlement {
	if h == nobody {
		return done
	}
	if slices.Contains(x.parties, h|isDone) {
		return done
	}
	if i := slices.Index(x.parties, h); i >= 0 {
		x.parties[i] = h | isDone
		return given
	}
	if len(x.parties) >= maxSharers {
		return done
	}
	x.parties = append(x.parties, h|isDone)
	if x.forgotten {
		return given
	}
	return open
}

// give notes that the holder of that number gets it, and reports whether it had it before.
func (x *storedEntry) give(h uint32) (again bool) {
	again = slices.Contains(x.parties, h|isDone) || slices.Contains(x.parties, h)
	if !again && len(x.parties) < maxSharers {
		x.parties = append(x.parties, h)
	}
	return again
}
