package courtesy

import (
	"cmp"
	"strings"
	"time"

	"feedex/feed"
)

const (
	// movedPolls and movedFor are how often, and over which time, a feed must be redirected for good to the same
	// address until it is asked for there. An attacker that breaks into one answer must not own the feed.
	movedPolls = 3
	movedFor   = 24 * time.Hour
	// aliasFails is how many failures in a row end that.
	aliasFails = 3
)

// A Move is where a feed moved, or may have, or from where it was renamed. The zero value is nowhere.
type Move struct {
	Alias      feed.URL  // where it is asked for, "" for its own URL
	Former     feed.URL  // the URL that it had before it was renamed, "" where it was not
	Moved      feed.URL  // where it may have moved to, "" for nowhere
	MovedSeen  int       // so many polls in a row were sent there for good
	MovedSince time.Time // the first of them
}

// At is where the feed with that URL is asked for.
func (m *Move) At(u feed.URL) feed.URL { return cmp.Or(m.Alias, u) }

// Redirected takes note of where a poll of the feed was redirected for good (RFC 9110 §15.4.2, §15.4.9), "" for
// nowhere, and reports whether it is asked for elsewhere from now on.
func (m *Move) Redirected(now time.Time, u, to feed.URL) bool {
	switch {
	case to == "" || secure(u) && !secure(to):
		m.Moved, m.MovedSeen, m.MovedSince = "", 0, time.Time{}
		return false
	case to != m.Moved:
		m.Moved, m.MovedSeen, m.MovedSince = to, 1, now
		return false
	}
	if m.MovedSeen++; m.MovedSeen < movedPolls || now.Sub(m.MovedSince) < movedFor {
		return false
	}
	*m = Move{Alias: to, Former: m.Former}
	if to == u {
		m.Alias = "" // back again
	}
	return true
}

// Failed takes note of so many failures in a row, the last of that status, and reports whether the feed is asked for
// elsewhere because its new address does not work, the old one may know better by now: under its own name or, where
// that is the new one, under the former. Where neither works it is one after the other.
func (m *Move) Failed(status, failures int) bool {
	switch {
	case m.Alias == "" && m.Former == "" || status != Gone && failures%aliasFails != 0:
		return false
	case m.Alias == "":
		*m = Move{Alias: m.Former, Former: m.Former}
	default:
		*m = Move{Former: m.Former}
	}
	return true
}

// Gone reports whether a feed that is gone where it is asked for has no other address to be asked for at.
func (m *Move) Gone() bool { return m.Alias == m.Former }

func secure(u feed.URL) bool { return strings.HasPrefix(string(u), "https:") }
