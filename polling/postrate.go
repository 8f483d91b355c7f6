package polling

import "time"

// PostRate polls a feed when, by the minutes of the day at which it published so far, the next entry is
// to be expected (Urbansky §3.4). The zero value polls within the range of Urbansky.
type PostRate struct{ Range }

// minutes of a day, each with a rate of its own.
const minutes = 24 * 60

// Interval is the shortest time in which the rates of the minutes to come add up to one entry (Equation 3).
// The rate of a minute of the day is how many entries were published in it, by the days since the oldest
// of them, which are at least one. Those are UTC: a daylight-saving shift is learned like any other.
func (r PostRate) Interval(p Poll) time.Duration {
	times, now := p.History.Times, p.At.Unix()
	if len(times) == 0 {
		return r.keep(p)
	}
	var published [minutes]int
	for _, t := range times {
		published[minuteOf(t)]++
	}
	// The sum of rates reaches one when as many entries are counted as there were days.
	const day = minutes * 60
	wanted := int((max(now-times[0], day) + day - 1) / day)
	days := (wanted - 1) / len(times) // pass as a whole: in each day all are counted once
	wanted -= days * len(times)
	u := seconds(int64(days) * day)
	for m := minuteOf(now) + 1; wanted > 0; m++ {
		wanted -= published[m%minutes]
		u += time.Minute
	}
	return r.clamp(u)
}

// minuteOf is the minute of the day at t, in Unix seconds.
func minuteOf(t int64) int64 { return (t/60%minutes + minutes) % minutes }
