package experiment

import (
	"fmt"
	"time"

	"feedex/lab"
	"feedex/lab/trace"
)

// leastRate is how many entries a day a feed publishes at least. Paper §4.3: "we select 70 feeds [...] that
// publish at least 5 entries per day".
const leastRate = 5

// busiest are the feeds that publish at least leastRate, or so many of them at random.
func busiest(seed lab.Seed, s *trace.Set, most int) []trace.Feed {
	feeds := s.Busy(leastRate)
	if len(feeds) > most {
		seed.Stream("feeds").Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
		feeds = feeds[:most]
	}
	return feeds
}

// maxNodes is how many nodes fit into the memory of an ordinary machine, with a wide margin.
const maxNodes = 100_000

// tooShort says that the traces are, if they cover less than an experiment takes.
func tooShort(s *trace.Set, least time.Duration) error {
	if span := s.To.Sub(s.From); span < least {
		return fmt.Errorf("%w: the traces cover %s; want traces of %s or more", ErrSetting, spell(span), spell(least))
	}
	return nil
}

// errNoFeeds says that the traces are of no use to an experiment that wants feeds that publish.
var errNoFeeds = fmt.Errorf("%w: the traces have no feed of %d entries a day or more; want traces that have",
	ErrSetting, leastRate)

// possible says what is wrong with the settings that all experiments have, and what would be possible.
func possible(s *trace.Set, feeds []trace.Feed, nodes, each int, length, every time.Duration) error {
	span := s.To.Sub(s.From)
	switch {
	case nodes < 2 || nodes > maxNodes:
		return fmt.Errorf("%w: %d nodes; want 2 to %d", ErrSetting, nodes, maxNodes)
	case len(feeds) == 0:
		return errNoFeeds
	case each < 1 || each > len(feeds):
		return fmt.Errorf("%w: %d feeds a node; there are %d of %d entries a day or more, so want 1 to %d", ErrSetting,
			each, len(feeds), leastRate, len(feeds))
	case length < 10*time.Minute || length > span:
		return fmt.Errorf("%w: a run of %s; the traces cover %s, so want 10m to that", ErrSetting,
			spell(length), spell(span))
	case every < time.Minute || every > length:
		return fmt.Errorf("%w: polling every %s in a run of %s; want 1m to %s", ErrSetting, spell(every), spell(length),
			spell(length))
	}
	return nil
}

// weekday is when a run of that length begins: at midnight UTC of the Wednesday that is nearest the middle
// of the traces, or with their begin where none fits. Paper §4.3: "about 22 hours on a weekday".
func weekday(s *trace.Set, length time.Duration) time.Time {
	day := s.From.Add(s.To.Sub(s.From) / 2).Truncate(24 * time.Hour)
	for i := range 7 {
		// The day itself, the one after, the one before, and so on.
		d := day.AddDate(0, 0, (i+1)/2*(1-2*((i+1)%2)))
		if d.Weekday() == time.Wednesday && !d.Before(s.From) && !d.Add(length).After(s.To) {
			return d
		}
	}
	return s.From
}
