package transport

import (
	"context"
	"net"
	"sync/atomic"
)

// A Meter counts what passes between a node and others, since it was made: give the same one to the client and to the
// server for other nodes. The zero value is ready; nil counts nothing. It is safe for concurrent use.
type Meter struct {
	made, answered, bytes atomic.Int64
}

// Metered is what a Meter counted.
type Metered struct {
	Made     int64 // calls to others that had an answer
	Answered int64 // calls of others that had one
	Bytes    int64 // in both directions, with the headers of HTTP and without those of TCP
}

// Read returns what was counted so far.
func (m *Meter) Read() Metered {
	if m == nil {
		return Metered{}
	}
	return Metered{m.made.Load(), m.answered.Load(), m.bytes.Load()}
}

// madeCall counts a call to another node.
func (m *Meter) madeCall() {
	if m != nil {
		m.made.Add(1)
	}
}

// answeredCall counts a call of another node.
func (m *Meter) answeredCall() {
	if m != nil {
		m.answered.Add(1)
	}
}

// passed counts bytes that a connection took or brought.
func (m *Meter) passed(n int) {
	if m != nil {
		m.bytes.Add(int64(n))
	}
}

// dialled has what a dialer connects count.
func (m *Meter) dialled(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(
	ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil || m == nil {
			return c, err
		}
		return &countedConn{c, &m.bytes}, nil
	}
}
