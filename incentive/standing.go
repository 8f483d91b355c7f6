package incentive

import (
	"fmt"
	"slices"
	"time"
)

// An Offence is a way to break the rules. A neighbor has a standing of 100 points; an offence costs what this table
// says, for 24 hours, and then it is forgotten; a forged entry for a week. A neighbor without points left is refused
// for as long, and its link ends. Most offences fine the account too, by a multiple of the value that was at stake.
//
//	offence           points   ends at the   fine   what it is
//	broken promise        34   third           75   has not delivered what we asked it for
//	failed audit          34   third           75   offered what it does not have
//	wrong did             34   third           75   delivered a bundle whose content gives another did
//	malformed bundle      34   third           75   delivered a bundle that contradicts itself
//	forged entry         100   first           10   claimed as its own poll what the feed never had
//	forged path           10   tenth            1   wrote a path that cannot be
//	unwanted feed          2   50th             -   delivered entries of a feed that we do not want
//	bad subset             1   100th            -   advert with invalid URLs or hop counts, or a feed twice
//	subset lie            25   fourth           -   advertises feeds of which it then brings nothing
//	subset flood          50   second           -   advert of more than protocol.MaxSubset feeds
//	connect storm          5   20th             -   a connect beyond those that an hour allows
//	call flood             4   25th             -   a minute with more calls than a minute allows
//	bad answer            10   tenth            1   answered a query with more than was asked, or other things
//
// The points are such that a bad network or an old version does not come near the end of them: one
// broken promise a day, a bundle of a feed that we withdrew a moment ago, a path that is stale, a night
// of reconnecting. Promises that break within 5 minutes are one failure of the network and cost once;
// failed audits among them are fined all the same, each, for otherwise lying in bulk would pay.
//
// A path is forged only where the sender itself must have written it: it is too long, or our own address, by
// the sender's word too, is the last on the path of a bundle with entries that we never had. Further up
// somebody else may have put our address, to turn us against an honest relay; as the bundle is taken all
// the same, he gains nothing.
type Offence int

// The offences. Their names are persisted, so both order and numbers are free to change.
const (
	BrokenPromise Offence = iota + 1
	FailedAudit
	WrongDID
	MalformedBundle
	ForgedEntry
	ForgedPath
	UnwantedFeed
	BadSubset
	SubsetLie
	SubsetFlood
	ConnectStorm
	CallFlood
	BadAnswer
)

// A penalty is the cost of an offence.
type penalty struct {
	name   string
	points int    // of the standing
	fine   Credit // multiple of the value at stake
}

// penalties is read only.
var penalties = [...]penalty{
	BrokenPromise:   {"broken promise", 34, auditFine},
	FailedAudit:     {"failed audit", 34, auditFine},
	WrongDID:        {"wrong did", 34, auditFine},
	MalformedBundle: {"malformed bundle", 34, auditFine},
	ForgedEntry:     {"forged entry", 100, 10},
	ForgedPath:      {"forged path", 10, 1},
	UnwantedFeed:    {"unwanted feed", 2, 0},
	BadSubset:       {"bad subset", 1, 0},
	SubsetLie:       {"subset lie", 25, 0},
	SubsetFlood:     {"subset flood", 50, 0},
	ConnectStorm:    {"connect storm", 5, 0},
	CallFlood:       {"call flood", 4, 0},
	BadAnswer:       {"bad answer", 10, 1},
}

const (
	// auditFine is the fine for a failed audit as a multiple of the value. The chance of an audit, one
	// in fifty, times the fine must be more than what an offer gains; 50 would just not be.
	auditFine = 75

	fullStanding = 100
	// forgotten is when an offence no longer counts, and for how long an address is refused.
	forgotten = 24 * time.Hour
	// forgerForgotten is the same for a forged entry. One neighbor that does not know a forger yet spreads
	// what he invents to everyone, and after a day all would have forgotten him at once.
	forgerForgotten = 7 * 24 * time.Hour
	oneFailure      = 5 * time.Minute // promises that break within it broke for one reason
)

// String is the offence's name.
func (o Offence) String() string {
	if !o.valid() {
		return fmt.Sprintf("offence %d", int(o))
	}
	return penalties[o].name
}

func (o Offence) valid() bool { return o >= BrokenPromise && int(o) < len(penalties) }

// penalty is the penalty of the offence, nothing where there is no such offence.
func (o Offence) penalty() penalty {
	if !o.valid() {
		return penalty{}
	}
	return penalties[o]
}

// Points is the cost of the offence, out of a standing of 100.
func (o Offence) Points() int { return o.penalty().points }

// MarshalText writes the offence's name.
func (o Offence) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads an offence's name.
func (o *Offence) UnmarshalText(text []byte) error {
	i := slices.IndexFunc(penalties[:], func(p penalty) bool { return p.name == string(text) })
	if i < int(BrokenPromise) {
		return fmt.Errorf("read offence: there is none called %q", text)
	}
	*o = Offence(i)
	return nil
}

// A CountedOffence is one offence that counts against a neighbor.
type CountedOffence struct {
	Offence Offence
	At      time.Time // whole seconds
}

// A Standing is the sum of the offences that count against the holder of an account. The zero Standing is spotless.
type Standing struct {
	Marks   []CountedOffence // oldest first; those that are forgotten may still be there
	Refused time.Time        // until when the address is refused; zero if it never was
}

// maxMarks is how many marks are enough to use up every standing.
const maxMarks = fullStanding

// Points is the rest of the standing: 100 where nothing counts against the holder, 0 at the end.
func (s *Standing) Points(now time.Time) int {
	points := fullStanding
	for _, m := range s.Marks {
		if m.counts(now) {
			points -= m.Offence.Points()
		}
	}
	return max(points, 0)
}

// counts reports whether the mark still counts. One from a future further away than marks last was made
// by a clock that went wrong.
func (m CountedOffence) counts(now time.Time) bool { return now.Sub(m.At).Abs() < m.Offence.lasts() }

// lasts is for how long the offence counts, and its last straw has an address refused.
func (o Offence) lasts() time.Duration {
	if o == ForgedEntry {
		return forgerForgotten
	}
	return forgotten
}

// forged reports whether the holder forged an entry, as far as that still counts.
func (s *Standing) forged(now time.Time) bool {
	return slices.ContainsFunc(s.Marks, func(m CountedOffence) bool {
		return m.Offence == ForgedEntry && m.counts(now)
	})
}

// refused reports whether the address is refused. The clock may have gone wrong here too.
func (s *Standing) refused(now time.Time) bool {
	left := s.Refused.Sub(now)
	return left > 0 && left < 2*forgerForgotten
}

// mark counts an offence, and reports whether it was one of its own and not part of one that is counted
// already.
func (s *Standing) mark(now time.Time, o Offence) bool {
	s.Marks = slices.DeleteFunc(s.Marks, func(m CountedOffence) bool { return !m.counts(now) })
	if o.unkept() && slices.ContainsFunc(s.Marks, func(m CountedOffence) bool {
		return m.Offence.unkept() && now.Sub(m.At).Abs() < oneFailure
	}) {
		return false
	}
	if len(s.Marks) == maxMarks {
		s.Marks = slices.Delete(s.Marks, 0, 1)
	}
	s.Marks = append(s.Marks, CountedOffence{o, now})
	if until := now.Add(o.lasts()); s.Points(now) == 0 && (o == ForgedEntry || !s.refused(now)) {
		s.Refused = until
	}
	return true
}

// unkept reports whether the offence is that something did not come, for which a network may be to blame.
func (o Offence) unkept() bool { return o == BrokenPromise || o == FailedAudit }
