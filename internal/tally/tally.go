// Package tally counts the bytes that pass over connections, for tests.
package tally

import (
	"net"
	"sync/atomic"
)

// A Listener counts the bytes that pass over the connections that it accepts. Its zero value needs a
// net.Listener.
type Listener struct {
	net.Listener
	In, Out atomic.Int64 // read from its connections, and written to them
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, l}, nil
}

type conn struct {
	net.Conn
	l *Listener
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.l.In.Add(int64(n))
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.l.Out.Add(int64(len(p))) // before the other end can have seen it
	n, err := c.Conn.Write(p)
	c.l.Out.Add(int64(n - len(p)))
	return n, err
}
