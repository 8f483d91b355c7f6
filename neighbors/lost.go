package neighbors

import (
	"time"

	"feedex/internal/when"
	"feedex/protocol"
)

const (
	// firstSearch and longestSearch bound the time until a lost neighbor is tried again; it doubles with each
	// try. missedFor is for how long it is.
	firstSearch   = time.Hour
	longestSearch = 6 * time.Hour
	missedFor     = 7 * 24 * time.Hour
)

// Lost notes that the link to id ended because it did not answer any more. Between the two the network may have been
// cut, and both may have found others since: then neither needs the other, and the network would stay two when it can
// be one again. So neighbors of our own choice are missed, however many others there are; a neighbor that came by
// itself may come again.
func (b *Book) Lost(now time.Time, id protocol.NodeID) {
	if a := b.byID[id]; a != nil && a.source == Remembered && a.past != nil {
		a.past.searches = 0
		b.searchLater(now, a.past)
	}
}

// Missed picks one of the lost neighbors that may be tried again now, the one that we were linked with longest,
// and marks it as being tried; false where there is none. skip tells which not to take.
func (b *Book) Missed(now time.Time, skip func(protocol.NodeID) bool) (id protocol.NodeID, ok bool) {
	var best *address
	for _, a := range b.list {
		switch {
		case a.linked || a.past == nil || a.past.searchAt == 0 || unixNanoOf(now) < a.past.searchAt || !b.ready(now, a):
		case time.Duration(unixNanoOf(now)-a.past.lastMet) > missedFor:
			a.past.searchAt = 0 // it is gone for good
		case skip(a.id):
		case best == nil || a.past.together > best.past.together:
			best = a
		}
	}
	if best == nil {
		return id, false
	}
	best.trying = true
	b.searchLater(now, best.past)
	return best.id, true
}

// searchLater has a lost neighbor tried again after a growing while.
func (b *Book) searchLater(now time.Time, p *past) {
	wait := when.Doubled(firstSearch, longestSearch, p.searches)
	p.searches++
	p.searchAt = unixNanoOf(now.Add(wait + time.Duration(b.rng.Int64N(int64(wait/4)+1))))
}
