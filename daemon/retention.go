package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/archive/sqlite"
	"feedex/feed"
)

const (
	// retainEvery is the time between two looks at what is beyond what is to be kept.
	retainEvery = 10 * time.Minute
	// firstRetain is the time before the first: whoever sets a bound because the disk is full waits for it.
	firstRetain = 10 * time.Second
	// purgeStep is how many entries are purged at a time: some milliseconds, unless the full-text index takes a step in
	// merging, as it does now and then for what comes as well. purgePause is how long the loop then has for others.
	purgeStep  = 16
	purgePause = 20 * time.Millisecond
	// muchFree is how many bytes are given back to the disk also where nothing was purged just now.
	muchFree = 16 << 20
	// forgetEvery is the time between two looks at what need not be remembered of what was purged.
	forgetEvery = 24 * time.Hour
)

// retainer purges what the owner does not want to keep, in small steps, and gives the room back to the disk. It works
// also while the node rests because the disk is full: what it purges then makes room, by means of the reserve.
type retainer struct {
	host    *host
	keep    archive.Retention
	reserve reserve
	tight   bool // the disk is full: the log must not grow
}

// retain has the archive keep to its bounds until ctx ends.
func (h *host) retain(ctx context.Context) {
	r := &retainer{host: h, keep: h.config.Retention, reserve: reserveIn(h.config.Data, h.config.Reserve)}
	r.reserve.take()
	var forgot time.Time
	for pause := min(firstRetain, h.config.retainPause); rest(ctx, pause) == nil; pause = h.config.retainPause {
		purged, err := r.pass(ctx)
		if err == nil && time.Since(forgot) >= forgetEvery {
			if err = r.forget(ctx); err == nil {
				forgot = time.Now()
			}
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			h.config.Log.Warn("what is not to be kept cannot be purged", "err", err)
		case purged > 0:
			h.config.Log.Info("entries were purged", "entries", purged)
		}
	}
}

// pass purges everything that is beyond what is to be kept, and returns how many entries that were.
func (r *retainer) pass(ctx context.Context) (purged int, err error) {
	h, begun := r.host, time.Now()
	defer func() {
		if r.tight && err == nil {
			r.tight = false
			r.reserve.take()
		}
	}()
	for {
		ids, err := h.store.Surplus(ctx, begun, r.keep)
		if err != nil {
			return purged, err
		}
		n, err := r.purge(ctx, begun, ids)
		purged += n
		if err != nil {
			return purged, err
		}
		if n > 0 {
			if err := r.tidy(ctx); err != nil {
				return purged, err
			}
			continue
		}
		stats, err := h.store.Stats(ctx)
		if err == nil && stats.InSteps && (purged > 0 || r.tight || stats.Free >= muchFree) {
			err = r.giveBack(ctx)
		}
		return purged, err
	}
}

// purge purges entries, step by step. Those that were starred meanwhile stay.
func (r *retainer) purge(ctx context.Context, begun time.Time, ids []feed.EntryID) (n int, err error) {
	store := r.host.store
	for step := range slices.Chunk(ids, purgeStep) {
		dropped, err := roomy(ctx, r, func() (int, error) {
			count := 0
			for _, ok := range store.Purge(begun, step) {
				if ok {
					count++
				}
			}
			return count, store.Commit()
		})
		if err != nil {
			return n, err // of that step nothing was purged
		}
		n += dropped
		if err := rest(ctx, purgePause); err != nil {
			return n, err
		}
	}
	return n, nil
}

// tidy frees in the full-text index what the purged entries took.
func (r *retainer) tidy(ctx context.Context) error {
	for {
		more, err := roomy(ctx, r, r.host.store.Tidy)
		if err != nil || !more {
			return err
		}
		if err := rest(ctx, purgePause); err != nil {
			return err
		}
	}
}

// giveBack gives what is free in the file back to the disk, where that can be done in steps. In a file that an older
// feedex made it stays, for what will come.
func (r *retainer) giveBack(ctx context.Context) error {
	store := r.host.store
	for {
		left, err := roomy(ctx, r, func() (int, error) { return store.Reclaim(reclaimStep) })
		if err != nil {
			return err
		}
		if left == 0 {
			_, err := chore(ctx, r.host, func() (struct{}, error) { return struct{}{}, store.Shorten(ctx) })
			return err
		}
		if err := rest(ctx, purgePause); err != nil {
			return err
		}
	}
}

// forget forgets what need not be remembered of what was purged.
func (r *retainer) forget(ctx context.Context) error {
	var last feed.EntryID
	for more := true; more; {
		_, err := chore(ctx, r.host, func() (_ struct{}, err error) {
			last, more = r.host.store.ForgetPurged(time.Now(), last)
			return struct{}{}, r.host.store.Commit()
		})
		if err == nil {
			err = rest(ctx, purgePause)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// roomy has f called by the loop. Where the disk is full it gives up the reserve, and calls it again; from then on the log
// is emptied after every step, so that the reserve lasts.
func roomy[T any](ctx context.Context, r *retainer, f func() (T, error)) (T, error) {
	return chore(ctx, r.host, func() (T, error) {
		value, err := f()
		if errors.Is(err, sqlite.ErrFull) {
			r.reserve.release()
			r.tight = true
			_ = r.host.store.Shorten(ctx) // if there is no room even for that, the next try tells
			value, err = f()
		}
		if r.tight {
			_ = r.host.store.Shorten(ctx)
		}
		return value, err
	})
}
