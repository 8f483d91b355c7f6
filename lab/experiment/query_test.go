package experiment

import (
	"errors"
	"testing"
	"time"
)

// Queries find what many hold, keep to their budget and end in time, also among nodes that flood.
func TestQueries(t *testing.T) {
	t.Parallel()
	c := Queries{Seed: 1, Traces: embedded(t), Sizes: []int{30}, Each: 8, Settle: 20 * time.Minute, Trials: 1,
		Flooders: .1}
	report := ran(t, c.Run)
	again := ran(t, c.Run)
	if report.Hash == "" || report.Hash != again.Hash {
		t.Errorf("one seed gave the hashes %s and %s", report.Hash, again.Hash)
	}
	networks := report.Result.([]QueriedNetwork)
	if len(report.Tables) != 3 || len(networks) != 1 || len(networks[0].Kinds) != 11 {
		t.Fatalf("%d tables of %+v", len(report.Tables), networks)
	}
	n := networks[0]
	for _, row := range n.Kinds {
		if row.Recall[0] < .8 || row.Delay.P95 > 4 {
			t.Errorf("%v: found %.2f of what nearly all hold, within %.1f s", row.QueryKind, row.Recall[0],
				row.Delay.P95)
		}
		if row.Messages.P95 > float64(row.Budget) || !row.Flooded && row.Messages.Mean < 2 {
			t.Errorf("%v: %.0f messages on a budget of %d", row.QueryKind, row.Messages.P95, row.Budget)
		}
	}
	if flooded := n.Kinds[len(n.Kinds)-1]; !flooded.Flooded || n.Flooders != 3 {
		t.Errorf("%d flooders, and in the end %v", n.Flooders, flooded.QueryKind)
	}
	// Each of three flooders asks its neighbors sixty times a minute; ten of these are answered.
	if n.Load < 1 || n.Load > 3*10*10*256/27 {
		t.Errorf("%d flooders had each honest node make %.0f calls a minute", n.Flooders, n.Load)
	}
	// In a network of thirty everybody is near.
	if near := n.Near; near.Neighbors < 5 || near.Alike < 2 || near.Within[0] < .25 || near.Within[2] < .9 ||
		near.Nodes[4] != 29 {
		t.Errorf("the other subscribers are not near: %+v", near)
	}
	for i := range nearHops {
		if i > 0 && n.Near.Within[i] < n.Near.Within[i-1] {
			t.Errorf("within %d hops are fewer than within %d: %+v", nearHops[i], nearHops[i-1], n.Near)
		}
	}
	isGolden(t, "query.golden", report)
	c.Sizes = []int{1}
	if _, err := c.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("a network of one node: %v", err)
	}
}
