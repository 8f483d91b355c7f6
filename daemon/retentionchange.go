package daemon

import (
	"context"

	"feedex/control"
)

// SetRetention implements control.Owner.
func (h *host) SetRetention(ctx context.Context, b control.RetentionChange) error {
	if err := b.Check(); err != nil {
		return control.BadRequest{Err: err}
	}
	_, err := chore(ctx, h, func() (struct{}, error) {
		for _, u := range b.Feeds {
			h.store.SetLimits(u, b.Bytes, b.Age, b.Count)
		}
		return struct{}{}, h.store.Commit()
	})
	return err
}

// retention is what the archive may hold, and what was purged.
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
