package daemon

import (
	"context"
	"fmt"
	"time"

	"feedex/feed"
)

// A RetentionChange changes what is kept of feeds. What is nil stays as it is, and 0 is no limit.
type RetentionChange struct {
	Feeds []feed.URL     `json:"feeds"`
	Bytes *int64         `json:"bytes,omitempty"` // of texts
	Age   *time.Duration `json:"age,omitempty"`   // in nanoseconds, since an entry came
	Count *int64         `json:"count,omitempty"` // entries
}

// IsZero reports whether nothing is to change.
func (b *RetentionChange) IsZero() bool { return b.Bytes == nil && b.Age == nil && b.Count == nil }

// check says what is wrong with a RetentionChange.
func (b *RetentionChange) check() error {
	switch {
	case b.Bytes != nil && *b.Bytes < 0:
		return fmt.Errorf("bytes are %d, want none below 0", *b.Bytes)
	case b.Age != nil && *b.Age < 0:
		return fmt.Errorf("age is %s, want none below 0", *b.Age)
	case b.Count != nil && *b.Count < 0:
		return fmt.Errorf("count is %d, want none below 0", *b.Count)
	}
	return nil
}

// SetLimits implements Owner.
func (h *host) SetRetention(ctx context.Context, b RetentionChange) error {
	if err := b.check(); err != nil {
		return badRequest{err}
	}
	_, err := chore(ctx, h, func() (struct{}, error) {
		for _, u := range b.Feeds {
			h.store.SetLimits(u, b.Bytes, b.Age, b.Count)
		}
		return struct{}{}, h.store.Commit()
	})
	return err
}

// SetLimits implements Owner.
func (c *Client) SetRetention(ctx context.Context, b RetentionChange) error {
	return c.do(ctx, "POST", "/bound", b, nil)
}

// retention is what the archive may hold, and what was purged.
func (h *host) retention(ctx context.Context) (r RetentionReport, err error) {
	k := h.config.Retention
	r = RetentionReport{Bytes: k.All.Bytes, Age: k.All.Age, Count: k.All.Count, Relayed: k.Relayed}
	bounded, err := h.store.FeedLimits(ctx)
	if err != nil {
		return r, err
	}
	r.Feeds = len(bounded)
	r.Last, err = h.store.LastPurge(ctx)
	return r, err
}
