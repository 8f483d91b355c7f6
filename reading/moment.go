package reading

import "time"

// The lowest numbers that are taken for milliseconds and for microseconds since 1970 instead of for seconds. Seconds
// are so many in the year 5138; the others were in 1973.
const (
	leastMillis = 100_000_000_000
	leastMicros = 100_000_000_000_000
)

// Moment is the time that programs write as a number since 1970, in seconds, milliseconds or microseconds as each of
// them likes; the zero time for a number that is not above 0.
func Moment(n int64) time.Time {
	switch {
	case n <= 0:
		return time.Time{}
	case n >= leastMicros:
		return time.UnixMicro(n)
	case n >= leastMillis:
		return time.UnixMilli(n)
	default:
		return time.Unix(n, 0)
	}
}
