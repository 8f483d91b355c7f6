package daemon

import (
	"context"
	"sync"
)

// A joint has done once what several want at the same time. Its zero value is ready.
type joint[T any] struct {
	mu       sync.Mutex
	underway map[string]*errand[T]
}

// An errand is under way until done is closed.
type errand[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// do returns what f does, or what one that is under way by this key does. begin has it run: who has gone leaves what
// comes of it for who waits.
func (j *joint[T]) do(ctx context.Context, key string, begin func(func()), f func() (T, error)) (T, error) {
	j.mu.Lock()
	e := j.underway[key]
	if e == nil {
		if j.underway == nil {
			j.underway = make(map[string]*errand[T])
		}
		e = &errand[T]{done: make(chan struct{})}
		j.underway[key] = e
		begin(func() {
			e.value, e.err = f()
			j.mu.Lock()
			delete(j.underway, key)
			j.mu.Unlock()
			close(e.done)
		})
	}
	j.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
