package polling

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// expected is how many entries the rates let expect from one time to another, minute by minute.
func (r *rates) expected(from, to int64) (n float64) {
	for t := from; t < to; {
		next := min(to, t+60-t%60)
		n += r.at(t) * float64(next-t)
		t = next
	}
	return n
}

// Auto never lets the entries to be expected until the next poll pass half of the document, whatever the range and
// the target; with help, as many times half of it as it polls more rarely, which is at most MostStretch; but for the
// two minutes that no feed is polled within.
func TestAutoNeverLetsTheWindowSlip(t *testing.T) {
	const now = 1783123200
	cut := 0
	rapid.Check(t, func(t *rapid.T) {
		var times []int64
		at := int64(now - rapid.IntRange(0, 100_000).Draw(t, "seconds since the last entry"))
		for range rapid.IntRange(1, 100).Draw(t, "entries") {
			times = append([]int64{at}, times...)
			at -= int64(rapid.IntRange(0, 20_000).Draw(t, "seconds before"))
		}
		p := Auto{
			Range: Range{
				Min: time.Duration(rapid.IntRange(1, 7200).Draw(t, "min")) * time.Second,
				Max: time.Duration(rapid.IntRange(7200, 100_000).Draw(t, "max")) * time.Second,
			},
			TargetDelay: time.Duration(rapid.IntRange(1, 100_000).Draw(t, "target")) * time.Second,
		}
		window := rapid.IntRange(1, len(times)).Draw(t, "window")
		helped := rapid.SampledFrom([]float64{0, 0, 0.5, 0.9, 1}).Draw(t, "helped")
		pollers := rapid.IntRange(0, 20).Draw(t, "pollers")
		u := p.Interval(Poll{
			At: time.Unix(now, 0), Interval: time.Hour, Helped: helped, Pollers: pollers,
			History: History{Times: times, Window: window},
		})
		if u > p.Longest() || u < min(p.Min, urbanskyMin) {
			t.Fatalf("polls after %v, want %v to %v", u, min(p.Min, urbanskyMin), p.Longest())
		}
		r := ratesOf(times, now)
		if u < p.Min {
			cut++
		}
		if n := r.expected(now, now+int64(u/time.Second)); u > urbanskyMin &&
			n > stretchOf(helped, pollers)*float64(window)/2+1e-6 {
			t.Fatalf("%.3f entries are to be expected until the next poll after %v, the document lists %d",
				n, u, window)
		}
	})
	if cut == 0 {
		t.Error("no case was one in which the document goes before the shortest interval")
	}
}
