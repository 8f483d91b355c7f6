package baseline

import (
	"time"

	"feedex/polling"
)

// Weighted is polling.MovingAverage by weights: of the gaps between the entries of the document the youngest counts
// most, and each other by one part less (Urbansky §6, "weighting of items"). It polls within the range of Urbansky.
type Weighted struct{}

// average is what Weighted does where there is no gap, and where its intervals begin and end.
var average polling.MovingAverage

// Interval is the weighted mean gap; where nothing is new, the time since the youngest entry takes the place of the
// oldest gap, as it does in Urbansky's Equation 2.
func (w Weighted) Interval(p polling.Poll) time.Duration {
	items := p.History.Times[len(p.History.Times)-min(p.History.Window, len(p.History.Times)):]
	if len(items) < 2 {
		return average.Interval(p)
	}
	if p.New == 0 {
		items = append(items[1:len(items):len(items)], p.At.Unix())
	}
	var sum, weights int64
	for i := 1; i < len(items); i++ {
		sum, weights = sum+int64(i)*(items[i]-items[i-1]), weights+int64(i)
	}
	return min(max(time.Duration(sum/weights)*time.Second, 2*time.Minute), w.Longest())
}

// First is that of Moving Average.
func (Weighted) First() time.Duration { return average.First() }

// Longest is that of Moving Average.
func (Weighted) Longest() time.Duration { return average.Longest() }

// Both asks two policies (Urbansky §6, "combinations of algorithms").
type Both struct {
	A, B polling.Policy
	Of   func(a, b time.Duration) time.Duration // makes an interval of theirs
}

// Interval is that of both.
func (b Both) Interval(p polling.Poll) time.Duration { return b.Of(b.A.Interval(p), b.B.Interval(p)) }

// First is that of both.
func (b Both) First() time.Duration { return b.Of(b.A.First(), b.B.First()) }

// Longest is that of both.
func (b Both) Longest() time.Duration { return b.Of(b.A.Longest(), b.B.Longest()) }
