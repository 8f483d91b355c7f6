package reading

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// A standing query is a filter of the owner (FilterWish.Standing) that the node has neighbors asked for, every
// StandingEvery: it finds entries of feeds that nobody here follows, which are no items. So no rule acts on them.

const (
	// StandingEvery is how often neighbors are asked for a standing query.
	StandingEvery = 6 * time.Hour
	// MaxStanding is how many standing queries there may be.
	MaxStanding = 100
	// MaxFound is how many entries a standing query has at most, those that it found last.
	MaxFound = 1000
)

// Why a filter is no standing query. All wrap ErrStanding.
var (
	ErrStanding       = errors.New("neighbors cannot be asked for the filter")
	errOwnersStanding = fmt.Errorf("%w of other people: what neighbors are told is the owner's to decide", ErrStanding)
	errManyStanding   = fmt.Errorf("%w: there are %d standing queries already: ask for others no more", ErrStanding,
		MaxStanding)
	errStandingFeed = fmt.Errorf(
		"%w: its words name a feed, and which feeds matter to you is not told: leave feed: out", ErrStanding)
	errStandingAll = fmt.Errorf("%w: it has no word that must occur, and would ask for everything", ErrStanding)
	errStandingAny = fmt.Errorf("%w: it has more than %d words with any ending (*), which nobody answers", ErrStanding,
		protocol.MaxPrefixes)
)

// CheckStanding says why a person may not have one more standing query beside so many. The error wraps ErrStanding.
func CheckStanding(p PersonID, others int) error {
	switch {
	case p != Owner:
		return errOwnersStanding
	case others >= MaxStanding:
		return errManyStanding
	}
	return nil
}

// HoldsOfNothing reports whether a Match holds of what has no words, and so of all that it does not exclude.
func HoldsOfNothing(m feed.Match) bool {
	var f feed.Filter
	f.Ask(m)
	return archive.NewMatcher(f).Match(&archive.Record{})
}

// askable says why neighbors cannot be asked for what a Match asks for. The error wraps ErrStanding.
func askable(m feed.Match) error {
	var f feed.Filter
	f.Ask(m)
	switch {
	case HoldsOfNothing(m):
		return errStandingAll
	case m.Names(feed.FieldFeed):
		return errStandingFeed
	case f.Prefixes() > protocol.MaxPrefixes:
		return errStandingAny
	}
	return nil
}

// StandingQueries keeps what comes of standing queries.
type StandingQueries interface {
	// Asking notes when neighbors were asked for a standing query, zero for never, and when they are the next time.
	Asking(at time.Time, id FilterID, next time.Time)
	// Found notes which entries a standing query has found, of those that are kept of feeds that nobody follows, and
	// what went wrong as it was asked for, "" for nothing. What it had is found once. Of more than MaxFound those that
	// were found first are found no more.
	Found(at time.Time, id FilterID, entries []feed.EntryID, problem string)
}

// A StandingList reads what StandingQueries keeps.
type StandingList interface {
	// StandingDue is the standing query for which neighbors are to be asked at a moment, the one that is due for
	// longest, and when they were asked last; zero for none.
	StandingDue(ctx context.Context, now time.Time) (f NamedFilter, asked time.Time, err error)
}
