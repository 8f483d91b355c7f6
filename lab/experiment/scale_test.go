package experiment

import (
	"errors"
	"testing"
	"time"
)

// In a network of four times the nodes and the feeds nobody pays more than in the small one, and gets as much, where
// what a node relays is bounded. Where it is not, everybody passes on what everybody follows.
func TestRelaysKeepGrowthCheap(t *testing.T) {
	t.Parallel()
	c := Scaling{
		Seed: 1, Traces: embedded(t), Sizes: []int{92, 368}, Series: SameSubscribers, Each: 5,
		Length: time.Hour, Every: 20 * time.Minute, NoEncoding: true,
	}
	rows := func(relayed int) []ScaleRow {
		c.Relayed = relayed
		r := ran(t, c.Run)
		return r.Result.([]ScaleRow)
	}
	few, all := rows(20), rows(10_000)
	if few[0].Hash != all[0].Hash { // 10 feeds in all
		t.Errorf("a small network differs: %+v, %+v", few[0], all[0])
	}
	if grown := few[1].Calls / few[0].Calls; grown > 1.25 {
		t.Errorf("a node of four times as many makes %.2f times the calls", grown)
	}
	entries := func(row ScaleRow) float64 { return row.Checks + row.Puts } // notices go by followers
	if grown := entries(all[1]) / entries(all[0]); grown < 1.4 {
		t.Errorf("unbounded it is %.2f times the calls with entries, want more, or there is nothing to see", grown)
	}
	if few[1].Cover < .99*all[1].Cover || few[1].Lag.Mean > 1.3*all[1].Lag.Mean {
		t.Errorf("%.3f of the entries come %.0f s late; unbounded %.3f and %.0f s", few[1].Cover, few[1].Lag.Mean,
			all[1].Cover, all[1].Lag.Mean)
	}
	if few[1].Heard > 5+20 {
		t.Errorf("a neighbor has %.1f feeds", few[1].Heard)
	}
	c.Relayed = 10_001
	if _, err := c.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("10,001 relayed feeds: %v", err)
	}
}
