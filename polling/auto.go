package polling

import (
	"math"
	"time"
)

// DefaultTargetDelay is the target of Auto.
const DefaultTargetDelay = time.Hour

// leastOwn is the least share of a feed's entries that Auto takes to be its own to find. It polls four times more
// rarely with neighbors than alone, at most, whatever they bring: who brings much may hold something back.
const leastOwn = 1.0 / 16

// Auto polls a feed when, by its rates so far, the entries to be expected since the last poll have waited for
// TargetDelay in all, each since it was published; or, if that is sooner, when they are half of what the
// document lists, lest some leave it unread. The zero value polls by the default, within the bounds of
// Urbansky. Of what is expected, the share that neighbors bring before own polls do has not waited, and does not
// count, but for the half of the document: the more they bring, the more rarely it polls (Paper §3.3, where the
// entries that came from neighbors are not new to a poll either).
//
// At a constant rate r that is every sqrt(2 * TargetDelay / r): of all ways to share out so many polls
// among feeds, the one in which entries wait the least. A feed that publishes four times as often is polled
// twice as often. Over all feeds, the mean delay of an entry is TargetDelay times the polls per entry. Rates
// that differ by the hour and the day move polls to when there is something to expect.
type Auto struct {
	// Bounds are the shortest and the longest interval. They go before the target. Half of the document goes
	// before Min, down to the 2 minutes of Urbansky.
	Bounds
	// TargetDelay is for how long the entries that a poll finds have waited, on average and added up.
	// Default DefaultTargetDelay, range 1 s to 30 days.
	TargetDelay time.Duration
}

// Interval is the time until the target is reached. A feed of which nothing is known is asked half as often
// each time.
func (a Auto) Interval(p Poll) time.Duration {
	times, now := p.History.Times, p.At.Unix()
	switch {
	case len(times) == 0 && p.Interval <= 0:
		return a.First()
	case len(times) == 0:
		return a.clamp(2 * a.clamp(p.Interval))
	}
	r := ratesOf(times, now)
	target := orDefault(a.TargetDelay, DefaultTargetDelay).Seconds() / min(max(1-p.Helped, leastOwn), 1)
	half := math.Inf(1)
	if p.History.Window > 0 {
		half = float64(p.History.Window) / 2
	}
	waited, full := r.until(now, int64(a.Longest()/time.Second), target, half)
	return max(min(a.clamp(seconds(waited)), seconds(full)), min(a.withDefaults().Min, urbanskyMin))
}

// Validate reports the first setting that is out of range as an ErrSetting.
func (a Auto) Validate() error {
	if err := checkInterval("target delay", a.TargetDelay); err != nil {
		return err
	}
	return a.Bounds.Validate()
}
