package experiment

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"feedex/lab"
	"feedex/lab/report"
)

// Over several seeds an experiment comes to what it comes to with each of them, and says how far all are.
func TestOverSeeds(t *testing.T) {
	t.Parallel()
	c := Churn{Traces: embedded(t), Nodes: 10, Each: 5, Length: time.Hour, Every: 30 * time.Minute,
		Sessions: []time.Duration{30 * time.Minute}}
	of := func(seed lab.Seed) Run {
		c.Seed = seed
		return c.Run
	}
	done := 0.
	r, err := OverSeeds(3, 2, of)(t.Context(), func(share float64) {
		if share < done || share > 1 {
			t.Errorf("%v of it is done after %v", share, done)
		}
		done = share
	})
	if err != nil || done != 1 {
		t.Fatalf("%v of it is done, %v", done, err)
	}
	results := r.Result.([]report.OfSeed)
	if len(results) != 2 || r.Partial != "" || len(r.Tables) < 3 {
		t.Fatalf("%d seeds, partial %q, %d tables", len(results), r.Partial, len(r.Tables))
	}
	for i, got := range results {
		one, err := OverSeeds(3+lab.Seed(i), 1, of)(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seed != one.Seed || got.Hash != one.Hash || !reflect.DeepEqual(got.Result, one.Result) {
			t.Errorf("seed %d has %+v, by itself %+v", 3+i, got, one.Result)
		}
	}
	if results[0].Hash == results[1].Hash {
		t.Error("both seeds are one")
	}
}

// Who interrupts gets the seeds that began, and what cannot be is refused.
func TestOverSeedsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	began := 0
	r, err := OverSeeds(1, 5, func(seed lab.Seed) Run {
		return func(context.Context, Progress) (*report.Report, error) {
			began++
			if seed == 2 {
				cancel()
			}
			return newReport("A trial", seed, embedded(t)), nil
		}
	})(ctx, nil)
	if err != nil || began != 2 || r.Partial != "2 of 5 seeds came to their end" {
		t.Errorf("%d seeds began: %v, %+v", began, err, r)
	}
	for _, count := range []int{0, -1, maxSeeds + 1} {
		if _, err := OverSeeds(1, count, nil)(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%d seeds: %v", count, err)
		}
	}
	if _, err := (PaperTurns{Paper: smallPaper(t), Seeds: -1}).Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("-1 seeds in turn: %v", err)
	}
}
