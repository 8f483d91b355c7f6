package transport

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

// A tracker lists a node by the address from which it is asked, where it calls back. A home that has both versions of
// IP may be dialled by one alone, as where the router forwards a port by IPv4 and has a firewall for IPv6. So trackers
// are asked by both in turn, and not by the one that the dialler likes better.

// turnPatience is how long a version of IP has that it is the turn of, before the dialler goes by what there is.
const turnPatience = 3 * time.Second

// turns are the networks by which trackers were asked last. The zero value is ready.
type turns struct {
	mu   sync.Mutex
	last map[string]string
}

// turnKey is where the network is, in the context of a call, that it is the turn of.
type turnKey struct{}

// take has the call to a peer at addr go by the network that it is the turn of, if it is a tracker.
func (t *turns) take(ctx context.Context, addr string) context.Context {
	if !strings.Contains(addr, "://") {
		return ctx
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = make(map[string]string)
	}
	by := "tcp6"
	if t.last[addr] == by {
		by = "tcp4"
	}
	t.last[addr] = by
	return context.WithValue(ctx, turnKey{}, by)
}

// inTurn is dial by the network that it is the turn of first.
func inTurn(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(
	ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if by, ok := ctx.Value(turnKey{}).(string); ok {
			first, end := context.WithTimeout(ctx, turnPatience)
			defer end()
			if c, err := dial(first, by, address); err == nil {
				return c, nil
			}
		}
		return dial(ctx, network, address)
	}
}
