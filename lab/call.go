package lab

import (
	"context"
	"errors"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// An openCall is a call that has not ended yet.
type openCall struct {
	number   uint32 // tells it from others that have its place later
	from     *Host
	life     uint32 // of from
	id       uint64 // of the node's effect
	to       *Host  // nil for the tracker
	call     protocol.Call
	session  string
	begun    time.Duration
	deadline time.Duration
	bytes    int64         // of the call, and
	answered int64         // of its answer, as on the wire
	held     bool          // it arrived; its answer may come in a later step, and expire is on the queue
	result   node.Answered // once there is one
}

// errRefused is how a call ends whose target's machine runs and whose program does not.
var errRefused = errors.New("connection refused")

// carry takes a call of a host's on its way.
func (w *World) carry(h *Host, c node.Call) {
	w.callCount++
	open := openCall{
		number: w.callCount, from: h, life: h.life, id: c.ID, call: c.Call, session: c.Session,
		begun: w.now, deadline: w.now + c.Timeout,
	}
	to := c.To.Node
	if c.To.Host != "" {
		to, _ = protocol.ParseNodeID(c.To.Host)
	}
	end := trackerEnd
	if c.To.Tracker == "" {
		if open.to = w.byID[to]; open.to == nil { // nobody has that address
			h.Made.count(c.Call, 0)
			w.lose(open)
			return
		}
		end = open.to.index
	}
	w.codec.call(w, &open, c.To)
	h.Made.count(c.Call, open.bytes)
	d, lost := w.delay(h.index, end, 2*uint64(c.ID))
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
func (w *World) lose(c openCall) {
	c.result = node.Answered{ID: c.id, Err: context.DeadlineExceeded}
	w.queue.Add(c.deadline, event{kind: answer, index: w.calls.add(c)})
}

// arrive brings a call to its receiver.
func (w *World) arrive(i int32) {
	c := &w.calls.items[i]
	if c.to == nil {
		w.finish(i, node.Respond{Reply: w.tracker.asked(c.from)})
		return
	}
	to := c.to
	switch to.state {
	case vanished:
		w.lose(w.calls.take(i))
		return
	case stopped:
		d, _ := w.delay(to.index, c.from.index, 2*c.id+1)
		c.result = node.Answered{ID: c.id, Err: errRefused, Unsent: true}
		w.queue.Add(min(w.now+d, c.deadline), event{kind: answer, index: i})
		return
	}
	to.Received.count(c.call, c.bytes)
	if _, ok := c.call.(protocol.ListMethods); ok { // the transport answers it
		w.finish(i, node.Respond{Reply: w.methods})
		return
	}
	number, deadline := c.number, c.deadline
	to.step(node.Asked{From: c.from.ID, Session: c.session, Call: c.call, Tag: uint64(number)<<32 | uint64(i)})
	if c = &w.calls.items[i]; c.number == number && c.result.ID == 0 {
		c.held = true
		w.queue.Add(deadline, event{kind: expire, index: i, life: number})
	}
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
	end := trackerEnd
	if c.to != nil {
		end = c.to.index
	}
	c.result = node.Answered{ID: c.id, Session: r.Session}
	if c.to != nil {
		c.result.Peer = c.to.ID
	}
	if r.Fault != nil {
		c.result.Err = w.codec.fault(w, c, r)
	} else {
		c.result.Reply = w.codec.reply(w, c, r)
	}
	m := methodOf(c.call)
	c.from.Made[m].Bytes += c.answered
	if c.to != nil {
		c.to.Received[m].Bytes += c.answered
	}
	d, lost := w.delay(end, c.from.index, 2*c.id+1)
	at := w.now + d
	if at > c.deadline || lost || w.cut(c.from, c.to) {
		at = c.deadline
		c.result = node.Answered{ID: c.id, Err: context.DeadlineExceeded}
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
	c.from.step(node.Answered{ID: c.id, Err: context.DeadlineExceeded, RTT: w.now - c.begun})
}
