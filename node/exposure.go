package node

import (
	"net/netip"
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
	"feedex/search"
)

// Limits of what others may put us to within a minute, whatever their accounts say.
const (
	callsAMinute = 600
	bytesAMinute = 64 << 20 // of bundles and adverts
	// strangerCalls is how many calls one network may make without a link, or one holder of a local address,
	// and strangersCalls how many all of them together. A holder would be too little: whoever has an IPv6 /56
	// is as many as it takes to keep everybody else away.
	strangerCalls  = 60
	strangersCalls = 600
	// searchAMinute is for how long the archive is searched for one neighbor: a twentieth of a core. Words of one letter
	// with any ending take tenths of a second in an archive of millions, and nothing interrupts them.
	searchAMinute = 3 * time.Second
	// leastSearch is how long one search may take at least.
	leastSearch = 50 * time.Millisecond
	// floodFactor is how many times as many queries as a minute allows are a flood.
	floodFactor = 3
)

// exposure counts what others put us to within a minute. It belongs to holders and not to links: who connects
// again has no more of it.
type exposure struct {
	minute    int64 // since 1970
	neighbors map[incentive.Holder]*effort
	strangers map[origin]int // calls; no more origins than calls are answered
	calls     int            // of all strangers
}

// An origin is where strangers call from: a network or, where it is local, a holder.
type origin struct {
	network netip.Prefix
	local   incentive.Holder
}

func originOf(id protocol.NodeID) origin {
	if h := incentive.HolderOf(id); h.Local() {
		return origin{local: h}
	}
	return origin{network: neighbors.Network(id.Addr())}
}

// effort is what one neighbor puts us to.
type effort struct {
	calls, bytes, queries, messages int
	search                          time.Duration
}

func (e effort) over() bool { return e.calls > callsAMinute || e.bytes > bytesAMinute }

func newExposure() exposure {
	return exposure{neighbors: make(map[incentive.Holder]*effort), strangers: make(map[origin]int)}
}

// turn begins a new minute.
func (x *exposure) turn(now time.Time) {
	if minute := now.Unix() / 60; minute != x.minute {
		x.minute, x.calls = minute, 0
		clear(x.neighbors)
		clear(x.strangers)
	}
}

// effort is what a neighbor put us to within this minute.
func (x *exposure) effort(now time.Time, h incentive.Holder) *effort {
	x.turn(now)
	e := x.neighbors[h]
	if e == nil {
		e = new(effort)
		x.neighbors[h] = e
	}
	return e
}

// neighbor counts a call over a link, and reports whether it is beyond the limits, and whether it is the first
// that is.
func (x *exposure) neighbor(now time.Time, h incentive.Holder, c protocol.Call) (over, first bool) {
	e := x.effort(now, h)
	before := e.over()
	e.calls++
	switch c := c.(type) {
	case protocol.PutEntries:
		e.bytes += c.Bundle.WireBytes()
	case protocol.UpdateSubset:
		for _, in := range c.Changes {
			e.bytes += in.WireBytes()
		}
	}
	return e.over(), e.over() && !before
}

// query counts a query over a link, and reports whether it is beyond the limits, and whether it is the one from
// which on there can be no talk of an oversight.
func (x *exposure) query(now time.Time, h incentive.Holder) (over, flood bool) {
	e := x.effort(now, h)
	e.queries++
	return e.queries > search.PerMinute || e.search > searchAMinute, e.queries == floodFactor*search.PerMinute
}

// cause counts the messages that a neighbor's query causes, and returns how many of them it may.
func (x *exposure) cause(now time.Time, h incentive.Holder, messages int) int {
	e := x.effort(now, h)
	messages = max(0, min(messages, search.MessagesPerMinute-e.messages))
	e.messages += messages
	return messages
}

// searchTime is how long one search for a neighbor may take: half of what is left of its minute. How long that is says
// nothing about how much is searched, so who asks seldom is answered by a slow machine too, and who asks for what
// takes long has less time for each search.
func (x *exposure) searchTime(now time.Time, h incentive.Holder) time.Duration {
	return max(leastSearch, (searchAMinute-x.effort(now, h).search)/2)
}

// searched counts for how long the archive was searched for a neighbor.
func (x *exposure) searched(now time.Time, h incentive.Holder, span time.Duration) {
	x.effort(now, h).search += span
}

// spared takes back messages that were counted and not sent.
func (x *exposure) spared(now time.Time, h incentive.Holder, messages int) {
	e := x.effort(now, h)
	e.messages = max(0, e.messages-messages)
}

// stranger counts a call without a link, and reports whether it is beyond the limits. asked tells that we wait
// for an answer of the caller: then the calls of all the others do not keep it away.
func (x *exposure) stranger(now time.Time, from origin, asked bool) (over bool) {
	x.turn(now)
	if x.strangers[from] >= strangerCalls || x.calls >= strangersCalls && !asked {
		return true
	}
	x.strangers[from]++
	x.calls++
	return false
}

// trusted reports whether the holder is on the owner's own network, which is not held to limits.
func (n *Node) trusted(h incentive.Holder) bool { return n.config.Incentive.TrustLocal && h.Local() }

// tooMuch refuses a call that is beyond what its caller may put us to. l is the link that it came over, nil for
// none.
func (n *Node) tooMuch(ev Asked, l *link) bool {
	if l == nil {
		if !n.load.stranger(n.now, originOf(ev.From), n.asking(ev.From)) || n.trusted(n.dues.ledger.HolderOf(ev.From)) {
			return false
		}
		n.refuse(ev, protocol.Faultf(protocol.Busy, "too many calls within a minute from nodes that are not linked with this one; try again later"))
		return true
	}
	over, first := n.load.neighbor(n.now, l.holder, ev.Call)
	if !over || n.trusted(l.holder) {
		return false
	}
	n.refuse(ev, protocol.Faultf(protocol.Busy, "more than %d calls or %d bytes within a minute; slow down", callsAMinute, bytesAMinute))
	if first {
		n.punish(l.holder, incentive.CallFlood, 0)
	}
	return true
}
