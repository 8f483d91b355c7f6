package node

import (
	"net/netip"
	"time"

	"feedex/admission"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/search"
)

// Limits of what others may put us to within a minute, whatever their accounts say.
const (
	callsAMinute = 600
	bytesAMinute = 64 << 20 // of bundles and adverts
	// strangersCalls is how many calls those may make together who have no link. Networks share them, as package
	// admission says: whoever has many addresses keeps nobody away.
	strangersCalls = 600
	// searchAMinute is for how long the archive is searched for one neighbor: a twentieth of a core. Words of one letter
	// with any ending take tenths of a second in an archive of millions, and nothing interrupts them.
	searchAMinute = 3 * time.Second
	// leastSearch is how long one search may take at least.
	leastSearch = 50 * time.Millisecond
	// floodFactor is how many times as many queries as a minute allows are a flood.
	floodFactor = 3
)

// exposure counts what others put us to within a minute.
type exposure struct {
	minute    int64                        // since 1970
	holders   map[incentive.Holder]*effort // of whom there was no link, or it ended: who connects again has no more of it
	strangers *admission.Pool[struct{}]    // calls
}

// effort is what a neighbor puts us to within a minute. All links of a holder share one. Of the bytes count those that it
// sends, those that it is asked for and those that it asks for: a demand is small, whatever the bundle is.
type effort struct {
	minute                          int64 // since 1970
	calls, bytes, queries, messages int
	search                          time.Duration
}

func minuteOf(now time.Time) int64 { return now.Unix() / 60 }

func newExposure() exposure {
	return exposure{holders: make(map[incentive.Holder]*effort), strangers: newCalls()}
}

func newCalls() *admission.Pool[struct{}] {
	return admission.NewPool[struct{}](strangersCalls, time.Minute)
}

// turn begins a new minute.
func (x *exposure) turn(now time.Time) {
	if minute := minuteOf(now); minute != x.minute {
		x.minute, x.strangers = minute, newCalls()
		clear(x.holders)
	}
}

// part remembers what a link put us to that ends.
func (x *exposure) part(now time.Time, l *link) {
	x.turn(now)
	x.holders[l.holder] = l.effort
}

// effortOf is what a holder, to whom there may be no link, put us to within this minute.
func (n *Node) effortOf(h incentive.Holder) *effort {
	n.load.turn(n.now)
	e := n.load.holders[h]
	if l := n.linkHeldBy(h); l != nil {
		e = l.effort
	} else if e == nil {
		e = new(effort)
		n.load.holders[h] = e
	}
	e.turn(n.now)
	return e
}

// exhausted reports whether a holder put us to all that it may within this minute.
func (n *Node) exhausted(h incentive.Holder) bool { return n.effortOf(h).over() && !n.trusted(h) }

// turn begins a new minute.
func (e *effort) turn(now time.Time) {
	if minute := minuteOf(now); minute != e.minute {
		*e = effort{minute: minute}
	}
}

func (e *effort) over() bool { return e.calls > callsAMinute || e.bytes > bytesAMinute }

// call counts a call over a link, and reports whether it is beyond the limits, and whether it is the first that is.
func (e *effort) call(now time.Time, c protocol.Call) (over, first bool) {
	e.turn(now)
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
func (e *effort) query(now time.Time) (over, flood bool) {
	e.turn(now)
	e.queries++
	return e.queries > search.PerMinute || e.search > searchAMinute, e.queries == floodFactor*search.PerMinute
}

// cause counts the messages that a neighbor's query causes, and returns how many of them it may.
func (e *effort) cause(now time.Time, messages int) int {
	e.turn(now)
	messages = max(0, min(messages, search.MessagesPerMinute-e.messages))
	e.messages += messages
	return messages
}

// searchTime is how long one search for a neighbor may take: half of what is left of its minute. How long that is says
// nothing about how much is searched, so who asks seldom is answered by a slow machine too, and who asks for what
// takes long has less time for each search.
func (e *effort) searchTime(now time.Time) time.Duration {
	e.turn(now)
	return max(leastSearch, (searchAMinute-e.search)/2)
}

// searched counts for how long the archive was searched for a neighbor.
func (e *effort) searched(now time.Time, span time.Duration) {
	e.turn(now)
	e.search += span
}

// spared takes back messages that were counted and not sent.
func (e *effort) spared(now time.Time, messages int) {
	e.turn(now)
	e.messages = max(0, e.messages-messages)
}

// stranger counts a call without a link, and reports whether it is beyond the limits.
func (x *exposure) stranger(now time.Time, from netip.Addr) (over bool) {
	x.turn(now)
	place, _ := x.strangers.Enter(now, from, 1, struct{}{})
	return place == nil
}

// trusted reports whether the holder is on the owner's own network, which is not held to limits.
func (n *Node) trusted(h incentive.Holder) bool { return n.config.Incentive.TrustLocal && h.Local() }

var errExhausted = protocol.Faultf(protocol.Busy, "more than %d calls or %d bytes within a minute; slow down", callsAMinute, bytesAMinute)

// tooMuch refuses a call that is beyond what its caller may put us to. l is the link that it came over, nil for
// none.
func (n *Node) tooMuch(ev Asked, l *link) bool {
	if l == nil {
		if n.trusted(n.dues.ledger.HolderOf(ev.From)) || !n.load.stranger(n.now, ev.From.Addr()) {
			return false
		}
		n.refuse(ev, protocol.Faultf(protocol.Busy, "too many calls within a minute from nodes that are not linked with this one; try again later"))
		return true
	}
	over, first := l.effort.call(n.now, ev.Call)
	if !over || n.trusted(l.holder) {
		return false
	}
	n.refuse(ev, errExhausted)
	if first {
		n.punish(l.holder, incentive.CallFlood, 0)
	}
	return true
}
