package daemon

import (
	"context"
	"errors"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/reading"
)

const (
	// retainEvery is the time between two looks at what is beyond what is to be kept.
	retainEvery = 10 * time.Minute
	// firstRetain is the time before the first: an owner who sets a limit because the disk is full waits for it.
	firstRetain = 10 * time.Second
	// purgeStep is how many entries are purged at a time at most: fewer where that takes so long that it has to give
	// way to the loop. purgePause is the pause after a step.
	purgeStep  = 16
	purgePause = 20 * time.Millisecond
	// muchFree is how many bytes are given back to the disk also where nothing was purged just now.
	muchFree = 16 << 20
	// forgetEvery is the time between two looks at what need not be remembered of what was purged.
	forgetEvery = 24 * time.Hour
	// littleRoom is how much room on the disk is little, unless a littlePart of it is less: of what is one neighbor's
	// word as much goes as is lacking, before the disk is full and nothing can be kept any more.
	littleRoom, littlePart = 256 << 20, 20
)

// retainer purges what the owner does not want to keep, in small steps, and gives the room back to the disk. It works
// also while the node rests because the disk is full: what it purges then makes room, by means of the reserve.
type retainer struct {
	host    *host
	keep    archive.Retention
	reserve reserve
	tight   bool      // the disk is full: the log must not grow
	noted   time.Time // known to be past when the node started, zero for none
	now     time.Time // by which ages were reckoned last, or noted where that is later; zero for never
}

// retain has the archive keep to its limits until ctx ends.
func (h *host) retain(ctx context.Context) {
	r := &retainer{host: h, keep: h.config.Retention, reserve: reserveIn(h.config.Data, h.config.Reserve),
		noted: h.noted, now: h.noted}
	r.reserve.take()
	var forgot time.Time
	for pause := min(firstRetain, h.config.retainPause); sleep.For(ctx, pause) == nil; pause = h.config.retainPause {
		if err := h.eraseHidden(ctx, time.Now()); err != nil && ctx.Err() == nil {
			h.config.Log.Warn("what was removed, people or filters, cannot be erased yet", "err", err)
		}
		if err := h.endUnfollowed(ctx, time.Now()); err != nil && ctx.Err() == nil {
			h.config.Log.Warn("what programs unfollowed is still followed", "err", err)
		}
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

// reckon is the time by which ages are reckoned: the clock's, unless that went on by more than a day since the pass
// before. Of a machine that slept what is old is purged some hours later for that, and one whose clock is ahead by
// years for an hour loses what a few days more would have cost. A clock that starts in 1970 is nothing to go on from.
func (r *retainer) reckon(clock time.Time) time.Time {
	const most = 24 * time.Hour
	if !r.now.IsZero() && clock.Sub(r.now) > most {
		clock = r.now.Add(most)
	}
	r.now = when.Later(clock, r.noted)
	return clock
}

// pass purges everything that is beyond what is to be kept, and returns how many entries that were.
func (r *retainer) pass(ctx context.Context) (purged int, err error) {
	h, begun := r.host, time.Now()
	now := r.reckon(begun)
	defer func() {
		if r.tight && err == nil {
			r.tight = false
			r.reserve.take()
		}
	}()
	for {
		stats, err := h.store.Stats(ctx)
		if err != nil {
			return purged, err
		}
		keep := r.keep
		if keep.Short = r.short(&stats); keep.Short > 0 {
			freed, err := h.shown.Clear()
			if err != nil {
				h.config.Log.Warn("pictures that may go cannot be removed", "err", err)
			}
			if freed > 0 {
				keep.Short = r.short(&stats)
			}
		}
		ids, err := h.store.OverLimit(ctx, now, keep)
		if err != nil {
			return purged, err
		}
		if keep.Short > 0 && len(ids) > 0 && purged == 0 {
			h.config.Log.Warn("the disk is nearly full; what only one neighbor vouches for is purged",
				"lacking", keep.Short)
		}
		n, err := r.purge(ctx, begun, ids)
		purged += n
		if err != nil {
			return purged, err
		}
		untidy := false
		if n == 0 {
			if untidy, err = h.store.Untidy(ctx, keep); err == nil && untidy {
				err = r.compact(ctx)
			}
		}
		switch {
		case err != nil:
			return purged, err
		case n > 0:
			err = r.steps(ctx, r.host.housekeeper.Tidy)
		case !untidy:
			if stats.InSteps && (purged > 0 || r.tight || stats.Free >= muchFree) {
				err = r.giveBack(ctx)
			}
			return purged, err
		}
		if err != nil {
			return purged, err
		}
	}
}

// short is how many bytes the disk lacks, with what is free in the file.
func (r *retainer) short(stats *archive.Stats) int64 {
	room, size := r.host.config.roomOn(r.host.config.Data)
	return max(0, min(littleRoom, size/littlePart)-room-stats.Free)
}

// purge purges entries, step by step. Those that were starred meanwhile stay.
func (r *retainer) purge(ctx context.Context, begun time.Time, ids []feed.EntryID) (n int, err error) {
	for count := purgeStep; len(ids) > 0; {
		step := ids[:min(count, len(ids))]
		purged, err := roomy(ctx, r, func() (int, error) { return r.host.housekeeper.Purge(ctx, begun, step) })
		switch {
		case errors.Is(err, archive.ErrGaveWay):
			count = max(1, count/2)
		case err != nil:
			return n, err // of that step nothing was purged
		default:
			n += purged
			ids, count = ids[len(step):], min(count+1, purgeStep)
		}
		if err := sleep.For(ctx, purgePause); err != nil {
			return n, err
		}
	}
	return n, nil
}

// steps makes a step after the other, each until it comes to its end, as long as there are more.
func (r *retainer) steps(ctx context.Context, step func(context.Context) (more bool, err error)) error {
	for {
		more, err := insist(ctx, func() (bool, error) {
			return roomy(ctx, r, func() (bool, error) { return step(ctx) })
		})
		if err != nil || !more {
			return err
		}
		if err := sleep.For(ctx, purgePause); err != nil {
			return err
		}
	}
}

// compact frees in the full-text index all that purged entries took.
func (r *retainer) compact(ctx context.Context) error {
	state := int64(-1)
	return r.steps(ctx, func(ctx context.Context) (bool, error) {
		next, err := r.host.housekeeper.Compact(ctx, state)
		if err == nil {
			state = next
		}
		return next >= 0, err
	})
}

// giveBack gives what is free in the file back to the disk, where that can be done in steps. In a file that an older
// feedex made it stays, for what will come.
func (r *retainer) giveBack(ctx context.Context) error {
	err := r.steps(ctx, func(ctx context.Context) (bool, error) {
		left, err := r.host.housekeeper.Reclaim(ctx, reclaimStep)
		return left > 0, err
	})
	if err != nil {
		return err
	}
	return r.host.housekeeper.Shorten(ctx)
}

// forget forgets what need not be remembered of what was purged.
func (r *retainer) forget(ctx context.Context) error {
	now := time.Now()
	var id feed.EntryID
	err := r.steps(ctx, func(ctx context.Context) (more bool, err error) {
		last, more, err := r.host.housekeeper.ForgetPurged(ctx, now, id)
		if err == nil {
			id = last
		}
		return more, err
	})
	if err != nil {
		return err
	}
	var number int64
	return r.steps(ctx, func(ctx context.Context) (more bool, err error) {
		last, more, err := r.host.housekeeper.ForgetFeeds(ctx, number)
		if err == nil {
			number = last
		}
		return more, err
	})
}

// roomy calls f. Where the disk is full it gives up the reserve, and calls it again; from then on the log
// is emptied after every step, so that the reserve lasts.
func roomy[T any](ctx context.Context, r *retainer, f func() (T, error)) (T, error) {
	value, err := f()
	if errors.Is(err, archive.ErrFull) {
		r.reserve.release()
		r.tight = true
		_ = r.host.housekeeper.Shorten(ctx) // if there is no room even for that, the next try tells
		value, err = f()
	}
	if r.tight {
		_ = r.host.housekeeper.Shorten(ctx)
	}
	return value, err
}

// SetRetention implements control.Owner.
func (h *host) SetRetention(ctx context.Context, b control.RetentionChange) error {
	if err := b.Check(); err != nil {
		return control.BadRequest{Err: err}
	}
	return h.durably(ctx, func(d reading.Database) error {
		for _, u := range b.Feeds {
			d.SetLimits(u, b.Bytes, b.Age, b.Count)
		}
		return nil
	})
}

// retention reports what the archive may hold, and what was purged.
func (h *host) retention(ctx context.Context) (r control.RetentionReport, err error) {
	k := h.config.Retention
	r = control.RetentionReport{Bytes: k.All.Bytes, Age: k.All.Age, Count: k.All.Count, Relayed: k.Relayed}
	bounded, err := h.store.FeedLimits(ctx)
	if err != nil {
		return r, err
	}
	r.Feeds = len(bounded)
	r.Last, err = h.store.LastPurge(ctx)
	return r, err
}
