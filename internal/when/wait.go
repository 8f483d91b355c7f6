package when

import "time"

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
