package trust

import (
	"time"

	"feedex/feed"
)

// A Register is the record of statements by neighbors that no own poll has shown. Make one with NewRegister.
type Register struct {
	Witnesses *Witnesses // whose word counts, and which nodes they speak against
	Claims    *Claims    // that publishers wrote entries
	Versions  *Versions  // of entries, beside those that are kept
}

// NewRegister returns a register in which nobody said anything yet.
func NewRegister() *Register {
	w := new(Witnesses)
	return &Register{Witnesses: w, Claims: newClaims(w), Versions: newVersions(w)}
}

// An OwnPoll has the entries that an own poll of a feed showed.
type OwnPoll struct {
	Feed   feed.URL
	Begun  time.Time
	Listed []Listed // by the latest document, the oldest entry first
	// Replaced says that this poll brought that document, which took the place of one that listed Before.
	Replaced bool
	Before   []Listed
}

// Polled ends what is said of a feed and a poll of it can tell of: it returns how the claims ended, and the versions
// that were altered on their way.
func (r *Register) Polled(now time.Time, p OwnPoll) (j Judgement, altered []BroughtVersion) {
	if p.Replaced {
		r.Claims.Compare(now, p.Feed, p.Before, p.Listed)
	}
	return r.Claims.Judge(now, p.Begun, p.Feed, p.Listed), r.Versions.Compare(p.Begun, p.Listed)
}
