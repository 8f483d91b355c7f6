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

// Miniflux asks every hour which feeds are due (internal/cli/scheduler.go; internal/storage/batch.go: next_check_at <
// now()). A feed is due an hour after it was asked for last, or with the scheduler entry_frequency after a time that
// goes by the entries of the last week (internal/model/feed.go, ScheduleNextCheck; internal/storage/feed.go,
// WeeklyFeedEntryCount; internal/reader/handler/handler.go, RefreshFeed).
//
// That time begins a moment after the tick that had the feed polled, when a worker takes it up. So a whole hour after
// that tick it is not over, and a feed that is due every hour is polled at every other tick.
type Miniflux struct {
	EntryFrequency bool // instead of round_robin, the default
}

// Interval is the time until the first tick after the feed has fallen due.
func (m Miniflux) Interval(p polling.Poll) time.Duration {
	due := hour
	if m.EntryFrequency {
		due = weekly(p)
	}
	return due.Truncate(hour) + hour
}

// weekly is when Miniflux has a feed fall due by the entries of the last week: between five minutes and a day. They are
// counted before what the poll brings is stored. Of one entry, or of several that all have one date, it knows no
// frequency, and waits the day.
func weekly(p polling.Poll) time.Duration {
	p.History.Times = p.History.Times[:max(0, len(p.History.Times)-p.New)]
	entries := since(p, week)
	if len(entries) < 2 || entries[len(entries)-1] == entries[0] {
		return day
	}
	span, gaps := entries[len(entries)-1]-entries[0], int64(len(entries)-1)
	perWeek := (int64(week/time.Second)*gaps + span - 1) / span // a week by the mean gap, rounded up
	return min(max(week/time.Duration(perWeek), 5*time.Minute), day)
}

// First is an hour: a feed that was just added is due at the next tick.
func (m Miniflux) First() time.Duration { return hour }

// Longest is two hours, or the tick after a day by entry frequency.
func (m Miniflux) Longest() time.Duration {
	if m.EntryFrequency {
		return day + hour
	}
	return 2 * hour
}

// FreshRSS polls, whenever its cron job runs, what was polled more than an hour ago (ttl_default;
// app/Controllers/feedController.php, actualizeFeeds: time() <= lastUpdate + ttl is too early). The job runs twice an
// hour (Docker/README.md, CRON_MIN), and a feed was polled some seconds into it. So an hour later it is too early, and
// it is polled by every third run.
func FreshRSS() polling.Policy { return polling.Fixed{Every: 90 * time.Minute} }

// NetNewsWire refreshes all feeds two hours after it did last (Mac/AppDefaults.swift, every2Hours;
// Shared/Timer/AccountRefreshTimer.swift) for as long as it runs. None is skipped then for having been asked too
// lately, which is nine minutes (LocalAccountRefresher.swift).
func NetNewsWire() polling.Policy { return polling.Fixed{Every: 2 * hour} }

// TinyTinyRSS looks every 121 seconds (update_daemon2.php: when more than DAEMON_SLEEP_INTERVAL, 120, have passed) for
// feeds that were polled more than half an hour ago (classes/RSSUtils.php, update_daemon_common;
// DEFAULT_UPDATE_INTERVAL): the fifteenth time finds them. Each half day it asks without a condition, which no policy
// can say; so its bytes are more than are counted.
func TinyTinyRSS() polling.Policy { return polling.Fixed{Every: 15 * 121 * time.Second} }

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
