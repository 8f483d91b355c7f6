package neighbors

import (
	"time"

	"feedex/feed"
)

const (
	// enoughEntries is below how many entries within the week nothing is said.
	enoughEntries = 50
	// tolerated is the share of entries first seen by own polls, in hundredths, that alarms nobody.
	tolerated = 20
	// surprise is by how many standard deviations the share must be above what is expected: p < 0.01.
	surprise = 2.33
	// certain is the chance of what is certain. Chances are whole numbers, for decisions must come out the
	// same everywhere.
	certain = 1 << 16
)

// A Suppression counts, over a week, whether own polls or the neighbors that offer the feed brought entries of our own
// feeds first. Neighbors that are all hostile swallow what they should bring; then own polls bring nearly everything.
// The zero Suppression has counted nothing.
//
// Of k neighbors that fetch a feed, or have it from one that does, and poll as often as we do at times of their own,
// none is before us with a chance of 1/(k+1). These times may stay as they are for all the week, so the entries of one
// feed are not independent of each other: our polls have the same advantage over the others' again and again.
type Suppression struct {
	feeds map[feed.URL]*suppressedWeek
}

// suppressed holds the counts of one feed.
type suppressed struct {
	entries, polled    int64
	expected, variance int64 // of polled, were nobody hostile; in units of certain
}

// suppressedWeek holds the counts of one feed on each of seven days.
type suppressedWeek struct {
	days [7]suppressed
	last int64 // the latest day, since 1970
}

// Polled counts entries of a feed that an own poll brought first, though so many neighbors offer it.
func (s *Suppression) Polled(now time.Time, u feed.URL, entries, offering int) {
	if d := s.count(now, u, entries, offering); d != nil {
		d.polled += int64(entries)
	}
}

// Delivered counts entries of a feed that a neighbor brought first, where so many offer it.
func (s *Suppression) Delivered(now time.Time, u feed.URL, entries, offering int) {
	s.count(now, u, entries, offering)
}

// count counts entries that came together, and so were first seen together: chance decides once for all.
func (s *Suppression) count(now time.Time, u feed.URL, entries, offering int) *suppressed {
	if entries <= 0 || offering <= 0 {
		return nil
	}
	w := s.feeds[u]
	if w == nil {
		if s.feeds == nil {
			s.feeds = make(map[feed.URL]*suppressedWeek)
		}
		w = &suppressedWeek{}
		s.feeds[u] = w
	}
	w.rollOver(now)
	d := &w.days[w.last%int64(len(w.days))]
	count, ways := int64(entries), int64(offering)+1
	d.entries += count
	d.expected += count * certain / ways
	d.variance += count * count * certain / ways * (ways - 1) / ways
	return d
}

// Week is how many entries of the last seven days own polls brought first, of how many, and how many of them
// were to be expected.
func (s *Suppression) Week(now time.Time) (polled, entries, expected int64) {
	w := s.week(now)
	return w.polled, w.entries, w.expected / certain
}

// Alarming reports whether own polls bring so much that neighbors must be keeping entries from us.
func (s *Suppression) Alarming(now time.Time) bool {
	w := s.week(now)
	more := float64(w.polled*certain - w.expected)
	return w.entries >= enoughEntries && 100*w.polled > tolerated*w.entries &&
		more > 0 && more*more > surprise*surprise*certain*float64(w.variance)
}

// week adds up all feeds, and forgets those of which nothing came within the week.
func (s *Suppression) week(now time.Time) (sum suppressed) {
	for u, w := range s.feeds {
		f := w.sum(now)
		if f.entries == 0 {
			delete(s.feeds, u)
			continue
		}
		sum.entries += f.entries
		sum.polled += f.polled
		sum.expected += f.expected
		sum.variance += f.variance + f.advantage()
	}
	return sum
}

// advantage is the variance of how many of a feed's entries are first seen by us that comes from the times at
// which we and the others poll: of k+1 times in a circle, the part between ours and the one before it has the
// mean p = 1/(k+1) and the variance p²·(1-p)/(1+p).
func (f suppressed) advantage() int64 {
	p := f.expected / f.entries
	e := f.expected >> 8
	return e * e / (certain + p) * (certain - p)
}

func (w *suppressedWeek) sum(now time.Time) (sum suppressed) {
	w.rollOver(now)
	for _, d := range w.days {
		sum.entries += d.entries
		sum.polled += d.polled
		sum.expected += d.expected
		sum.variance += d.variance
	}
	return sum
}

// rollOver empties the days that are over.
func (w *suppressedWeek) rollOver(now time.Time) {
	w.last = rollOver(w.days[:], w.last, now.Unix()/86400)
}
