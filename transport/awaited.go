package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
)

// connKey is where the connection of a request is in its context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connState follows which side a connection waits for, between requests and until the headers of one are there.
func connState(c net.Conn, state http.ConnState) {
	if c, ok := c.(*conn); ok && (state == http.StateActive || state == http.StateIdle) {
		c.await()
	}
}

// attend follows which side the connection of a request waits for while it is answered: the peer until it has sent the
// body. At proxies of the owner it counts meanwhile for the client that they name. The function that it returns ends
// that.
func attend(r *http.Request, proxies []netip.Prefix) (end func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || c.limiter == nil {
		return func() {}
	}
	if r.Body == nil || r.Body == http.NoBody {
		c.serve()
	} else {
		r.Body = &awaited{r.Body, c}
	}
	caller, err := Caller(r, proxies)
	if err != nil || caller == c.peer {
		return func() {}
	}
	c.attribute(caller)
	return func() { c.attribute(c.peer) }
}

// An awaited is a body for which we wait.
type awaited struct {
	io.ReadCloser
	conn *conn
}

func (b *awaited) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.conn.serve()
	}
	return n, err
}
