package experiment

import (
	"errors"
	"testing"
	"time"
)

// Queries find what many hold, keep to their budget and end in time, also among nodes that flood.
func TestQueries(t *testing.T) {
	t.Parallel()
	c := Queries{Seed: 1, Traces: embedded(t), Sizes: []int{30}, Each: 8, Settle: 20 * time.Minute, Trials: 1, Flooders: .1}
	report, err := c.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Hash == "" || report.Hash != again.Hash {
		t.Errorf("one seed gave the hashes %s and %s", report.Hash, again.Hash)
	}
	rows := report.Result.([]QueryRow)
	if len(report.Tables) != 2 || len(rows) != len(queryKinds())+1 {
		t.Fatalf("%d tables of %d rows", len(report.Tables), len(rows))
	}
	for _, row := range rows {
		if row.Recall[0] < .8 || row.Delay.P95 > 4 {
			t.Errorf("%d hops, %d messages, %d flooders: found %.2f of what nearly all hold, within %.1f s", row.Hops, row.Budget, row.Flooders, row.Recall[0], row.Delay.P95)
		}
		if row.Messages.P95 > float64(row.Budget) || row.Flooders == 0 && row.Messages.Mean < 2 {
			t.Errorf("%d hops: %.0f messages on a budget of %d", row.Hops, row.Messages.P95, row.Budget)
		}
	}
	flooded := rows[len(rows)-1]
	// Each of three flooders asks its neighbors sixty times a minute; ten of these are answered.
	if flooded.Flooders != 3 || flooded.Load < 1 || flooded.Load > 3*10*10*256/27 {
		t.Errorf("%d flooders had each honest node make %.0f calls a minute", flooded.Flooders, flooded.Load)
	}
	c.Sizes = []int{1}
	if _, err := c.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("a network of one node: %v", err)
	}
}
