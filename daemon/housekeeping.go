package daemon

import (
	"context"
	"errors"
	"time"

	"feedex/archive"
	"feedex/internal/sleep"
	"feedex/internal/when"
)

// Entries are brought into the full-text index when there is time. Nothing waits for that: a search looks
// through what is not indexed yet. But it takes the longer the more there is of it, so the index must
// not fall behind for good where there never is time.
const (
	// housekeepingIdle is how long after something was stored the first step is made, so that entries that come one by
	// one share a step.
	housekeepingIdle = 10 * time.Second
	// housekeepingShare is how many times as long as a step the pause after it is where the loop had to wait for that.
	// Else it is as long as the step, so that half of a processor is left to others.
	housekeepingShare = 20
	// shortestPause is the shortest pause.
	shortestPause = 5 * time.Millisecond
	// firstHousekeepingRetry is the wait after a step that failed; it doubles up to longestWait.
	firstHousekeepingRetry = time.Second
)

// housekeep brings what is stored into the index, and the log into the file, until ctx ends. The core knows nothing of
// it, so a failure concerns nobody else.
func (h *host) housekeep(ctx context.Context) {
	failures := 0 // in a row
	for {
		if sleep.For(ctx, housekeepingIdle) != nil {
			return
		}
		for more := true; more; {
			begun := time.Now()
			var err error
			more, err = h.housekeepStep(ctx)
			took := time.Since(begun)
			contended := h.housekeeper.Contended()
			pause := max(took, shortestPause)
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, archive.ErrGaveWay):
				contended, more = true, true
			case err != nil:
				if failures == 0 {
					h.config.Log.Warn("entries cannot be indexed; searches find them all the same, but take longer",
						"err", err)
				}
				pause, contended, more = when.Doubled(firstHousekeepingRetry, longestWait, failures), false, true
				failures++
			case failures > 0:
				failures = 0
				h.config.Log.Info("entries can be indexed again")
			}
			if contended {
				pause *= housekeepingShare
			}
			if sleep.For(ctx, pause) != nil {
				return
			}
		}
		select {
		case <-h.stirred:
		case <-ctx.Done():
			return
		}
	}
}

// housekeepStep makes a step of each kind that is due.
func (h *host) housekeepStep(ctx context.Context) (more bool, err error) {
	if err := h.housekeeper.Log(ctx); err != nil {
		return false, err
	}
	more, err = h.housekeeper.Index(ctx)
	if err != nil {
		return more, err
	}
	parts, err := h.housekeeper.Tidy(ctx)
	return more || parts, err
}

// insist makes a step again for as long as it has to give way to the loop, with the pauses that leave most of the time
// to that.
func insist[T any](ctx context.Context, step func() (T, error)) (T, error) {
	for {
		begun := time.Now()
		value, err := step()
		if !errors.Is(err, archive.ErrGaveWay) {
			return value, err
		}
		if err := sleep.For(ctx, housekeepingShare*max(time.Since(begun), shortestPause)); err != nil {
			return value, err
		}
	}
}
