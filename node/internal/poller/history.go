package poller

import (
	"cmp"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/polling"
	"feedex/trust"
)

// recall rebuilds a feed's history from the archive, after a restart. Undated entries count at when they came, as in
// dateEntries, but for those that came first: that was the first document, or what neighbors brought before it.
func (m *Machine) recall(s *Subscription) {
	if s.recalled {
		return
	}
	s.recalled = true
	if s.LastSuccess.IsZero() {
		return // nothing was published yet, as far as polls can tell
	}
	arrivals := m.Store.Arrivals(s.URL, polling.HistoryLength)
	if len(arrivals) == 0 {
		return
	}
	begin := slices.MinFunc(arrivals, func(a, b archive.Arrival) int { return cmp.Compare(a.Seen, b.Seen) }).Seen
	var times []int64
	for _, a := range arrivals {
		if a.Time != a.Seen || a.Seen > begin {
			times = append(times, min(a.Time, a.Seen))
		}
	}
	s.History.Read(times, s.Listed)
}

// dateEntries takes a document into the feed's history, by which policies judge how often it publishes. known
// is what the archive had of each record before.
//
// An entry counts at its date, but not later than it came, or it would be published anew at each poll until then. Where
// it has none and is new it counts at this poll. Where the first document lacks dates it says nothing. An entry that
// was edited stays where it was: some publishers date every entry anew with each document.
//
// One that the poll before, at since, did not show was not there yet, although its date may be of that day: many
// publishers name the day alone. It counts at this poll, or a feed would seem to publish all of it at midnight.
func (m *Machine) dateEntries(s *Subscription, items []listedEntry, known []archive.Version, since time.Time,
	partial bool) {
	var times []int64
	now := archive.Second(m.Now)
	for i := range items {
		fresh, t := known[i].New(), archive.TimeOf(items[i].entry, now)
		dated := !t.Equal(now)
		switch {
		case !fresh && known[i].Digest != items[i].Digest: // edited, or purged
		case dated && fresh && lateDay(t, since):
			times = append(times, m.Now.Unix())
		case dated && fresh:
			times = append(times, when.Earlier(t, m.Now).Unix())
		case dated && known[i].Seen.After(since): // a neighbor brought it
			times = append(times, when.Earlier(t, known[i].Seen).Unix())
		case fresh && s.Interval > 0:
			times = append(times, m.Now.Unix())
		}
	}
	listed := len(items)
	if partial {
		listed = max(listed, s.History.Window) // the rest is listed as before
	}
	s.History.Read(times, listed)
}

// lateDay reports whether a date is of the day before a time, at which what bears it was not there yet.
func lateDay(date, absent time.Time) bool {
	return date.Before(absent) && absent.Sub(date) < 24*time.Hour
}

// listedOn returns the entries that a feed lists after the new ones on it came alone, the oldest first: its newest push
// out as many of the oldest.
func listedOn(before, added []trust.Listed) []trust.Listed {
	again := make(map[feed.EntryID]bool, len(added))
	for _, e := range added {
		again[e.Entry] = true
	}
	var all []trust.Listed
	for _, e := range before {
		if !again[e.Entry] {
			all = append(all, e)
		}
	}
	all = append(all, added...)
	return all[len(all)-max(len(before), len(added)):]
}
