package daemon

import "time"

// longestNap is the longest that the loop sleeps. Timers stand still while the machine does: without a look at the
// clock now and then, a feed due at noon would be polled a night late by a laptop that was closed overnight.
const longestNap = time.Minute

// A clock is the time of the wall that never runs back: it jumps ahead with the wall, when the machine slept or
// its clock was set, and where the wall is set back it goes on from where it was. The zero value is ready.
type clock struct {
	read time.Time // last reading, which knows how much time passed since
	told time.Time // what was said then
}

// now is the time, given a reading of the system's clock.
func (c *clock) now(reading time.Time) time.Time {
	told := reading.Round(0) // the wall's
	if !c.told.IsZero() {
		if went := c.told.Add(reading.Sub(c.read)); went.After(told) {
			told = went
		}
	}
	c.read, c.told = reading, told
	return told
}
