package poller

import (
	"iter"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// pollsHeard are the latest polls of a feed by other nodes. A popular feed has a thousand at each of its followers, so
// that one takes 72 bytes.
type pollsHeard []pollOf

// A pollOf is the latest polls of one node.
type pollOf struct {
	origin protocol.NodeID
	signer protocol.NodeID // the name of the key with which it signs; zero while nothing signed told of it
	via    protocol.NodeID // the neighbor that named it first, or the node itself once it is heard to speak
	at     int64           // the latest of which it told itself, in Unix nanoseconds by our clock
	said   int64           // the latest by bundles that others brought
	behind int64           // how many nanoseconds its clock is behind ours, the way of the news included; 0 if ahead
	// answered are the latest two that its publisher answered, in Unix nanoseconds: no later than they were, as far as
	// the node signed when that was. They are zero where none was heard of.
	answered    [2]int64
	own         bool // it is a neighbor that told of its polls itself
	disregarded bool // its polls move nothing
}

// find is where the list has the node that polled, -1 where it has not. Who signs is known by the key alone, as a path
// may name anybody, or by an address for which nobody signed yet. A bundle is of the neighbor that brings it as its
// own, and else of the node at that address that has polled longest ago: others who are said to be there may not be.
func (p pollsHeard) find(h *core.PollHeard) int {
	found, signer := -1, h.Signer()
	for i := range p {
		one := &p[i]
		if !signer.IsZero() && one.signer == signer || h.Own && h.Notice == nil && one.own && one.origin == h.Origin {
			return i
		}
		if one.origin == h.Origin && (one.signer.IsZero() || h.Notice == nil) &&
			(found < 0 || one.last().Before(p[found].last())) {
			found = i
		}
	}
	return found
}

// room reports whether there is a place for one more node: that of one that is disregarded where the list is full.
func (p pollsHeard) room() bool { return len(p) < maxPollers || p.disregarded() >= 0 }

// disregarded is where the list has a node that is, -1 where it has none.
func (p pollsHeard) disregarded() int {
	return slices.IndexFunc(p, func(one pollOf) bool { return one.disregarded })
}

// hear notes a poll of the node at place i, or of one that the list has not but has room for where i is -1, and returns
// its place. It is now by our clock.
func (p *pollsHeard) hear(i int, h *core.PollHeard, at, now time.Time) int {
	if i < 0 {
		if i = len(*p); i >= maxPollers {
			i = p.disregarded()
		} else {
			*p = append(*p, pollOf{})
		}
		(*p)[i] = pollOf{origin: h.Origin, via: h.Via}
	}
	one := &(*p)[i]
	switch {
	case !h.Itself():
		one.said = at.UnixNano()
		if one.speaks() {
			return i // what others say of it is not held against it
		}
	case !one.speaks():
		one.answered = [2]int64{}
		fallthrough
	default:
		one.at = at.UnixNano()
	}
	if h.Own {
		one.via, one.own = h.Via, true
	}
	if !h.Refused {
		one.answered = [...]int64{at.UnixNano(), one.answered[0]}
		if h.Notice != nil && h.Notice.Signed() { // who overstates its age makes it miss nothing
			signed := when.Earlier(time.Unix(h.Notice.Signature.At, 0), now)
			one.answered[0] = max(at.UnixNano(), signed.UnixNano())
		}
	}
	if signer := h.Signer(); !signer.IsZero() {
		one.origin, one.signer = h.Origin, signer
		one.behind = max(0, at.Sub(time.Unix(h.Notice.Signature.At, 0)).Nanoseconds())
	}
	return i
}

// forget forgets the nodes that polled last before t.
func (p *pollsHeard) forget(t time.Time) {
	*p = slices.DeleteFunc(*p, func(one pollOf) bool { return one.last().Before(t) })
}

// believed are those that are not disregarded and polled at t or later.
func (p pollsHeard) believed(t time.Time) iter.Seq[*pollOf] {
	return func(yield func(*pollOf) bool) {
		for i := range p {
			if one := &p[i]; !one.last().Before(t) && !one.disregarded && !yield(one) {
				return
			}
		}
	}
}

// name is by what it is known what the node's polls are worth: by its key, so that nobody speaks for it.
func (one *pollOf) name() protocol.NodeID {
	if one.signer.IsZero() {
		return one.origin
	}
	return one.signer
}

// last is when the node polled last, by whoever tells.
func (one *pollOf) last() time.Time { return time.Unix(0, max(one.at, one.said)) }

// lastBefore is when the node polled last, as far as that has others taken for the same poll: what it tells itself
// stands beside what bundles say that others brought, as anybody can write any name into a path.
func (one *pollOf) lastBefore(h *core.PollHeard) time.Time {
	if h.Itself() {
		return time.Unix(0, one.at)
	}
	return one.last()
}

// speaks reports whether the node has told of polls itself.
func (one *pollOf) speaks() bool { return one.own || !one.signer.IsZero() }

// clocksDiffer is by what part of the time that passes a clock may go slower than ours.
const clocksDiffer = 1024

// dated is when the node polled, which was at the time at by the age of a notice, and at so many seconds after 1970 by
// the clock of the node, as it signed: no later after its last poll than by that clock. So an old poll can be told as a
// new one only to who heard of none of that node. No age dates a poll of a clock that is right before it was signed:
// who overstates one does not silence the node later.
func (one *pollOf) dated(at time.Time, signed int64) time.Time {
	if one.signer.IsZero() {
		return at
	}
	slower := max(at.Sub(time.Unix(0, one.at)), 0) / clocksDiffer
	return when.Earlier(at, time.Unix(signed, one.behind).Add(slower))
}
