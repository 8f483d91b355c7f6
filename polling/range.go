package polling

import (
	"fmt"
	"time"
)

// Limits of the intervals in Urbansky §3, "to prevent constant polling and not polling at all".
const (
	urbanskyMin = 2 * time.Minute
	urbanskyMax = 31 * 24 * time.Hour
)

// unlearned is the interval of a feed whose own cannot be calculated (Urbansky §3.2).
const unlearned = time.Hour

// Range limit the intervals of FixLearned, PostRate and MovingAverage.
type Range struct {
	// Min and Max are the shortest and the longest interval. Defaults 2 minutes and 31 days, or the
	// other bound if that crosses them; range 1 s to 30 days, Min at most Max.
	Min, Max time.Duration
}

// First is an hour, within the range: the interval of a feed that nothing can be learned of.
func (b Range) First() time.Duration { return b.clamp(unlearned) }

// Longest is Max.
func (b Range) Longest() time.Duration { return b.withDefaults().Max }

// Validate reports the first bound that is out of range as an ErrSetting.
func (b Range) Validate() error {
	if err := checkInterval("shortest interval", b.Min); err != nil {
		return err
	}
	if err := checkInterval("longest interval", b.Max); err != nil {
		return err
	}
	if d := b.withDefaults(); b.Min > d.Max {
		return fmt.Errorf("%w: shortest interval is %v, longest is %v", ErrSetting, b.Min, d.Max)
	}
	return nil
}

func (b Range) withDefaults() Range {
	b.Max = orDefault(b.Max, max(urbanskyMax, b.Min))
	b.Min = min(orDefault(b.Min, urbanskyMin), b.Max)
	return b
}

// clamp brings an interval within the range.
func (b Range) clamp(t time.Duration) time.Duration {
	b = b.withDefaults()
	return min(max(t, b.Min), b.Max)
}

// keep is the interval that led to the poll, or First.
func (b Range) keep(p Poll) time.Duration {
	if p.Interval <= 0 {
		return b.First()
	}
	return b.clamp(p.Interval)
}

// meanGap is the mean time between entries that follow one another (Urbansky Equation 1):
//
//	u = 1/(w-1) * sum of i_{n+1} - i_n, for n from 1 to w-1
//
// It is unknown for fewer than two.
func meanGap(times []int64) (u time.Duration, known bool) {
	w := len(times)
	if w < 2 {
		return 0, false
	}
	return seconds(times[w-1]-times[0]) / time.Duration(w-1), true
}

// seconds is a number of seconds, or the longest there is where that is longer.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(max(n, 0), most)) * time.Second
}
