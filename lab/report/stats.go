package report

import (
	"math"
	"slices"
)

// A Spread sums up one figure of many nodes.
type Spread struct {
	Count  int     `json:"count"`
	Mean   float64 `json:"mean"`
	P5     float64 `json:"p5"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
}

// SpreadOf sums up values. Percentiles lie between two values in proportion.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	at := func(share float64) float64 {
		rank := share * float64(len(sorted)-1)
		low := int(rank)
		high := min(low+1, len(sorted)-1)
		return sorted[low] + float64((sorted[high]-sorted[low])*(rank-float64(low)))
	}
	return Spread{Count: len(sorted), Mean: Mean(sorted), P5: at(.05), Median: at(.5), P95: at(.95)}
}

// RangeOf sums up values with the least and the most in the place of percentiles: there are few of them.
func RangeOf(values []float64) Spread {
	s := SpreadOf(values)
	if s.Count > 0 {
		s.P5, s.P95 = slices.Min(values), slices.Max(values)
	}
	return s
}

// Mean is the mean of values, 0 of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// Fit is the line through points that makes the squares of its vertical distances least: its slope, its height at 0,
// and the share of the variance of y that it explains, R². Where all points have one x or one y, the line is level and
// explains nothing.
func Fit(x, y []float64) (slope, height, r2 float64) {
	mx, my := Mean(x), Mean(y)
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0, my, 0
	}
	return xy / xx, my - xy/xx*mx, xy * xy / xx / yy
}

// RankCorrelation is Spearman's coefficient of pairs of values: 1 where one always grows with the other, -1 where it
// always falls, 0 where there are fewer than two pairs or one of them never changes. Equal values share their ranks.
func RankCorrelation(x, y []float64) float64 {
	slope, _, r2 := Fit(Ranks(x), Ranks(y))
	return math.Copysign(math.Sqrt(r2), slope)
}

// Ranks are the places of values in ascending order, from 1 on.
func Ranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	list := make([]float64, len(values))
	for i, v := range values {
		from, _ := slices.BinarySearch(sorted, v)
		to, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		list[i] = float64(from+1+to) / 2
	}
	return list
}
