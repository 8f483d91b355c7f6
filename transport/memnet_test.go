package transport

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
)

// A memListener accepts connections in memory, from whatever address the dialer claims.
type memListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemListener() *memListener {
	return &memListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memListener) Addr() net.Addr { return memAddr("11.0.0.1:7790") }

// dial connects from addr, "ip:port".
func (l *memListener) dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	select {
	case l.conns <- &memConn{theirs, memAddr(addr)}:
	case <-l.closed:
		t.Fatal("dial: the listener is closed")
	}
	return ours
}

type memConn struct {
	net.Conn
	remote net.Addr
}

func (c *memConn) RemoteAddr() net.Addr { return c.remote }

func memAddr(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }

// run starts Serve and returns a function that ends it and returns its error.
func run(ctx context.Context, ln net.Listener, h http.Handler, cfg ServerConfig) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, h, cfg) }()
	return func() error {
		cancel()
		return <-done
	}
}
