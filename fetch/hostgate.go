package fetch

import (
	"context"
	"sync"
)

// hosts lets one fetch at a time to each host; the others wait for their turn. The zero value is
// ready.
type hosts struct {
	mu    sync.Mutex
	gates map[string]*hostGate // of hosts where somebody is or waits
}

type hostGate struct {
	inside chan struct{} // holds one
	users  int           // goroutines that are inside or wait
}

// enter waits until nobody is at host or ctx ends. A goroutine that entered must leave.
func (h *hosts) enter(ctx context.Context, host string) (leave func(), err error) {
	h.mu.Lock()
	g := h.gates[host]
	if g == nil {
		g = &hostGate{inside: make(chan struct{}, 1)}
		if h.gates == nil {
			h.gates = make(map[string]*hostGate)
		}
		h.gates[host] = g
	}
	g.users++
	h.mu.Unlock()

	select {
	case g.inside <- struct{}{}:
		return func() {
			<-g.inside
			h.forget(host, g)
		}, nil
	case <-ctx.Done():
		h.forget(host, g)
		return nil, ctx.Err()
	}
}

// forget drops the gate when its last user has gone, so that hosts are not kept for ever.
func (h *hosts) forget(host string, g *hostGate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(h.gates, host)
	}
}
