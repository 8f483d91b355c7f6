package report

import (
	"cmp"
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
	if len(x) < 2 {
		return 0
	}
	a, b := ranks(x), ranks(y)
	ma, mb := Mean(a), Mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// ranks are the places of values in order, from 1 on.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	list := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			list[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return list
}
