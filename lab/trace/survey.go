package trace

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Survey makes feeds up that change as often as those that the authors of Corona surveyed (Ramasubramanian
// and others, "Corona", §5): "the update interval of micronews content is widely distributed: about 10% of
// channels changed within an hour, while 50% of channels did not change at all during the five days of
// polling", for which §5.1 takes an interval of one week. Between these, which is all that the text says,
// the logarithm of the interval is evenly distributed, from 10 minutes, the finest that they polled at.
type Survey struct {
	Feeds  int           // default 1,000
	From   time.Time     // default 2026-07-06 UTC, a Monday
	Length time.Duration // default a week
	Window int           // entries in a document; default 10
}

const (
	shortest = 10 * 60   // seconds
	quick    = 3600      // a tenth of all intervals are shorter
	slow     = 5 * 86400 // half of them are shorter
	slowest  = 7 * 86400 // what all others are
)

func (c Survey) withDefaults() Survey {
	c.Feeds, c.Length, c.Window = cmp.Or(c.Feeds, 1000), cmp.Or(c.Length, 7*24*time.Hour), cmp.Or(c.Window, 10)
	if c.From.IsZero() {
		c.From = time.Date(2026, 7, 6, 0, 0, 0, 0, time.UTC)
	}
	return c
}

// Surveyed makes the feeds of a survey. Each publishes an entry once an interval, beginning anywhere in it,
// and its first document is full. Which feed is popular has nothing to do with its interval. The same seed
// gives the same set, to the second, on every platform.
func Surveyed(seed uint64, c Survey) *Set {
	c = c.withDefaults()
	s := &Set{From: c.From.UTC(), To: c.From.UTC().Add(c.Length)}
	width := len(fmt.Sprint(c.Feeds))
	for i := 1; i <= c.Feeds; i++ {
		// More feeds leave a feed as it is.
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		every := surveyedInterval(r.Float64())
		f := Feed{Name: fmt.Sprintf("surveyed-%0*d", width, i), Kind: "surveyed", Window: c.Window}
		at := s.From.Unix() + r.Int64N(every) - int64(c.Window)*every
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
