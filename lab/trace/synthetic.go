package trace

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Synthesis says what made-up feeds are like. The defaults are what the recorded set shows: the zero
// value gives as many feeds, of which as many publish 5 entries a day. Those that publish less than one a day are fewer
// than there, and hardly one is silent.
type Synthesis struct {
	Feeds int // default 373
	Days  int // from 2026-07-04 UTC on, a Saturday; default 35
	// Top is the entries a day of the most active feed. Default 168.
	Top float64
	// Slope is the exponent s of Zipf's law, and Shift is the q that Mandelbrot added for the flatter head that real
	// ranks have: the feed of rank k publishes Top * ((1+q)/(k+q))^s entries a day. Defaults 1.15 and 2.5; a negative
	// Shift is none.
	Slope, Shift float64
	// Daily is the share of its entries that a feed publishes in the 8 busiest hours of the day, 1/3 to
	// 1. They begin at an hour of its own, as publishers sit in many time zones. Default 0.56.
	Daily float64
	// Weekend is the share that a feed publishes on a day of the weekend, UTC, of its entries on a weekday. Default
	// 0.6; negative for none at all.
	Weekend float64
	// Burst is the share of entries that follow the one before within a minute, at most 0.99: commits
	// that are pushed together, for one. Default 0.2; negative for none.
	Burst float64
	// Windows are the sizes of documents, drawn with equal chances. Default 10, 10, 15, 20, 25, 30, 45, 50.
	Windows []int
}

func (c Synthesis) withDefaults() Synthesis {
	c.Feeds, c.Days = cmp.Or(c.Feeds, 373), cmp.Or(c.Days, 35)
	c.Top, c.Slope, c.Daily = cmp.Or(c.Top, 168), cmp.Or(c.Slope, 1.15), cmp.Or(c.Daily, 0.56)
	c.Shift = max(0, cmp.Or(c.Shift, 2.5))
	c.Weekend, c.Burst = max(0, cmp.Or(c.Weekend, 0.6)), min(max(0, cmp.Or(c.Burst, 0.2)), 0.99)
	if len(c.Windows) == 0 {
		c.Windows = []int{10, 10, 15, 20, 25, 30, 45, 50}
	}
	return c
}

// lead is how long before its span a synthetic feed begins to publish, so that its first document is as
// full as it would be.
const lead = 28 * day

// Synthetic makes feeds up, the most active first. The same seed gives the same set, to the second, on
// every platform.
func Synthetic(seed uint64, c Synthesis) *Set {
	c = c.withDefaults()
	from := time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)
	s := &Set{From: from, To: from.AddDate(0, 0, c.Days)}
	width := len(fmt.Sprint(c.Feeds))
	for rank := 1; rank <= c.Feeds; rank++ {
		// A feed's times depend on seed and rank alone: more feeds leave it as it is.
		r := rand.New(rand.NewPCG(seed, uint64(rank)))
		f := Timeline{Name: fmt.Sprintf("synthetic-%0*d", width, rank), Kind: "synthetic",
			Window: c.Windows[r.IntN(len(c.Windows))]}
		f.Times = c.times(r, c.Top*power((float64(rank)+c.Shift)/(1+c.Shift), -c.Slope),
			s.From.Unix()-lead, s.To.Unix())
		first, _ := slices.BinarySearch(f.Times, s.From.Unix())
		f.Times = slices.Clone(f.Times[max(0, first-f.Window):])
		s.Feeds = append(s.Feeds, f)
	}
	return s
}

// times are the times, in a span, of a feed that publishes rate entries a day on average: a Poisson
// process whose rate follows the hour and the weekday, each of its points the first of a burst.
func (c Synthesis) times(r *rand.Rand, rate float64, from, to int64) []int64 {
	busy := int64(r.IntN(24)) // the first of the 8 busiest hours
	// Rates relative to the average: of the hour in a day, of the day in a week.
	busyHour, quietHour := c.Daily*3, (1-c.Daily)*1.5
	weekday := 7 / (5 + float64(2*c.Weekend))
	weekend := weekday * c.Weekend
	peak := max(busyHour, quietHour) * max(weekday, weekend)
	gap := day / (rate * (1 - c.Burst) * peak) // mean seconds between points at the highest rate

	var times []int64
	for at := from; ; {
		at += int64(-gap * logarithm(1-r.Float64()))
		if at >= to {
			break
		}
		relative := weekday
		if d := time.Unix(at, 0).UTC().Weekday(); d == time.Saturday || d == time.Sunday {
			relative = weekend
		}
		if hour := at / 3600 % 24; (hour-busy+24)%24 < 8 {
			relative *= busyHour
		} else {
			relative *= quietHour
		}
		if r.Float64()*peak >= relative {
			continue
		}
		for t := at; t < to; t += int64(r.IntN(61)) {
			times = append(times, t)
			if r.Float64() >= c.Burst {
				break
			}
		}
	}
	slices.Sort(times) // bursts overlap
	return times
}
