package transport

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"feedex/admission"
)

const (
	// strangerConns, neighborConns and ownerConns are how many connections there may be at one time: of strangers, at
	// all listeners together, of neighbors, and of the owner and their readers. Where those of the latter two are taken
	// they are served as strangers.
	strangerConns = 256
	neighborConns = 128
	ownerConns    = 128
	// patience is how long a connection may keep us waiting, for a request, for the rest of one or until it takes an
	// answer, while others want its place. While there are places for everybody the time-outs of Serve hold.
	patience = time.Second
	// socketBytes is how much of what a peer sends, or does not take, the kernel keeps for a connection, which is up to
	// tens of megabytes otherwise: memory that all connections of the machine share.
	socketBytes = 128 << 10
)

// LimiterConfig holds the functions that a Limiter needs: they tell whether a neighbor is at an address, or was, and
// whether the owner or a reader of theirs is. Both are called from many goroutines. Default: nobody is.
type LimiterConfig struct{ Neighbor, Reader func(netip.Addr) bool }

// A Limiter shares connections among callers, at all listeners of a process. Places are kept for neighbors and for the
// owner; where all are taken, admission.SharedPool says which connection is closed so that another can be had. Make
// one with NewLimiter. It is safe for concurrent use.
type Limiter struct {
	neighbor, reader func(netip.Addr) bool

	mu                          sync.Mutex
	strangers, neighbors, owner *connections
}

type connections = admission.SharedPool[*conn]

// NewLimiter makes a Limiter.
func NewLimiter(cfg LimiterConfig) *Limiter {
	nobody := func(netip.Addr) bool { return false }
	l := &Limiter{
		neighbor: nobody, reader: nobody,
		strangers: admission.NewSharedPool[*conn](strangerConns, patience),
		neighbors: admission.NewSharedPool[*conn](neighborConns, patience),
		owner:     admission.NewSharedPool[*conn](ownerConns, patience),
	}
	if cfg.Neighbor != nil {
		l.neighbor = cfg.Neighbor
	}
	if cfg.Reader != nil {
		l.reader = cfg.Reader
	}
	return l
}

// admit gives a connection a place, for which others may be closed, and reports whether there is one. owner says that
// it came where the owner and their readers come.
func (l *Limiter) admit(c *conn, owner bool) bool {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return true // not from the network: a Unix socket, which only the owner can open
	}
	c.limiter, c.peer = l, peer.Addr().Unmap()
	pools := []*connections{l.strangers}
	switch {
	case owner && l.reader(c.peer):
		pools = []*connections{l.owner, l.strangers}
	case !owner && l.neighbor(c.peer):
		pools = []*connections{l.neighbors, l.strangers}
	}
	for _, c.pool = range pools {
		var gaveUp []*admission.Place[*conn]
		l.mu.Lock()
		c.place, gaveUp = c.pool.Enter(time.Now(), c.peer, 1, c)
		l.mu.Unlock()
		for _, other := range gaveUp {
			other.Of.Conn.Close() // net/http notices, and closes the rest of it
		}
		if c.place != nil {
			return true
		}
	}
	return false
}

// A listener closes the connections for which there is no place as soon as they come.
type listener struct {
	net.Listener
	limiter *Limiter
	owner   bool
	meter   *Meter
}

// Accept returns the next connection that has a place.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		placed := &conn{Conn: c, meter: l.meter}
		if !l.limiter.admit(placed, l.owner) {
			c.Close()
			continue
		}
		if tcp, ok := c.(*net.TCPConn); ok { // on one that is closed already it does not matter
			_ = tcp.SetReadBuffer(socketBytes)
			_ = tcp.SetWriteBuffer(socketBytes)
		}
		return placed, nil
	}
}

// A conn is a connection with a place, which it gives back when it is closed. limiter is nil where it needs none.
type conn struct {
	net.Conn
	limiter *Limiter
	peer    netip.Addr
	pool    *connections
	place   *admission.Place[*conn]
	meter   *Meter // nil for none
}

// hold has f act on the place, if there is one.
func (c *conn) hold(f func(*admission.Place[*conn])) {
	if c.limiter == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	f(c.place)
}

// await says that we wait for the peer from now on, and serve that it waits for us.
func (c *conn) await() {
	now := time.Now()
	c.hold(func(p *admission.Place[*conn]) { p.Await(now) })
}

func (c *conn) serve() { c.hold((*admission.Place[*conn]).Serve) }

// attribute has the connection count for an address: that for which a proxy speaks.
func (c *conn) attribute(a netip.Addr) {
	c.hold(func(p *admission.Place[*conn]) { c.pool.Move(p, a) })
}

// leavePool gives the place back, and lets the connection go on.
func (c *conn) leavePool() { c.hold(func(p *admission.Place[*conn]) { c.pool.Leave(p) }) }

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.meter.passed(n)
	return n, err
}

// Write implements net.Conn. A peer that takes nothing keeps us waiting.
func (c *conn) Write(p []byte) (int, error) {
	now, waited := time.Now(), true
	c.hold(func(p *admission.Place[*conn]) {
		if waited = !p.Waits().IsZero(); !waited {
			p.Await(now)
		}
	})
	n, err := c.Conn.Write(p)
	c.meter.passed(n)
	if !waited {
		c.serve()
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.hold(func(p *admission.Place[*conn]) { c.pool.Leave(p) })
	return c.Conn.Close()
}

// CloseWrite ends the sending side alone, where the connection can. net/http does so before it closes,
// so that an early refusal is not lost on a client that is still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
