package poller

import (
	"cmp"
	"math"
	"time"

	"feedex/archive"
	"feedex/internal/when"
	"feedex/node/internal/core"
)

const (
	// shortestAfterGap is the shortest interval that a slipped window leads to.
	shortestAfterGap = 2 * time.Minute
	// MostMissing bounds a guess at how many entries are missing.
	MostMissing = 100_000
)

// newestKnown is when the newest entry was published that polls of the feed have shown, or else when it was polled
// last.
func (m *Machine) newestKnown(s *Subscription, lastPoll time.Time) time.Time {
	if times := s.History.Times; len(times) > 0 {
		return time.Unix(times[len(times)-1], 0).UTC()
	}
	return lastPoll
}

// watchWindow notes a gap where the document slipped: none of what it lists was known, and most of it came out
// after the newest entry that was; a few may bear the date of a draft. A document whose entries are older was not
// overrun, but has other ids now; one of a single entry holds none that was known whenever there is a new one.
func (m *Machine) watchWindow(s *Subscription, newest time.Time, fresh []archive.Record, listed int) {
	before := s.Listed
	s.Listed = cmp.Or(listed, before)
	gap := archive.Gap{}
	if before > 0 && len(fresh) >= listed {
		gap = slipped(s.History.Times, newest, fresh, listed)
	}
	if gap.Missing == 0 {
		m.fill(s, fresh)
		return
	}
	s.Slipped = true
	if s.Gap.Open() { // now it reaches from the one into the other
		gap.After, gap.Missing, gap.Filled = s.Gap.After, min(gap.Missing+s.Gap.Missing, MostMissing), s.Gap.Filled
	}
	s.Gap = gap
	m.Tell(core.Slipped{Feed: s.URL, Gap: gap})
}

// slipped is the gap before a document of so many entries, all of which are fresh. Where that was not overrun nothing
// is missing.
func slipped(times []int64, newest time.Time, fresh []archive.Record, listed int) archive.Gap {
	var oldest, latest time.Time
	since := 0
	for i := range fresh {
		t := fresh[i].Time()
		if !t.After(newest) {
			continue
		}
		if since++; since == 1 {
			oldest, latest = t, t
		}
		oldest, latest = when.Earlier(oldest, t), when.Later(latest, t)
	}
	if 2*since <= listed {
		return archive.Gap{}
	}
	gap := archive.Gap{After: newest, Before: oldest, Missing: Missing(oldest.Sub(newest), latest.Sub(oldest), since)}
	if listed == 1 {
		gap.Missing = skipped(times, newest, oldest)
	}
	return gap
}

// Missing is about how many entries came out in a gap: as many for its length as in the document that follows it,
// and one at least.
func Missing(gap, document time.Duration, listed int) int {
	if listed < 2 || document <= 0 {
		return 1
	}
	most := float64(listed-1) / float64(document) * float64(gap)
	return max(1, int(min(most, MostMissing))-1)
}

// skipped is about how many entries came out between two that followed one another in a document of one, which slips
// with each: as many as usual, from when the feed published before. Where too little is known of that it is none.
func skipped(times []int64, before, after time.Time) int {
	known := 0
	for known < len(times) && times[known] <= before.Unix() {
		known++
	}
	if known < 2 || times[known-1] == times[0] {
		return 0
	}
	usual := float64(times[known-1]-times[0]) / float64(known-1)
	return max(0, int(min(math.Round(after.Sub(before).Seconds()/usual), MostMissing))-1)
}

// narrow counts entries that arrived against the open gap of their feed, which ends when there are as many as were
// missing.
func (m *Machine) narrow(s *Subscription, arrived []archive.Record) {
	filled := 0
	for i := range arrived {
		if t := arrived[i].Time(); t.After(s.Gap.After) && t.Before(s.Gap.Before) {
			filled++
		}
	}
	if filled == 0 {
		return
	}
	s.Gap.Filled += filled
	if !s.Gap.Open() {
		m.Tell(core.Filled{Feed: s.URL, Gap: s.Gap})
		s.Gap = archive.Gap{}
	}
	m.Store.KeepFeed(s.Feed)
}
