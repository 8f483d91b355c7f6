package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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

// The line, and how much of the variance it explains, are those worked out by hand.
func TestFit(t *testing.T) {
	if slope, height, r2 := Fit([]float64{1, 2, 3}, []float64{5, 7, 9}); slope != 2 || height != 3 || r2 != 1 {
		t.Errorf("three points of y = 2x + 3 are fitted by y = %vx + %v, R² %v", slope, height, r2)
	}
	if slope, height, r2 := Fit([]float64{0, 0, 1, 1}, []float64{0, 2, 1, 3}); slope != 1 || height != 1 || r2 != .2 {
		t.Errorf("y = %vx + %v, R² %v; want y = x + 1, R² 0.2", slope, height, r2)
	}
	if slope, height, r2 := Fit([]float64{4, 4}, []float64{1, 2}); slope != 0 || height != 1.5 || r2 != 0 {
		t.Errorf("points above one another are fitted by y = %vx + %v, R² %v", slope, height, r2)
	}
}

// Ranks alone count, and equal values share theirs.
func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{{[]float64{1, 2, 3}, []float64{1, 10, 11}, 1}, {[]float64{1, 2, 3}, []float64{9, 4, 0}, -1},
		{[]float64{1, 2, 2, 3}, []float64{1, 2, 3, 4}, math.Sqrt(.9)}, {[]float64{1, 2}, []float64{5, 5}, 0},
		{[]float64{1}, []float64{1}, 0}} {
		if got := RankCorrelation(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("the rank correlation of %v and %v is %v, want %v", c.x, c.y, got, c.want)
		}
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
		s := Even("", c.low, c.high)
		for _, tick := range s.Ticks {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, c.want) || s.Min != s.Ticks[0].Value || s.Max != s.Ticks[len(got)-1].Value {
			t.Errorf("from %v to %v: %v, want %v; %v to %v", c.low, c.high, got, c.want, s.Min, s.Max)
		}
	}
}

// A table that would be too wide has headings of several lines, and then parts about as wide as each other.
func TestTablesAreNarrow(t *testing.T) {
	wide := strings.Repeat("1", 20)
	for _, c := range []struct {
		name  string
		table Table
		want  string
	}{
		{"narrow", Table{Title: "Title", Columns: []string{"h", "the lag"}, Rows: [][]string{{".5", "1"}, {"16"}}}, `
Title
  h   the lag
  .5        1
  16
`},
		{"headings", Table{
			Columns: []string{"every so many h", "the lag, in minutes", wide, wide, wide, wide},
			Rows:    [][]string{{".5", "1.1", "2", "3", "4", "ä"}},
		}, `
  every so    the lag,
  many h    in minutes  11111111111111111111  11111111111111111111  11111111111111111111  11111111111111111111
  .5               1.1                     2                     3                     4                     ä
`},
		{"parts", Table{
			Columns: []string{"h", "a", "b", "c", "d", "e", "f"},
			Rows:    [][]string{{".5", wide, wide, wide, wide, wide, wide}, {"16", "-"}}, Notes: []string{"note"},
		}, `
  h                      a                     b                     c
  .5  11111111111111111111  11111111111111111111  11111111111111111111
  16                     -

  h                      d                     e                     f
  .5  11111111111111111111  11111111111111111111  11111111111111111111
  16
  note
`},
		{"texts", Table{
			Columns: []string{"attack", "done", "mark"}, Texts: true,
			Rows: [][]string{{"1 free riding", strings.Repeat("they take and never give ", 5), "none"}},
		}, `
  1 free riding
    done: they take and never give they take and never give they take and never give they take and never give they
      take and never give
    mark: none
`},
	} {
		got := "\n" + c.table.String()
		if got != c.want {
			t.Errorf("%s:%s\nwant%s", c.name, got, c.want)
		}
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(line) > Width+1 {
				t.Errorf("%s: a line of %d columns: %s", c.name, utf8.RuneCountInString(line), line)
			}
		}
	}
}
