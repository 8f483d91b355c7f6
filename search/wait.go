package search

import "time"

// MinWait is the least time that a neighbor is given to answer.
const MinWait = 200 * time.Millisecond

// ChildWait is how long a neighbor at that round trip may take, of what is left to the one that asks it: six
// tenths, less the way there and back, so that the asker's patience is never overrun however far the query
// goes. It reports false where that is too little to ask at all.
func ChildWait(left, rtt time.Duration) (wait time.Duration, ok bool) {
	left -= rtt
	if left < MinWait {
		return 0, false
	}
	return max(left/10*6, MinWait), true
}
