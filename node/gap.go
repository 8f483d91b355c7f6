package node

import (
	"math"
	"time"

	"feedex/archive"
)

const (
	// shortestAfterGap is the shortest interval that a slipped window leads to.
	shortestAfterGap = 2 * time.Minute
	// mostMissing bounds a guess at how many entries are missing.
	mostMissing = 100_000
)

// newestKnown is when the newest entry was published that polls of the feed have shown, or else when it was polled
// last.
func (n *Node) newestKnown(s *subscription, lastPoll time.Time) time.Time {
	if times := s.history.Times; len(times) > 0 {
		return time.Unix(times[len(times)-1], 0).UTC()
	}
	return lastPoll
}

// watchWindow notes a gap where the document slipped: none of what it lists was known, and most of it came out
// after the newest entry that was; a few may bear the date of a draft. A document whose entries are older was not
// overrun, but has other ids now; one of a single entry holds none that was known whenever there is a new one.
func (n *Node) watchWindow(s *subscription, newest time.Time, fresh []archive.Record, listed int) {
	before := s.Listed
	if listed > 0 {
		s.Listed = listed
	}
	if before == 0 || listed == 0 || len(fresh) < listed {
		n.fill(s, fresh)
		return
	}
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
		oldest, latest = earlier(oldest, t), later(latest, t)
	}
	if 2*since <= listed {
		n.fill(s, fresh)
		return
	}
	gap := archive.Gap{After: newest, Before: oldest, Missing: missing(oldest.Sub(newest), latest.Sub(oldest), since)}
	if listed == 1 {
		if gap.Missing = skipped(s.history.Times, newest, oldest); gap.Missing == 0 {
			n.fill(s, fresh)
			return
		}
	}
	s.slipped = true
	if s.Gap.Open() { // now it reaches from the one into the other
		gap.After, gap.Missing, gap.Filled = s.Gap.After, min(gap.Missing+s.Gap.Missing, mostMissing), s.Gap.Filled
	}
	s.Gap = gap
	n.tell(Slipped{Feed: s.URL, Gap: gap})
}

// missing is about how many entries came out in a gap: as many for its length as in the document that follows it,
// and one at least.
func missing(gap, document time.Duration, listed int) int {
	if listed < 2 || document <= 0 {
		return 1
	}
	most := float64(listed-1) / float64(document) * float64(gap)
	return max(1, int(min(most, mostMissing))-1)
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
	return max(0, int(min(math.Round(after.Sub(before).Seconds()/usual), mostMissing))-1)
}

// fill counts entries that arrived against the gap of their feed, which ends when there are as many as were
// missing. Whatever brings them may call it.
func (n *Node) fill(s *subscription, arrived []archive.Record) {
	if !s.Gap.Open() {
		return
	}
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
		n.tell(Filled{Feed: s.URL, Gap: s.Gap})
		s.Gap = archive.Gap{}
	}
	n.store.KeepFeed(s.Feed)
}

// gapStatus describes a gap, nil for none.
func gapStatus(g *archive.Gap) *GapStatus {
	if !g.Open() {
		return nil
	}
	return &GapStatus{After: g.After, Before: g.Before, Missing: g.Missing, Filled: g.Filled}
}
