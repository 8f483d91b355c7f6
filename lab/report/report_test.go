package report

import (
	"slices"
	"testing"
)

func TestSpread(t *testing.T) {
	var values []float64
	for i := range 101 {
		values = append(values, float64((i*37)%101))
	}
	got := SpreadOf(values)
	if want := (Spread{Count: 101, Mean: 50, P5: 5, Median: 50, P95: 95}); got != want {
		t.Errorf("spread is %+v, want %+v", got, want)
	}
	if got := SpreadOf(nil); got != (Spread{}) {
		t.Errorf("nothing sums up to %+v", got)
	}
}

// An axis ends at round values, and no further out than it must.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{0, 100, []string{"0", "20", "40", "60", "80", "100"}},
		{0, 67, []string{"0", "10", "20", "30", "40", "50", "60", "70"}},
		{-.3, 4, []string{"-1", "0", "1", "2", "3", "4"}},
		{0, 0, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
	} {
		var got []string
		s := round("", c.low, c.high)
		for _, tick := range s.Ticks {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, c.want) || s.Min != s.Ticks[0].Value || s.Max != s.Ticks[len(got)-1].Value {
			t.Errorf("from %v to %v: %v, want %v; %v to %v", c.low, c.high, got, c.want, s.Min, s.Max)
		}
	}
}
