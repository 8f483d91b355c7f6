package report

import "slices"

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
