package daemon

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

// A joint has done once what several want at the same time. Its zero value is ready.
type joint[T any] struct{ group singleflight.Group }

// do returns what f does, or what one that is under way by this key does. One of the workers waits for that: who has
// gone leaves what comes of it for who waits.
func (j *joint[T]) do(ctx context.Context, key string, workers *sync.WaitGroup, f func() (T, error)) (value T,
	err error) {
	done := make(chan singleflight.Result, 1)
	workers.Go(func() {
		v, err, _ := j.group.Do(key, func() (any, error) { return f() })
		done <- singleflight.Result{Val: v, Err: err}
	})
	select {
	case r := <-done:
		return r.Val.(T), r.Err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}
