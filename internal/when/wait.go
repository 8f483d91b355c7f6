package when

import "time"

// Due reports whether it is time for what was put off until at. What is put off for longer than longest, which is as
// long as that ever is, was so by a clock that was ahead, and is due: else it would wait until that time comes.
func Due(now, at time.Time, longest time.Duration) bool {
	wait := at.Sub(now)
	return wait <= 0 || wait > longest
}

// Doubled is a wait that doubles with each failure in a row: first, doubled so many times, most at most.
func Doubled(first, most time.Duration, times int) time.Duration {
	for range times {
		if first > most/2 {
			return most
		}
		first *= 2
	}
	return min(first, most)
}
