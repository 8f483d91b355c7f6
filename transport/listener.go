package transport

import (
	"net"
	"net/netip"
	"sync"

	"feedex/feed"
)

const (
	// hostConns is the most connections from one address at one time, and of a customer's IPv6 /64.
	hostConns = 4
	// networkConns is the most from one IPv4 /24 or IPv6 /48, so that somebody who holds such a network
	// cannot take all the connections there are.
	networkConns = 32
)

// A listener closes the connections that are too many as soon as they come.
type listener struct {
	net.Listener
	cfg ServerConfig

	mu    sync.Mutex
	total int
	held  map[netip.Prefix]int // connections by address and by network
}

func newListener(ln net.Listener, cfg ServerConfig) *listener {
	return &listener{Listener: ln, cfg: cfg, held: make(map[netip.Prefix]int)}
}

// Accept returns the next connection that is not too many.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host, network := l.origin(c.RemoteAddr())
		if l.admit(host, network) {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.release(host, network) })}, nil
		}
		c.Close()
	}
}

// origin is what a connection counts for: its address and the network around it, both zero where only
// the total counts.
func (l *listener) origin(remote net.Addr) (host, network netip.Prefix) {
	ap, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return
	}
	a := ap.Addr().Unmap()
	if l.cfg.AllowLocal && !feed.PublicAddr(a) || trusted(l.cfg.TrustedProxies, a) {
		return
	}
	if a.Is4() {
		host, _ = a.Prefix(32)
		network, _ = a.Prefix(24)
	} else {
		host, _ = a.Prefix(64)
		network, _ = a.Prefix(48)
	}
	return host, network
}

func (l *listener) admit(host, network netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.cfg.MaxConns {
		return false
	}
	if host.IsValid() {
		if l.held[host] >= hostConns || l.held[network] >= networkConns {
			return false
		}
		l.held[host]++
		l.held[network]++
	}
	l.total++
	return true
}

func (l *listener) release(host, network netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if !host.IsValid() {
		return
	}
	for _, p := range []netip.Prefix{host, network} {
		if l.held[p]--; l.held[p] == 0 {
			delete(l.held, p)
		}
	}
}

// A conn gives its place back when it is closed.
type conn struct {
	net.Conn
	release func()
}

func (c *conn) Close() error {
	c.release()
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
