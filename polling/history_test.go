package polling_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

func TestHistory(t *testing.T) {
	var h polling.History
	for _, tt := range []struct {
		name   string
		times  []int64
		listed int
		want   []int64
		window int
	}{
		{"the first document", []int64{30, 10, 20}, 3, []int64{10, 20, 30}, 3},
		{"the same again", []int64{30, 10, 20}, 3, []int64{10, 20, 30}, 3},
		{"two new, two gone", []int64{50, 40, 30}, 3, []int64{10, 20, 30, 40, 50}, 3},
		{"several in one second", []int64{50, 50, 50}, 3, []int64{10, 20, 30, 40, 50, 50, 50}, 3},
		{"one of them is left", []int64{50, 60}, 2, []int64{10, 20, 30, 40, 50, 50, 50, 60}, 2},
		{"an old one is pinned", []int64{1, 60}, 2, []int64{1, 10, 20, 30, 40, 50, 50, 50, 60}, 2},
		{"one without a date", []int64{60}, 2, []int64{1, 10, 20, 30, 40, 50, 50, 50, 60}, 2},
		{"an empty document", nil, 0, []int64{1, 10, 20, 30, 40, 50, 50, 50, 60}, 0},
	} {
		if h.Read(tt.times, tt.listed); !slices.Equal(h.Times, tt.want) || h.Window != tt.window {
			t.Errorf("%s: %v, window %d, want %v, %d", tt.name, h.Times, h.Window, tt.want, tt.window)
		}
	}
}

// A History is in order, bounded, and the same however often a document is read.
func TestHistoryInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h polling.History
		documents := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 3000), 0, 700), 1, 5).Draw(t, "documents")
		for _, d := range documents {
			given := slices.Clone(d)
			h.Read(d, len(d))
			if !slices.Equal(d, given) {
				t.Fatal("it wrote to the document")
			}
			if !slices.IsSorted(h.Times) || len(h.Times) > polling.HistoryLength || h.Window > len(h.Times) {
				t.Fatalf("%d times, window %d, sorted %v", len(h.Times), h.Window, slices.IsSorted(h.Times))
			}
			once := slices.Clone(h.Times)
			if h.Read(d, len(d)); !slices.Equal(h.Times, once) {
				t.Fatal("read again, a document counts twice")
			}
		}
	})
}

// A History that somebody has stays as it is when the next document is read.
func TestHistoryIsNotWrittenTo(t *testing.T) {
	var h polling.History
	for i := range int64(3 * polling.HistoryLength) {
		before, were := h, slices.Clone(h.Times)
		times := []int64{10 * i}
		if i%3 == 0 {
			times = append(times, 10*i-15) // not all come after what is known
		}
		if h.Read(times, len(times)); !slices.Equal(before.Times, were) {
			t.Fatalf("document %d changed %v to %v", i, were, before.Times)
		}
	}
}

func TestBusiest(t *testing.T) {
	for _, c := range []struct {
		times []int64
		want  int
	}{
		{nil, 0},
		{[]int64{100}, 1},
		{[]int64{0, 59}, 2},
		{[]int64{0, 60}, 1},
		{[]int64{0, 50, 100, 110, 120, 300, 310}, 3},
		{[]int64{7, 7, 7, 200}, 3},
	} {
		if got := polling.Busiest(c.times, time.Minute); got != c.want {
			t.Errorf("of %v %d lie within a minute, want %d", c.times, got, c.want)
		}
	}
}
