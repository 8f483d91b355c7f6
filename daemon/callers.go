package daemon

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

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
	addrs atomic.Pointer[map[netip.Addr]bool]
}

func (a *acquaintances) has(addr netip.Addr) bool {
	addrs := a.addrs.Load()
	return addrs != nil && (*addrs)[addr]
}

// noteAcquaintances notes at which addresses there are or were neighbors. It is called from the loop.
func (h *host) noteAcquaintances() {
	addrs := h.node.Acquaintances()
	h.known.addrs.Store(&addrs)
}
