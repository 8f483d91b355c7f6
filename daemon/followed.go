package daemon

import (
	"context"
	"time"
)

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
