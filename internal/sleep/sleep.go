// Package sleep waits in real time.
package sleep

import (
	"context"
	"time"
)

// For waits so long. It returns at once, and says why, where ctx ends.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
