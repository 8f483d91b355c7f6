package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
)

// importTarget is the part of an archive that an import writes to.
type importTarget interface {
	archive.Entries
	Commit() error
}

// fill stores some lines durably.
func fill(store importTarget, now time.Time, lines []jsonl.Line) (added int, err error) {
	records := make([]archive.Record, len(lines))
	for i := range lines {
		records[i] = lines[i].Filling(now)
	}
	store.Readmit(archive.IDsOf(records)) // what was purged the owner wants back
	var hidden []feed.EntryID
	for i, stored := range store.Fill(now, records) {
		if stored {
			added++
			if lines[i].Hidden {
				hidden = append(hidden, records[i].ID)
			}
		}
	}
	store.Hide(hidden)
	if err := store.Commit(); err != nil {
		return 0, err
	}
	return added, nil
}

// Import implements control.Maintenance. The core knows nothing of it: what is filled in is no news. Between two steps
// the loop turns to whatever else is due.
func (h *host) Import(ctx context.Context, lines []jsonl.Line) (added int, err error) {
	for part := range portions(lines, lineWeight) {
		n, err := chore(ctx, h.loop, func() (int, error) { return fill(h.store, time.Now(), part) })
		added += n
		if err != nil {
			return added, err
		}
	}
	return added, nil
}

// reclaimStep is how many pages of the archive's file are given back at a time: about ten milliseconds.
const reclaimStep = 256

// Vacuum implements control.Maintenance.
func (h *host) Vacuum(ctx context.Context) error {
	for {
		left, err := insist(ctx, func() (int, error) { return h.housekeeper.Reclaim(ctx, reclaimStep) })
		switch {
		case errors.Is(err, archive.ErrRewrite):
			_, err := chore(ctx, h.loop, func() (struct{}, error) { return struct{}{}, h.rewrite(ctx) })
			return err
		case err != nil:
			return err
		case left == 0:
			return h.housekeeper.Shorten(ctx)
		}
	}
}

// rewrite has the archive rewrite its file. The rewriting may take minutes and has a time of its own: the loop counts
// as turning meanwhile.
func (h *host) rewrite(ctx context.Context) error {
	turning, end := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	ticks.Go(func() {
		tick := time.NewTicker(longestNap)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.config.Turned()
			case <-turning.Done():
				return
			}
		}
	})
	err := h.store.Vacuum(ctx)
	end()
	ticks.Wait()
	return err
}
