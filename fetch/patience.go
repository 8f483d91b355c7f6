package fetch

import (
	"context"
	"time"
)

// A patience is for how long a visit waits for others, while its clock runs. Waiting for a place here is no part of
// that: a publisher who answered at once is not slow because this machine is busy.
type patience struct {
	left  time.Duration
	since time.Time   // the clock runs
	over  *time.Timer // ends the context of start
}

// start has the clock run. The context ends with it, by context.DeadlineExceeded; stop is to be called.
func (p *patience) start(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	p.since, p.over = time.Now(), time.AfterFunc(p.left, func() { end(context.DeadlineExceeded) })
	return ctx, func() {
		p.pause()
		end(nil)
	}
}

// pause stops the clock.
func (p *patience) pause() {
	p.over.Stop()
	p.left -= time.Since(p.since)
}

// enter waits at a gate while the clock stands still.
func (p *patience) enter(ctx context.Context, g gate) error {
	p.pause()
	defer func() {
		p.since = time.Now()
		p.over.Reset(p.left)
	}()
	return g.enter(ctx)
}
