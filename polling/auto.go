package polling

import (
	"math"
	"time"
)

// DefaultTargetDelay is the target of Auto.
const DefaultTargetDelay = time.Hour

// Auto polls a feed when, by its rates so far, the entries to be expected since the last poll have waited for
// TargetDelay in all, each since it was published; or, if that is sooner, when they are half of what the
// document lists, lest some leave it unread. The zero value polls by the default, within the bounds of
// Urbansky.
//
// At a constant rate r that is every sqrt(2 * TargetDelay / r): of all ways to share out so many polls
// among feeds, the one in which entries wait the least. A feed that publishes four times as often is polled
// twice as often. Over all feeds, the mean delay of an entry is TargetDelay times the polls per entry. Rates
// that differ by the hour and the day move polls to when there is something to expect.
type Auto struct {
	// Bounds are the shortest and the longest interval. They go before the target and the document.
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
	target := orDefault(a.TargetDelay, DefaultTargetDelay).Seconds()
	half := math.Inf(1)
	if p.History.Window > 0 {
		half = float64(p.History.Window) / 2
	}
	// From full hour to full hour, in each of which the rate is constant: n entries are expected by
	// then, and have waited for that many seconds.
	n, waited := 0.0, 0.0
	for t, end := now, now+int64(a.Longest()/time.Second); t < end; {
		rate, next := r.at(t), nextHour(t)
		// After x seconds more it is waited + n*x + rate*x*x/2, and n + rate*x.
		enough := (math.Sqrt(float64(n*n)+float64(2*rate*(target-waited))) - n) / rate
		x := min(enough, (half-n)/rate)
		if x <= float64(next-t) {
			return a.clamp(seconds(t - now + int64(x)))
		}
		x = float64(next - t)
		waited += float64(n*x) + float64(rate*x*x/2)
		n += float64(rate * x)
		t = next
	}
	return a.Longest()
}

// Validate reports the first setting that is out of range as an ErrSetting.
func (a Auto) Validate() error {
	if err := checkInterval("target delay", a.TargetDelay); err != nil {
		return err
	}
	return a.Bounds.Validate()
}
