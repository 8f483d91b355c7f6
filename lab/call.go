package lab

import (
	"context"
	"errors"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// An inFlightCall is a call that has not ended yet.
type inFlightCall struct {
	number   uint32 // tells it from others that have its place later
	made     node.Call
	from     *Host
	life     uint32 // of from
	to       *Host  // nil for the tracker, and where nobody has the address
	begun    time.Duration
	deadline time.Duration
	bytes    int64         // of the call, and
	answered int64         // of its answer, as on the wire
	coded    bool          // its body is gzip
	held     bool          // it arrived; its answer may come in a later step, and expire is on the queue
	fated    bool          // its Fate is known
	mute     bool          // its answer never arrives
	result   node.Answered // once there is one
}

// receiver is the end of the link at which it arrives.
func (c *inFlightCall) receiver() int {
	if c.to == nil {
		return trackerEnd
	}
	return c.to.index
}

// errRefused is how a call ends whose target's machine runs and whose program does not.
var errRefused = errors.New("connection refused")

// carry takes a call of a host's on its way.
func (w *World) carry(h *Host, c node.Call) {
	w.callCount++
	open := inFlightCall{
		number: w.callCount, made: c, from: h, life: h.life, begun: w.now, deadline: w.now + c.Timeout,
	}
	to := c.To.Node
	if c.To.Host != "" {
		to, _ = protocol.ParseNodeID(c.To.Host)
	}
	if c.To.Tracker == "" {
		open.to = w.byID[to]
		if open.to != nil && to.Hosted() && !open.to.reversed[h] {
			open.result = node.Answered{ID: c.ID, Err: errNoReverse, Unsent: true}
			w.queue.Add(w.now, event{kind: answer, index: w.calls.add(open)})
			return
		}
		if open.to == nil && w.config.Fate == nil { // nobody has that address
			h.Made.count(c.Call, 0)
			w.lose(open)
			return
		}
	}
	w.codec.call(w, &open)
	h.Made.count(c.Call, open.bytes)
	d, lost := w.delay(h.index, open.receiver(), 2*c.ID)
	d += w.sends(h, open.bytes)
	if lost || w.now+d >= open.deadline || w.cut(h, open.to) {
		w.lose(open)
		return
	}
	w.queue.Add(w.now+d, event{kind: arrive, index: w.calls.add(open)})
}

// cut reports whether the network is cut between two ends, nil for the tracker.
func (w *World) cut(a, b *Host) bool {
	return w.divided && a.apart != (b != nil && b.apart)
}

// lose lets a call that is not in the slab end at its timeout.
func (w *World) lose(c inFlightCall) {
	c.result = node.Answered{ID: c.made.ID, Err: context.DeadlineExceeded}
	w.queue.Add(c.deadline, event{kind: answer, index: w.calls.add(c)})
}

// arrive brings a call to its receiver.
func (w *World) arrive(i int32) {
	if !w.fate(i) {
		return
	}
	c := &w.calls.items[i]
	to := c.to
	switch {
	case c.made.To.Tracker != "":
		w.finish(i, node.Respond{Reply: w.tracker.asked(c.from)})
		return
	case to == nil, to.state == vanished:
		w.lose(w.calls.take(i))
		return
	case to.state == stopped:
		w.end(i, node.Answered{Err: errRefused, Unsent: true}, 0)
		return
	}
	to.Received.count(c.made.Call, c.bytes)
	if _, ok := c.made.Call.(protocol.ListMethods); ok { // the transport answers it
		w.finish(i, node.Respond{Reply: w.methods})
		return
	}
	number, deadline := c.number, c.deadline
	from, reversed := c.from.calledAs(to)
	to.step(node.Asked{From: from, Session: c.made.Session, Call: c.made.Call, Reversed: reversed,
		Tag: uint64(number)<<32 | uint64(i)})
	if c = &w.calls.items[i]; c.number == number && c.result.ID == 0 {
		c.held = true
		w.queue.Add(deadline, event{kind: expire, index: i, life: number})
	}
}

// end has call i end without its receiver, so much later than it would.
func (w *World) end(i int32, a node.Answered, late time.Duration) {
	c := &w.calls.items[i]
	d, _ := w.delay(c.receiver(), c.from.index, 2*c.made.ID+1)
	a.ID = c.made.ID
	c.result = a
	w.queue.Add(min(w.now+late+d, c.deadline), event{kind: answer, index: i})
}

// respond takes an answer of a host's on its way.
func (w *World) respond(r node.Respond) {
	i := int32(r.Tag & 0xffffffff)
	if c := &w.calls.items[i]; c.number != uint32(r.Tag>>32) || c.result.ID != 0 {
		return // its time was over
	}
	w.finish(i, r)
}

// finish sends the answer to call i back.
func (w *World) finish(i int32, r node.Respond) {
	c := &w.calls.items[i]
	c.result = node.Answered{ID: c.made.ID, Session: r.Session}
	if c.to != nil {
		c.result.Peer = c.to.ID
	}
	if r.Fault != nil {
		c.result.Err = w.codec.fault(w, c, r)
	} else {
		c.result.Reply = w.codec.reply(w, c, r)
	}
	m := methodOf(c.made.Call)
	c.from.Made[m].Bytes += c.answered
	if c.to != nil {
		c.to.Received[m].Bytes += c.answered
	}
	d, lost := w.delay(c.receiver(), c.from.index, 2*c.made.ID+1)
	at := w.now + w.sends(c.to, c.answered) + d
	if at > c.deadline || lost || c.mute || w.cut(c.from, c.to) {
		at = c.deadline
		c.result = node.Answered{ID: c.made.ID, Err: context.DeadlineExceeded}
	}
	if c.held {
		w.calls.items[i].number = 0 // expire is void
	}
	c.result.RTT = at - c.begun
	w.queue.Add(at, event{kind: answer, index: i})
}

// answered brings the answer to call i to its caller.
func (w *World) answered(i int32) {
	c := w.calls.take(i)
	if c.from.life != c.life || c.from.state != running {
		return
	}
	c.result.RTT = w.now - c.begun
	c.from.step(c.result)
}

// expired ends call i, unless it was answered.
func (w *World) expired(i int32, number uint32) {
	if c := &w.calls.items[i]; c.number != number || c.result.ID != 0 {
		return
	}
	c := w.calls.take(i)
	if c.from.life != c.life || c.from.state != running {
		return
	}
	c.from.step(node.Answered{ID: c.made.ID, Err: context.DeadlineExceeded, RTT: w.now - c.begun})
}
