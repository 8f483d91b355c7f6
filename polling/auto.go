package polling

import (
	"math"
	"time"
)

// DefaultTargetDelay is the target of Auto.
const DefaultTargetDelay = time.Hour

// How many times more rarely Auto polls with n nodes that share what they find than alone is n to the power of shared,
// and MostStretch at most.
const (
	MostStretch = 4
	shared      = .63
	// withinDay is the longest interval that others stretch to: turns that last a tenth longer still come within a day.
	withinDay = 21 * time.Hour
	// believed is how many others are taken to poll by their word, for each of whom own polls show that it does.
	believed = 4
)

// Auto polls a feed when, by its rates so far, the entries to be expected since the last poll have waited for
// TargetDelay in all, each since it was published; or, if that is sooner, when they are half of what the
// document lists, lest some leave it unread. The zero value polls by the default, within the range of
// Urbansky.
//
// Where n nodes poll the feed in turn and share what they find, each polls so much more rarely than alone that all of
// them together ask not much more often than one, and entries wait for less: among eight, 2.2 times as often for 1/2.2
// of the delay (Paper §3.3, where entries that came from neighbors are not new to a poll, and lead to longer
// intervals). How many they are they say themselves. They are believed as far as own polls bear it out: where neighbors
// bring a share of 1-1/n before own polls do, about n poll. The range stretches with it, up to MostStretch
// times and to a poll a day, as a neighbor that brings much may hold something back. Half of the document stays what it
// is: should the neighbors fall silent, nothing is lost.
//
// At a constant rate r that is every sqrt(2 * TargetDelay / r): of all ways to share out so many polls
// among feeds, the one in which entries wait the least. A feed that publishes four times as often is polled
// twice as often. Over all feeds, the mean delay of an entry is TargetDelay times the polls per entry. Rates
// that differ by the hour and the day move polls to when there is something to expect.
type Auto struct {
	// Range is the shortest and the longest interval, alone. It goes before the target. Half of the document goes
	// before Min, down to the 2 minutes of Urbansky.
	Range
	// TargetDelay is for how long the entries that a poll finds have waited, on average and added up.
	// Default DefaultTargetDelay, range 1 s to 30 days.
	TargetDelay time.Duration
}

// heuristic is the share of the time that a document was unchanged for which it may be taken to stay so, as
// 1/heuristic (RFC 9111 §4.2.2).
const heuristic = 10

// Interval is the time until the target is reached. A feed of which nothing is known is asked half as often
// each time, or as rarely as RFC 9111 lets a cache guess, if that is more rarely: within the range. As soon as there is
// anything to go by that guess is worth nothing, since Last-Modified may be years old in a feed of every hour.
func (a Auto) Interval(p Poll) time.Duration {
	times, now := p.History.Times, p.At.Unix()
	switch {
	case len(times) == 0 && p.Interval <= 0:
		return a.clamp(max(a.First(), p.Unchanged/heuristic))
	case len(times) == 0:
		return a.clamp(max(2*a.clamp(p.Interval), p.Unchanged/heuristic))
	}
	r := ratesOf(times, now)
	target := orDefault(a.TargetDelay, DefaultTargetDelay).Seconds()
	half := math.Inf(1)
	if p.History.Window > 0 {
		half = float64(p.History.Window) / 2
	}
	interval := func(stretch float64) time.Duration {
		most := stretched(a.Range.Longest(), stretch)
		waited, full := r.until(now, int64(most/time.Second), target*stretch*stretch, half)
		b := a.withDefaults()
		u := min(most, max(seconds(waited), stretched(b.Min, stretch)), seconds(full))
		return max(u, min(b.Min, urbanskyMin))
	}
	alone := interval(1)
	return max(alone, min(interval(stretchOf(p.Helped, p.Pollers)), withinDay))
}

// stretchOf is how many times more rarely to poll where neighbors bring that share, and by their word so many poll.
func stretchOf(helped float64, pollers int) float64 {
	own := 1 - max(helped, 0)
	if !(own > 0) { // nor a NaN
		own = 0
	}
	n := 1 / own
	if pollers > 0 {
		n = min(float64(pollers), 1+believed*(n-1))
	}
	return min(math.Pow(max(n, 1), shared), MostStretch)
}

// stretched is t, so many times longer.
func stretched(t time.Duration, times float64) time.Duration {
	return time.Duration(float64(t) * times)
}

// Longest is Max, or as often as polls are rarer with neighbors within a day.
func (a Auto) Longest() time.Duration {
	alone := a.Range.Longest()
	return max(alone, min(stretched(alone, MostStretch), withinDay))
}

// Validate reports the first setting that is out of range as an ErrSetting.
func (a Auto) Validate() error {
	if err := checkInterval("target delay", a.TargetDelay); err != nil {
		return err
	}
	return a.Range.Validate()
}
