package daemon

import (
	"context"
	"errors"
	"time"

	"feedex/archive"
)

// Entries are brought into the full-text index when there is time. Nothing waits for that: a search looks
// through what is not indexed yet. But it takes the longer the more there is of it, so the index must
// not fall behind for good where there never is time.
const (
	// housekeepingIdle is how long after something was stored the first step is made.
	housekeepingIdle = 250 * time.Millisecond
	// housekeepingShare is how many times as long as a step the pause after it is where the loop had to wait for that.
	// Else it is as long as the step, so that half of a processor is left to others.
	housekeepingShare = 20
	// shortestPause is the shortest pause.
	shortestPause = 5 * time.Millisecond
	// firstHousekeepingRetry is the wait after a step that failed; it doubles up to longestWait.
	firstHousekeepingRetry = time.Second
)

// stir has the housekeeping look whether there is something to do.
func (h *host) stir() {
	select {
	case h.stirred <- struct{}{}:
	default:
	}
}

// housekeep brings what is stored into the index, and the log into the file, until ctx ends. The core knows nothing of
// it, so a failure concerns nobody else.
func (h *host) housekeep(ctx context.Context) {
	wait := time.Duration(0) // between the tries while steps fail, 0 while they do not
	for {
		if rest(ctx, housekeepingIdle) != nil {
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
				if wait == 0 {
					h.config.Log.Warn("entries cannot be indexed; searches find them all the same, but take longer",
						"err", err)
				}
				wait = backOff(wait, firstHousekeepingRetry)
				pause, contended, more = wait, false, true
			case wait > 0:
				wait = 0
				h.config.Log.Info("entries can be indexed again")
			}
			if contended {
				pause *= housekeepingShare
			}
			if rest(ctx, pause) != nil {
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
func insist[T any](ctx context.Context, h *host, step func() (T, error)) (T, error) {
	for {
		begun := time.Now()
		value, err := step()
		if !errors.Is(err, archive.ErrGaveWay) {
			return value, err
		}
		if err := rest(ctx, housekeepingShare*max(time.Since(begun), shortestPause)); err != nil {
			return value, err
		}
	}
}

// followedEvery is how often the time is counted for which feeds were followed. What is short of it at the end of a
// run is not counted.
const followedEvery = 10 * time.Minute

// countFollowed counts for how long feeds were followed, while the node runs.
func (h *host) countFollowed(ctx context.Context) {
	for rest(ctx, followedEvery) == nil {
		_, err := chore(ctx, h, func() (struct{}, error) {
			h.store.KeepFollowed(time.Now(), followedEvery)
			return struct{}{}, h.store.Commit()
		})
		if err != nil {
			h.config.Log.Debug("time not counted", "err", err) // the loop will say more
		}
	}
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
