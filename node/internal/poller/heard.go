package poller

import (
	"slices"
	"time"

	"feedex/protocol"
)

// pollsHeard are the latest polls of a feed by other nodes, in the order in which those were heard of first. A popular
// feed has a thousand at each of its followers, so that one takes 24 bytes, and they are counted as they come and go.
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
	at     int64  // in Unix nanoseconds
	via    uint32 // index of the neighbor that named it first, or of the node itself once it is heard to speak

	refused bool // what counts by it is that its publisher refused
}

// A via is a neighbor that named so many of the nodes in the list; its place is free where that is none.
type via struct {
	id    protocol.NodeID
	named int
}

// find is where the list has a node, -1 where it has not.
func (p *pollsHeard) find(origin protocol.NodeID) int {
	return slices.IndexFunc(p.list, func(one pollOf) bool { return one.origin == origin })
}

// last is when the node at place i polled last.
func (p *pollsHeard) last(i int) time.Time { return time.Unix(0, p.list[i].at) }

// counts reports whether a poll of the node at place i counts: so long after the last one or longer, or sooner where
// that was refused and this was not. Who is refused does not poll soon again, so that the refusal was made up.
func (p *pollsHeard) counts(i int, at time.Time, refused bool, after time.Duration) bool {
	passed := at.Sub(p.last(i))
	return passed >= after || passed > 0 && p.list[i].refused && !refused
}

// hear notes a poll of the node at place i, or of one that the list has not where i is -1, and returns its place.
func (p *pollsHeard) hear(i int, origin, by protocol.NodeID, at time.Time, refused bool) int {
	if len(p.list) == 0 || at.Before(p.first) {
		p.first = at
	}
	if known := i >= 0; !known || by == origin && p.vias[p.list[i].via].id != by {
		if known {
			p.vias[p.list[i].via].named--
		} else {
			i = len(p.list)
			p.list = append(p.list, pollOf{origin: origin})
		}
		p.list[i].via = p.place(by)
		p.vias[p.list[i].via].named++
		p.recount()
	}
	p.list[i].at, p.list[i].refused = at.UnixNano(), refused
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
