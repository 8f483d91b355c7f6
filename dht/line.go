package dht

import (
	"context"
	crand "crypto/rand"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// alpha is how many questions are under way at a time.
const alpha = 3

// A line is where questions go out and answers come in.
type line struct {
	conn     *net.UDPConn
	patience time.Duration
	waiting  map[string]waiting // by transaction
}

// An ask is a question. ended is called with the answer, or nil for none.
type ask struct {
	to     netip.AddrPort
	method string
	args   dict
	ended  func(*reply)
}

// A waiting is a question that is under way.
type waiting struct {
	ask
	until time.Time
}

// run asks what next says, alpha questions at a time, until there are no more, nor answers that may come, or ctx ends.
// Whatever comes from elsewhere, or answers nothing that was asked there, is dropped.
func (l *line) run(ctx context.Context, next func() (ask, bool)) {
	defer clear(l.waiting)
	defer context.AfterFunc(ctx, func() { l.conn.SetReadDeadline(time.Unix(1, 0)) })()
	buf := make([]byte, maxPacket+1)
	for faults := 0; faults <= maxQuestions; {
		l.expire(time.Now())
		l.send(next)
		if len(l.waiting) == 0 {
			return
		}
		l.conn.SetReadDeadline(l.until())
		if ctx.Err() != nil { // looked at last, or the deadline above might undo the one that the end sets
			return
		}
		n, from, err := l.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil: // some systems tell so of what was sent
			faults++
		case n <= maxPacket:
			l.received(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), buf[:n])
		}
	}
}

// send asks as many questions as may be under way.
func (l *line) send(next func() (ask, bool)) {
	for len(l.waiting) < alpha {
		q, ok := next()
		if !ok {
			return
		}
		var id [4]byte
		crand.Read(id[:])
		if _, err := l.conn.WriteToUDPAddrPort(question(string(id[:]), q.method, q.args), q.to); err != nil {
			q.ended(nil)
			continue
		}
		l.waiting[string(id[:])] = waiting{q, time.Now().Add(l.patience)}
	}
}

// expire gives up what was waited for long enough.
func (l *line) expire(now time.Time) {
	for id, w := range l.waiting {
		if !w.until.After(now) {
			delete(l.waiting, id)
			w.ended(nil)
		}
	}
}

// until is when the first of what is waited for will have been waited for long enough.
func (l *line) until() (first time.Time) {
	for _, w := range l.waiting {
		if first.IsZero() || w.until.Before(first) {
			first = w.until
		}
	}
	return first
}

// received takes in a packet.
func (l *line) received(from netip.AddrPort, packet []byte) {
	asked := false
	for _, w := range l.waiting {
		asked = asked || w.to == from
	}
	if !asked {
		return
	}
	id, r, err := parseReply(packet)
	if w, ok := l.waiting[id]; err == nil && ok && w.to == from {
		delete(l.waiting, id)
		w.ended(&r)
	}
}
