package poller

import (
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// pollsHeard are the latest polls of a feed by other nodes, in the order in which those were heard of first. A popular
// feed has a thousand at each of its followers, so that one takes 40 bytes, and they are counted as they come and go.
type pollsHeard struct {
	list  []pollOf
	vias  []via
	most  int       // nodes that are believed of one neighbor
	count int       // nodes that are believed of all
	first time.Time // no poll in the list is earlier
}

// A pollOf is the latest poll of one node.
type pollOf struct {
	origin protocol.NodeID
	signer protocol.NodeID // the name of the key with which it signs; zero while nothing signed told of it
	at     int64           // in Unix nanoseconds by our clock
	behind int64           // how many nanoseconds its clock is behind ours, the way of the news included; 0 if ahead
	via    uint32          // index of the neighbor that named it first, or of the node itself once it is heard to speak
}

// A via is a neighbor that named so many of the nodes in the list; its place is free where that is none.
type via struct {
	id    protocol.NodeID
	named int
}

// find is where the list has the node that polled, -1 where it has not. Who signs is known by the key alone, as a path
// may name anybody, or by an address for which nobody signed yet. A bundle is of the node at that address that has
// polled longest ago: others who are said to be there may not be.
func (p *pollsHeard) find(h *core.PollHeard) int {
	found, signer := -1, h.Signer()
	for i := range p.list {
		one := &p.list[i]
		if !signer.IsZero() && one.signer == signer {
			return i
		}
		if one.origin == h.Origin && (one.signer.IsZero() || h.Notice == nil) &&
			(found < 0 || one.at < p.list[found].at) {
			found = i
		}
	}
	return found
}

// last is when the node at place i polled last.
func (p *pollsHeard) last(i int) time.Time { return time.Unix(0, p.list[i].at) }

// clocksDiffer is by what part of the time that passes a clock may go slower than ours.
const clocksDiffer = 1024

// dated is when the node at place i polled, which was at the time at by the age of a notice, and at so many seconds
// after 1970 by the clock of the node, as it signed: no later after its last poll than by that clock. So an old poll
// can be told as a new one only to who heard of none of that node. No age dates a poll of a clock that is right before
// it was signed: who overstates one does not silence the node later.
func (p *pollsHeard) dated(i int, at time.Time, signed int64) time.Time {
	one := &p.list[i]
	if one.signer.IsZero() {
		return at
	}
	slower := max(at.Sub(p.last(i)), 0) / clocksDiffer
	return when.Earlier(at, time.Unix(signed, one.behind).Add(slower))
}

// hear notes a poll of the node at place i, or of one that the list has not where i is -1, and returns its place.
func (p *pollsHeard) hear(i int, h *core.PollHeard, at time.Time) int {
	if len(p.list) == 0 || at.Before(p.first) {
		p.first = at
	}
	if known := i >= 0; !known || h.Own && p.vias[p.list[i].via].id != h.Via {
		if known {
			p.vias[p.list[i].via].named--
		} else {
			i = len(p.list)
			p.list = append(p.list, pollOf{origin: h.Origin})
		}
		p.list[i].via = p.place(h.Via)
		p.vias[p.list[i].via].named++
		p.recount()
	}
	one := &p.list[i]
	one.at = at.UnixNano()
	if signer := h.Signer(); !signer.IsZero() {
		one.origin, one.signer = h.Origin, signer
		one.behind = max(0, at.Sub(time.Unix(h.Notice.Signature.At, 0)).Nanoseconds())
	}
	return i
}

// place is the index of a neighbor among vias, which may be new.
func (p *pollsHeard) place(id protocol.NodeID) uint32 {
	i := slices.IndexFunc(p.vias, func(one via) bool { return one.id == id && one.named > 0 })
	if i < 0 {
		i = slices.IndexFunc(p.vias, func(one via) bool { return one.named == 0 })
	}
	if i < 0 {
		i = len(p.vias)
		p.vias = append(p.vias, via{})
	}
	p.vias[i].id = id
	return uint32(i)
}

// recount counts who is believed.
func (p *pollsHeard) recount() {
	var room [16]int
	named := room[:0]
	for _, one := range p.vias {
		if one.named > 0 {
			named = append(named, one.named)
		}
	}
	p.most, p.count = mostNamed(named), 0
	for _, n := range named {
		p.count += min(n, p.most)
	}
}

// forget forgets the nodes that polled last before t.
func (p *pollsHeard) forget(t time.Time) {
	if !p.first.Before(t) {
		return
	}
	before, first, length := t.UnixNano(), int64(1<<63-1), len(p.list)
	p.list = slices.DeleteFunc(p.list, func(one pollOf) bool {
		if one.at < before {
			p.vias[one.via].named--
			return true
		}
		first = min(first, one.at)
		return false
	})
	p.first = time.Unix(0, first)
	if len(p.list) < length {
		p.recount()
	}
}

// since are those that polled at t or later.
func (p *pollsHeard) since(t time.Time) *pollsHeard {
	if !p.first.Before(t) {
		return p
	}
	later := *p
	later.list, later.vias = slices.Clone(p.list), slices.Clone(p.vias)
	later.forget(t)
	return &later
}

// believed reports whether the node at place i is among the first that its neighbor named, as many as are believed, of
// those that polled at t or later.
func (p *pollsHeard) believed(i int, t time.Time) bool {
	by, later := p.list[i].via, p.since(t)
	if later.vias[by].named <= later.most {
		return true
	}
	earlier, from := 0, t.UnixNano()
	for _, other := range p.list[:i] {
		if other.via == by && other.at >= from {
			earlier++
		}
	}
	return earlier < later.most
}

// mostNamed is how many nodes are believed of one neighbor to poll the feed, where neighbors named so many each: hardly
// more than three times as many as of the neighbor in the middle. Nodes can be invented, neighbors cannot: while fewer
// than half of them lie, what those may name goes by what the others do. Of two neighbors nobody can tell which lies.
// It sorts what it is given.
func mostNamed(named []int) int {
	if len(named) == 0 {
		return moreNamed
	}
	slices.Sort(named)
	return timesNamed*named[len(named)/2] + moreNamed
}
