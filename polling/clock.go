package polling

import (
	"math"
	"time"
)

// A Clock measures the time of one feed: it runs the faster the likelier the feed is to publish, by the hour of the day
// and by the day of the week, in proportion to the square root of the rate. Intervals of Auto are about equally long by
// it, and so nodes that use Auto share out even turns by it. All who read the feed learn much the same clock; what came
// lately, of which one knows more than another, does not move it. A nil Clock runs as every clock does.
type Clock struct {
	pace [week / hour]float32 // by the hour of the week, as days begin in dayOf; about 1 on average
}

// Clock is the clock of a feed with that history; nil where there is none.
func (a Auto) Clock(h History, now time.Time) *Clock {
	if len(h.Times) == 0 {
		return nil
	}
	r, c := ratesOf(h.Times, now.Unix()), &Clock{}
	for i := range c.pace {
		c.pace[i] = float32(math.Sqrt(float64(r.day[i/24] * r.hour[i%24])))
	}
	return c
}

// at is how fast the clock runs at a time in Unix seconds.
func (c *Clock) at(t int64) float64 { return float64(c.pace[24*dayOf(t)+hourOf(t)]) }

// Passed is how much of the clock's time passes from one moment to another, in nanoseconds; below 0 if that is earlier.
func (c *Clock) Passed(from, to time.Time) float64 {
	switch {
	case c == nil:
		return float64(to.Sub(from))
	case to.Before(from):
		return -c.Passed(to, from)
	}
	passed := 0.0
	for from.Before(to) {
		next := time.Unix(nextHour(from.Unix()), 0)
		if next.After(to) {
			next = to
		}
		passed += float64(float64(next.Sub(from)) * c.at(from.Unix()))
		from = next
	}
	return passed
}

// After is the moment until which so much of the clock's time passes, in nanoseconds, but not later than last.
func (c *Clock) After(from time.Time, passed float64, last time.Time) time.Time {
	for c != nil && from.Before(last) {
		next, pace := time.Unix(nextHour(from.Unix()), 0), c.at(from.Unix())
		whole := float64(float64(next.Sub(from)) * pace)
		if passed <= whole {
			passed /= pace
			break
		}
		passed -= whole
		from = next
	}
	if passed < float64(last.Sub(from)) {
		return from.Add(time.Duration(passed))
	}
	return last
}
