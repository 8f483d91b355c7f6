package fetch

import (
	"context"
	"sync"
)

// hosts lets one fetch at a time to each host; the others wait for their turn. The zero value is
// ready.
type hosts struct {
	mu    sync.Mutex
	doors map[string]*door // of hosts where somebody is or waits
}

type door struct {
	inside chan struct{} // holds one
	users  int           // who are inside or wait
}

// enter waits until nobody is at host or ctx ends. Whoever entered must leave.
func (h *hosts) enter(ctx context.Context, host string) (leave func(), err error) {
	h.mu.Lock()
	d := h.doors[host]
	if d == nil {
		d = &door{inside: make(chan struct{}, 1)}
		if h.doors == nil {
			h.doors = make(map[string]*door)
		}
		h.doors[host] = d
	}
	d.users++
	h.mu.Unlock()

	select {
	case d.inside <- struct{}{}:
		return func() {
			<-d.inside
			h.forget(host, d)
		}, nil
	case <-ctx.Done():
		h.forget(host, d)
		return nil, ctx.Err()
	}
}

// forget drops the door when its last user has gone, so that hosts are not kept for ever.
func (h *hosts) forget(host string, d *door) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.users--; d.users == 0 {
		delete(h.doors, host)
	}
}
