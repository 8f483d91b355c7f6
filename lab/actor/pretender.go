package actor

import (
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Pretender says each minute that it just polled all feeds that it follows, and that so many others did of whom it
// heard, which it invents (row 28 of `feedex lab attacks`). It says so in every other part of a day that is as long as
// onOff, and so do all others: whoever believes them polls at the same time. In all else it is an honest node.
func Pretender(n *node.Node, name string, invented int, onOff time.Duration) Participant {
	p := &pretender{sideCaller: newCaller(n), onOff: onOff}
	p.habit = habit{node: n, change: func(e node.Effect) node.Effect { p.overhears(e); return e }}
	sum := fnv.New32a()
	sum.Write([]byte(name))
	for i := range invented {
		k := sum.Sum32() + uint32(i)*7919
		addr := netip.AddrFrom4([4]byte{byte(60 + k>>16%60), byte(k >> 8), byte(k), 1})
		p.invented = append(p.invented, protocol.NewNodeID(addr, protocol.DefaultPort))
	}
	return p
}

type pretender struct {
	habit
	sideCaller
	onOff    time.Duration
	invented []protocol.NodeID
	next     time.Time // when it lies again
}

// pretendEvery is how often it lies.
const pretendEvery = time.Minute

// Step implements Participant.
func (p *pretender) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !p.answered(ev) {
		dst = p.habit.Step(dst, now, ev)
	}
	if now.Before(p.next) {
		return dst
	}
	p.next = now.Add(pretendEvery)
	if now.UnixNano()/int64(p.onOff)%2 == 1 {
		return dst
	}
	var lies []protocol.Notice
	for _, s := range p.sideCaller.node.Feeds() {
		lies = append(lies, p.lies(s.URL)...)
	}
	for _, to := range p.neighbors() {
		for chunk := range slices.Chunk(lies, protocol.MaxNotices) {
			dst = p.call(dst, to, protocol.Notify{Notices: chunk}, nil)
		}
	}
	return dst
}

// lies are the notices of a feed: its own, and those of whom it invents.
func (p *pretender) lies(u feed.URL) []protocol.Notice {
	list := []protocol.Notice{{Feed: u}}
	for _, id := range p.invented {
		list = append(list, protocol.Notice{Feed: u, Path: []protocol.NodeID{id}})
	}
	return list
}

// Next implements Participant.
func (p *pretender) Next() time.Time {
	if next := p.habit.Next(); !next.IsZero() && next.Before(p.next) {
		return next
	}
	return p.next
}

// Uncoordinated is an honest node of an earlier version: it knows nothing of notices, and nobody tells it of polls.
func Uncoordinated(n *node.Node) Participant { return &uncoordinated{n} }

type uncoordinated struct{ *node.Node }

// Step implements Participant.
func (p *uncoordinated) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if a, ok := ev.(node.Answered); ok {
		if methods, ok := a.Reply.(protocol.Methods); ok {
			a.Reply = slices.DeleteFunc(slices.Clone(methods), func(name string) bool {
				return name == protocol.Notify{}.Method()
			})
			ev = a
		}
	}
	return p.Node.Step(dst, now, ev)
}
