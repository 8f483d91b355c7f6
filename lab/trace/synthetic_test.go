package trace

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
)

// The figures of a synthetic set are those it was told to have, within what chance allows.
func TestSyntheticShape(t *testing.T) {
	s := Synthetic(1, Synthesis{Feeds: 200, Days: 70})
	if len(s.Feeds) != 200 || s.To.Sub(s.From) != 70*24*time.Hour {
		t.Fatalf("%d feeds, %v to %v", len(s.Feeds), s.From, s.To)
	}
	if s.From.Weekday() != time.Saturday {
		t.Errorf("it begins on a %v", s.From.Weekday())
	}
	top := float64(s.Feeds[0].Count(s.From, s.To)) / 70
	if math.Abs(top-168) > 8 {
		t.Errorf("the first feed publishes %.1f entries a day, want about 168", top)
	}
	var x, y []float64
	for i, f := range s.Feeds[:100] {
		x, y = append(x, math.Log(float64(i+1)+2.5)), append(y, math.Log(float64(f.Count(s.From, s.To))/70))
	}
	if got := slope(x, y); math.Abs(got+1.15) > 0.05 {
		t.Errorf("slope of the rank plot, shifted by 2.5, %.3f, want about -1.15", got)
	}
	if n := len(Synthetic(1, Synthesis{}).Busy(5)); n < 66 || n > 76 {
		t.Errorf("%d feeds publish 5 entries a day by default, the recorded set has 70", n)
	}
	var daily, weekend, weekday, within, gaps float64
	for _, f := range s.Feeds[:20] {
		var hours [24]float64
		last := int64(math.MinInt64 / 2)
		for _, at := range f.Times {
			hours[at/3600%24]++
			if d := time.Unix(at, 0).UTC().Weekday(); d == time.Saturday || d == time.Sunday {
				weekend++
			} else {
				weekday++
			}
			gaps++
			if at-last <= 60 {
				within++
			}
			last = at
		}
		most := 0.0
		for first := range 24 {
			sum := 0.0
			for h := range 8 {
				sum += hours[(first+h)%24]
			}
			most = max(most, sum)
		}
		daily += most / float64(len(f.Times)) / 20
	}
	if math.Abs(daily-0.56) > 0.03 {
		t.Errorf("share of the 8 busiest hours %.3f, want about 0.56", daily)
	}
	if got := weekend / 2 / (weekday / 5); math.Abs(got-0.6) > 0.05 {
		t.Errorf("a weekend day has %.3f of a weekday's entries, want about 0.6", got)
	}
	// A fifth follow in a burst, and busy feeds have two within a minute by chance as well.
	if got := within / gaps; got < 0.2 || got > 0.35 {
		t.Errorf("%.3f of the entries follow within a minute, want a little above 0.2", got)
	}
}

func slope(x, y []float64) float64 {
	var mx, my, sxy, sxx float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	for i := range x {
		sxy, sxx = sxy+(x[i]-mx)*(y[i]-my), sxx+(x[i]-mx)*(x[i]-mx)
	}
	return sxy / sxx
}

func TestSyntheticIsAFunctionOfTheSeed(t *testing.T) {
	c := Synthesis{Feeds: 30, Days: 7}
	a := Synthetic(7, c)
	if b := Synthetic(7, c); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave another set")
	}
	// The hash that every platform gives.
	if got, want := a.Hash(), "d5c4f26d699c524c"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if Synthetic(8, c).Hash() == a.Hash() {
		t.Error("another seed gave the same set")
	}
	more := Synthetic(7, Synthesis{Feeds: 40, Days: 7})
	for i, f := range a.Feeds {
		if !slices.Equal(f.Times, more.Feeds[i].Times) {
			t.Fatalf("more feeds change %s", f.Name)
		}
		if !slices.IsSorted(f.Times) || f.Count(time.Unix(0, 0), a.From) > f.Window ||
			f.Times[len(f.Times)-1] >= a.To.Unix() {
			t.Fatalf("%s: times out of order or outside the span", f.Name)
		}
	}
	if flat := Synthetic(1, Synthesis{Feeds: 3, Weekend: -1, Burst: -1, Windows: []int{7}}); flat.Feeds[2].Window != 7 {
		t.Errorf("window %d, want 7", flat.Feeds[2].Window)
	} else {
		for _, at := range flat.Feeds[0].Times {
			if d := time.Unix(at, 0).UTC().Weekday(); d == time.Saturday || d == time.Sunday {
				t.Fatal("an entry on a weekend without any")
			}
		}
	}
}

// The functions are as good as those of package math, which may differ by platform in the last bits.
func TestPortableFunctions(t *testing.T) {
	near := func(name string, x, got, want float64) {
		if math.Abs(got-want) > 1e-13*max(1, math.Abs(want)) {
			t.Errorf("%s %v is %v, want %v", name, x, got, want)
		}
	}
	for x := 1e-17; x < 1e6; x *= 1.37 {
		near("logarithm of", x, logarithm(x), math.Log(x))
		near("power -1.15 of", x, power(x, -1.15)/math.Pow(x, -1.15), 1)
	}
	for x := -40.0; x < 40; x += 0.37 {
		near("exponential of", x, exponential(x)/math.Exp(x), 1)
	}
}
