package core

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Ask calls a neighbor and has f called with the answer, unless the link is over by then.
func (c *Core) Ask(l *Link, what protocol.Call, timeout time.Duration, f func(Answered)) {
	c.begin(l, Call{To: Target{Node: l.ID()}, Call: what, Session: l.Token, Timeout: timeout}, f)
}

// AnsweredBy takes in how a call to a neighbor ended, and has f called unless the link is over. Failures
// count against the neighbor: it is declared gone after a few in a row.
func (c *Core) AnsweredBy(l *Link, a Answered, f func(Answered)) {
	if l.Over {
		return
	}
	if a.Err == nil {
		l.Heard, l.Failures = c.Now, 0
		l.RTT = smooth(l.RTT, a.RTT)
		l.Peer.RTT, l.Peer.Failures = l.RTT, 0
		f(a)
		return
	}
	l.LastError = a.Err.Error()
	if c.Failed(l, a); !l.Over {
		f(a)
	}
}

// CodeOf is the code of the fault that a call ended with, 0 where it did not end with a fault.
func CodeOf(err error) protocol.Code {
	var refused *protocol.RemoteError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// smooth is the running mean of round trips (RFC 6298 §2.3, alpha 1/8).
func smooth(mean, sample time.Duration) time.Duration {
	if mean == 0 {
		return sample
	}
	return mean + (sample-mean)/8
}

// An openCall is a call that has not ended.
type openCall struct {
	id       uint64
	link     *Link // that it was made over, nil for none
	answered func(Answered)
}

// Call asks to and has f called when the call ends.
func (c *Core) Call(to Target, session string, what protocol.Call, timeout time.Duration, f func(Answered)) {
	c.begin(nil, Call{To: to, Call: what, Session: session, Timeout: timeout}, f)
}

// Reverse opens a reverse link to a node, and has f called when there is one, or why there is not.
func (c *Core) Reverse(to protocol.NodeID, f func(error)) {
	c.lastID++
	c.open = append(c.open, openCall{c.lastID, nil, func(a Answered) { f(a.Err) }})
	c.Do(Reverse{ID: c.lastID, To: to, Timeout: CallTimeout})
}

// begin makes a call, over a link where that is not nil, and has f called when it ends.
func (c *Core) begin(l *Link, call Call, f func(Answered)) {
	c.lastID++
	c.open = append(c.open, openCall{c.lastID, l, f})
	call.ID = c.lastID
	c.Do(call)
}

// Answered ends the call of which ev tells.
func (c *Core) Answered(ev Answered) {
	i, ok := slices.BinarySearchFunc(c.open, ev.ID, func(o openCall, id uint64) int { return cmp.Compare(o.id, id) })
	if !ok {
		return // of an earlier life of this node
	}
	call := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	if ev.Err != nil {
		c.Counters.CallsFailed++
	}
	if call.link != nil {
		c.AnsweredBy(call.link, ev, call.answered)
	} else {
		call.answered(ev)
	}
}

// Searched ends the search of which ev tells.
func (c *Core) Searched(ev Searched) {
	then := c.sought[ev.ID]
	if then == nil {
		return
	}
	delete(c.sought, ev.ID)
	then(ev)
}

// SearchFor looks through the archive for so long, and has then called with what is found.
func (c *Core) SearchFor(f feed.Filter, most time.Duration, then func(Searched)) {
	c.lastID++
	c.sought[c.lastID] = then
	c.Do(Search{ID: c.lastID, Filter: f, Time: most})
}
