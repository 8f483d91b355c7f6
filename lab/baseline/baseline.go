// Package baseline holds policies that nobody should poll by, for comparison with those of package
// polling: what well-known feed readers do, and the rule of Paper §3.3 to the letter. The readers' rules
// were read from their source in 2026; each says where.
//
// They are those of a reader that one person runs for itself. Wishes that a publisher states of its own accord (ttl,
// max-age, Retry-After) take part in several of them; traces say nothing of these, so they are left out, and so are
// errors, limits on hosts and the capacity of a reader that has more feeds than it polls at once.
package baseline

import (
	"math/rand/v2"
	"time"

	"feedex/polling"
)

const (
	hour = time.Hour
	day  = 24 * time.Hour
	week = 7 * day
)

// Literal is polling.FeedEx with the words of Paper §3.3 instead of their sense: the interval is halved
// where less of the document is new than the target wants, and doubled where more is. Its settings are
// the defaults of polling.FeedEx.
type Literal struct{}

// Interval follows the sentence "If f < f_t, then t becomes halved or set to T_min, whichever is the
// greater. Or if f > f_t, then t becomes doubled or set to T_max, whichever is the less."
func (l Literal) Interval(p polling.Poll) time.Duration {
	if p.Interval <= 0 {
		return l.First()
	}
	f := 0.0
	if p.Listed > 0 {
		f = float64(p.New) / float64(p.Listed)
	}
	switch {
	case f < polling.DefaultTarget:
		return max(p.Interval/2, polling.DefaultMin)
	case f > polling.DefaultTarget:
		return min(p.Interval*2, polling.DefaultMax)
	}
	return p.Interval
}

// First is the interval to start from.
func (Literal) First() time.Duration { return polling.DefaultStart }

// Longest is the longest interval.
func (Literal) Longest() time.Duration { return polling.DefaultMax }

// Miniflux asks every hour which feeds are due (internal/cli/scheduler.go). A feed is due after an hour, or
// with the scheduler entry_frequency after a time that goes by the entries of the last week
// (internal/model/feed.go, ScheduleNextCheck; internal/storage/feed.go, WeeklyFeedEntryCount).
type Miniflux struct {
	EntryFrequency bool // instead of round_robin, the default
}

// Interval is the time until the first hour at which the feed is due.
func (m Miniflux) Interval(p polling.Poll) time.Duration {
	if !m.EntryFrequency {
		return hour
	}
	entries := since(p, week)
	if len(entries) < 2 {
		return day
	}
	i := 5 * time.Minute
	if span := entries[len(entries)-1] - entries[0]; span > 0 {
		gaps := int64(len(entries) - 1)
		perWeek := (int64(week/time.Second)*gaps + span - 1) / span // a week by the mean gap, rounded up
		i = min(max(week/time.Duration(perWeek), 5*time.Minute), day)
	}
	return (i + hour - 1) / hour * hour
}

// First is an hour.
func (m Miniflux) First() time.Duration { return hour }

// Longest is an hour, or a day by entry frequency.
func (m Miniflux) Longest() time.Duration {
	if m.EntryFrequency {
		return day
	}
	return hour
}

// FreshRSS polls what was not polled for an hour (ttl_default) whenever its cron job runs
// (app/actualize_script.php; app/Controllers/FeedController.php): every 20 or 30 minutes, both of which
// make it an hour.
func FreshRSS() polling.Policy { return polling.Fixed{Every: hour} }

// Newsboat with auto-reload polls all feeds every hour, counted from its start (src/reloadthread.cpp).
func Newsboat() polling.Policy { return polling.Fixed{Every: hour} }

// NewsBlur goes by the stories of the last month (apps/rss_feeds/models.py,
// get_next_scheduled_update), here for a feed with one subscriber, who is active and pays.
type NewsBlur struct {
	Rand *rand.Rand // what spreads the polls
}

// Interval is 45 minutes from a story a day on, the longer the fewer below, at most 4 hours, and up to a
// quarter more by chance.
func (n NewsBlur) Interval(p polling.Poll) time.Duration {
	stories := len(since(p, 30*day))
	var i time.Duration
	switch {
	case stories >= 30:
		i = 45 * time.Minute
	case stories > 0:
		i = 6*hour - 6*hour*time.Duration(stories)/30
	default:
		i = 12 * hour * max(1, silence(p)/(30*day))
	}
	i = min(i, 4*hour)
	if i <= 5*time.Minute {
		return i + time.Duration(n.Rand.Int64N(int64(i)))
	}
	return i + time.Duration(n.Rand.Int64N(int64(i)/4))
}

// First is that of a feed with a story a day.
func (NewsBlur) First() time.Duration { return 45 * time.Minute }

// Longest is four hours and a quarter of that.
func (NewsBlur) Longest() time.Duration { return 5 * hour }

// CommaFeed waits half the mean gap between the entries, or some hours where none was published for a week
// (FeedRefreshIntervalCalculator).
type CommaFeed struct{}

// Interval is between 5 minutes and 4 hours.
func (CommaFeed) Interval(p polling.Poll) time.Duration {
	const longest = 4 * hour
	times := p.History.Times
	times = times[len(times)-min(p.History.Window, len(times)):]
	switch silent := silence(p); {
	case len(times) == 0 || silent >= 30*day:
		return longest
	case silent >= 2*week:
		return longest / 2
	case silent >= week || len(times) < 2:
		return longest / 4
	}
	gap := time.Duration(times[len(times)-1]-times[0]) * time.Second / time.Duration(len(times)-1)
	return min(max(gap/2, 5*time.Minute), longest/4)
}

// First is the longest interval of a feed that publishes every week.
func (CommaFeed) First() time.Duration { return hour }

// Longest is four hours.
func (CommaFeed) Longest() time.Duration { return 4 * hour }

// since are the times of entries that are known and no older than age.
func since(p polling.Poll, age time.Duration) []int64 {
	times := p.History.Times
	for i, t := range times {
		if t > p.At.Add(-age).Unix() {
			return times[i:]
		}
	}
	return nil
}

// silence is how long ago the last entry was published.
func silence(p polling.Poll) time.Duration {
	times := p.History.Times
	if len(times) == 0 {
		return 0
	}
	return time.Duration(p.At.Unix()-times[len(times)-1]) * time.Second
}
