package search

import "time"

// Limits of what one neighbor asks of another.
const (
	// PerMinute is how many queries.
	PerMinute = 10
	// AtOnce is how many of them may wait for their answers.
	AtOnce = 2
	// OwnPerMinute is how many of PerMinute are kept for the owner, whatever others have us pass on.
	OwnPerMinute = 2
	// MessagesPerMinute is how many calls one neighbor's queries may cause within a minute.
	MessagesPerMinute = 64
)

// A QueryLimit counts queries between two neighbors. The zero QueryLimit has seen none.
type QueryLimit struct {
	times [PerMinute]time.Time // of the latest, as a ring
	next  int
}

// Take counts a query, unless there were PerMinute within the last minute: then it reports false.
func (p *QueryLimit) Take(now time.Time) bool {
	if !p.Free(now, 0) {
		return false
	}
	p.times[p.next] = now
	p.next = (p.next + 1) % PerMinute
	return true
}

// Free reports whether Take would count a query even if keep more had been counted.
func (p *QueryLimit) Free(now time.Time, keep int) bool {
	oldest := p.times[(p.next+keep)%PerMinute]
	return oldest.IsZero() || now.Sub(oldest) >= time.Minute
}
