package experiment

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"feedex/lab/report"
)

// Nodes that share what they poll each poll more rarely than one alone, as long as they do so by what the others bring;
// and all have every entry.
func TestSharedPolling(t *testing.T) {
	set := embedded(t)
	s := SharedPolling{Seed: 1, Traces: set, Feeds: 3, Length: 4 * 24 * time.Hour, Sizes: []int{1, 5}, Seeds: 2}
	result := ran(t, s.Run)
	rows := make(map[string][]SharedRow)
	for _, row := range result.Result.([]SharedRow) {
		rows[row.Policy] = append(rows[row.Policy], row)
		if len(row.Delay) != 2 || row.Nodes > 1 && row.Delay[0] == row.Delay[1] {
			t.Errorf("%s: %v are not the delays of two seeds", row.Policy, row.Delay)
		}
		for i := range row.Delay {
			if row.Coverage[i] < 0.99 && row.Policy != "FeedEx" || row.Least[i] > row.Most[i] ||
				row.Most[i]*float64(row.Nodes) < row.Requests[i] {
				t.Errorf("%+v", row)
			}
			if row.Nodes == 1 && row.Delay[i] != row.Own[i] {
				t.Errorf("%s alone: delay %v s, by own polls %v s", row.Policy, row.Delay[i], row.Own[i])
			}
		}
	}
	auto, fixed := rows["Auto"], rows["Fix 1h"]
	if len(auto) != 2 || len(fixed) != 2 {
		t.Fatalf("rows %+v", rows)
	}
	for i, got := range fixed[1].Requests {
		if got < 5*23.9 || got > 5*24.1 {
			t.Errorf("5 nodes that poll every hour make %v requests a feed and day", got)
		}
		if auto[1].Requests[i]/5 > auto[0].Requests[i]*0.7 || auto[1].Delay[i] > auto[0].Delay[i]*1.2 {
			t.Errorf("alone %+v, of five %+v", auto[0], auto[1])
		}
		fewer := auto[0].Requests[i] - auto[1].Requests[i]/5
		if counted := auto[1].Spared[i]; counted < .85*fewer || counted > 1.15*fewer {
			t.Errorf("each of five makes %v requests fewer than one alone, and counts %v", fewer, counted)
		}
	}
	for i := range auto[0].Delay {
		if len(auto[0].Alone) != 2 || auto[0].Alone[i] != auto[0].Delay[i] {
			t.Errorf("one alone, %+v, is not as late as one that asks as often", auto[0])
		}
		// Half of the requests make a node twice as late, or nearly.
		if len(auto[1].Alone) != 2 || auto[1].Alone[i] < 1.3*auto[0].Delay[i] {
			t.Errorf("one that asks as rarely as each of five, %+v, is no later than %+v", auto[1], auto[0])
		}
	}
	if got := report.Mean(auto[0].Spared) + report.Mean(fixed[1].Spared); got != 0 {
		t.Errorf("%v requests are spared where nobody is, or where all poll by the clock", got)
	}
	for _, figure := range result.Figures {
		if !slices.Equal(figure.Points, []string{"1", "5"}) || len(figure.Lines) != 3 ||
			len(figure.Lines[2].Values) != 2 {
			t.Errorf("%+v", figure)
		}
	}
	checkDrawings(t, result.All())

	for _, bad := range []SharedPolling{{Traces: set, Length: time.Hour}, {Traces: set, Length: 1000 * 24 * time.Hour},
		{Traces: set, Feeds: 1000}, {Traces: set, Feeds: -1}, {Traces: set, Seeds: -1},
		{Traces: set, Sizes: []int{1, -1}}} {
		if _, err := bad.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v, want an ErrSetting", bad, err)
		}
	}
}

// Between two targets delay and requests follow a power of one another; beyond the last nothing is known.
func TestAloneAtAsManyRequests(t *testing.T) {
	targets := []SharedRow{{Requests: []float64{16, 8}, Delay: []float64{10, 5}},
		{Requests: []float64{4, 2}, Delay: []float64{40, 80}}, {Requests: []float64{2, 1}, Delay: []float64{90, 90}}}
	for _, test := range []struct {
		requests, want []float64
	}{
		{[]float64{2 * 16, 2 * 8}, []float64{10, 5}},
		{[]float64{2 * 8, 2 * 4}, []float64{20, 20}},
		{[]float64{2 * 4, 2 * 1}, []float64{40, 90}},
		{[]float64{2 * 17, 2 * 8}, nil},
		{[]float64{2 * 8, 2 * .9}, nil},
	} {
		got := aloneAt(targets, &SharedRow{Nodes: 2, Requests: test.requests})
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("at %v requests of two: %v, want %v", test.requests, got, test.want)
		}
	}
}
