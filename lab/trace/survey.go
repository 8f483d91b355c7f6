package trace

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	shortest = 10 * 60   // seconds
	quick    = 3600      // a tenth of all intervals are shorter
	slow     = 5 * 86400 // half of them are shorter
	slowest  = 7 * 86400 // what all others are
)

// surveyedWindow is how many entries a document holds.
const surveyedWindow = 10

// Surveyed makes so many feeds up, over that time from a Monday on, which change as often as those that the authors of
// Corona surveyed (Ramasubramanian and others, "Corona", §5): "the update interval of micronews content is widely
// distributed: about 10% of channels changed within an hour, while 50% of channels did not change at all during the
// five days of polling", for which §5.1 takes an interval of one week. Between these, which is all that the text says,
// the logarithm of the interval is evenly distributed, from 10 minutes, the finest that they polled at.
//
// Each publishes an entry once an interval, beginning anywhere in it, and its first document is full. Which feed is
// popular has nothing to do with its interval. The same seed gives the same set, to the second, on every platform.
func Surveyed(seed uint64, feeds int, length time.Duration) *Set {
	from := time.Date(2026, 7, 6, 0, 0, 0, 0, time.UTC)
	s := &Set{From: from, To: from.Add(length)}
	width := len(fmt.Sprint(feeds))
	for i := 1; i <= feeds; i++ {
		// More feeds leave a feed as it is.
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		every := surveyedInterval(r.Float64())
		f := Timeline{Name: fmt.Sprintf("surveyed-%0*d", width, i), Kind: "surveyed", Window: surveyedWindow}
		at := s.From.Unix() + r.Int64N(every) - surveyedWindow*every
		for ; at < s.To.Unix(); at += every {
			f.Times = append(f.Times, at)
		}
		s.Feeds = append(s.Feeds, f)
	}
	return s
}

// surveyedInterval is the interval, in seconds, that such a share of all feeds is below.
func surveyedInterval(share float64) int64 {
	between := func(low, high, part float64) int64 { return int64(low * power(high/low, part)) }
	switch {
	case share < .1:
		return between(shortest, quick, share/.1)
	case share < .5:
		return between(quick, slow, (share-.1)/.4)
	}
	return slowest
}
