package daemon

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/transport"
)

// callerKey is where the address of a request's sender is in its context.
type callerKey struct{}

// callerAddr is the address that sent the request that has this context, the zero Addr where there is none.
func callerAddr(ctx context.Context) netip.Addr {
	a, _ := ctx.Value(callerKey{}).(netip.Addr)
	return a
}

// withCaller lets a handler know from where requests come: from the address that a trusted proxy names, where it does
// so plainly, and else from where the connection is made.
func withCaller(h http.Handler, proxies []netip.Prefix) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := transport.Caller(r, proxies)
		if err != nil {
			from, _ = transport.Caller(r, nil)
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, from)))
	})
}

// callers knows the addresses at which a right password was shown, and those that guess at one.
type callers struct {
	mu      sync.Mutex
	guesses reading.Guesses
}

// look has f look a password up for a client at an address, unless it has to wait.
func (v *callers) look(from netip.Addr, h reading.Hash, f func() (reading.Password, error)) (reading.Password, error) {
	v.mu.Lock()
	err := v.guesses.Try(time.Now(), from, h)
	v.mu.Unlock()
	if err != nil {
		return reading.Password{}, err
	}
	p, err := f()
	if err == nil && p.Name != "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.guesses.Right(time.Now(), from, h)
	}
	return p, err
}

// familiar reports whether the owner's programs are at an address: on this machine, in its private networks, or where a
// right password was shown.
func (v *callers) familiar(a netip.Addr) bool {
	if a.IsLoopback() || a.IsPrivate() {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.guesses.Familiar(a)
}

// acquaintances are the addresses of neighbors, and of earlier ones. The zero value is nobody's.
type acquaintances struct {
	addrs  atomic.Pointer[map[netip.Addr]bool]
	hosted atomic.Pointer[map[protocol.NodeID]bool] // neighbors that others cannot dial
}

func (a *acquaintances) hosts(id protocol.NodeID) bool {
	hosted := a.hosted.Load()
	return hosted != nil && (*hosted)[id]
}

func (a *acquaintances) has(addr netip.Addr) bool {
	addrs := a.addrs.Load()
	return addrs != nil && (*addrs)[addr]
}

// noteAcquaintances notes at which addresses there are or were neighbors. It is called from the loop.
func (h *host) noteAcquaintances(n *node.Node) {
	addrs := n.Acquaintances()
	h.known.addrs.Store(&addrs)
	hosted := make(map[protocol.NodeID]bool)
	for _, id := range n.Hosted() {
		hosted[id] = true
	}
	h.known.hosted.Store(&hosted)
}

// openAt tells which clients need no password where readers connect: those on this machine, where it alone can connect.
func openAt(ln net.Listener) func(*http.Request) bool {
	near := ln.Addr().(*net.TCPAddr).IP.IsLoopback()
	return func(r *http.Request) bool { return near && !forwarded(r) }
}

// forwarded reports whether a request came by a web server that says so. The client behind that may be anywhere.
func forwarded(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Real-Ip"} {
		if len(r.Header[name]) > 0 { // of several the visitor may have sent the first, and left it empty
			return true
		}
	}
	return false
}
