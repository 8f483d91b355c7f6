package node

import (
	"net/netip"
	"time"

	"feedex/admission"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/search"
)

// What others may cause within a minute, whatever their accounts say.
const (
	callsAMinute = 600
	bytesAMinute = 64 << 20 // of bundles and adverts
	// strangersCalls is how many calls nodes without a link may make together. Networks share them, as package
	// admission says: a stranger with many addresses keeps nobody away.
	strangersCalls = 600
	// searchAMinute is for how long the archive is searched for one neighbor: a twentieth of a core. Words of one
	// letter with any ending take tenths of a second in an archive of millions, and nothing interrupts them.
	searchAMinute = 3 * time.Second
	// leastSearch is how long one search may take at least.
	leastSearch = 50 * time.Millisecond
	// floodFactor is how many times as many queries as a minute allows are a flood.
	floodFactor = 3
)

// rateLimits counts each neighbor's calls and bytes in the current minute, and the calls of strangers.
type rateLimits struct {
	minute    int64                       // since 1970
	holders   map[incentive.Holder]*usage // without a link: connecting again gains no more
	strangers *admission.Pool[struct{}]   // calls
}

// usage is what a neighbor caused in the current minute. All links of a holder share one. What was
// demanded counts as what it sent: a demand is small, whatever the bundle is.
type usage struct {
	minute                          int64 // since 1970
	calls, bytes, queries, messages int
	demanded                        int // bytes of bundles that were asked for, by either side
	search                          time.Duration
}

func minuteOf(now time.Time) int64 { return now.Unix() / 60 }

func newRateLimits() rateLimits {
	return rateLimits{holders: make(map[incentive.Holder]*usage), strangers: newCalls()}
}

func newCalls() *admission.Pool[struct{}] {
	return admission.NewPool[struct{}](strangersCalls, time.Minute)
}

// rollOver begins a new minute.
func (r *rateLimits) rollOver(now time.Time) {
	if minute := minuteOf(now); minute != r.minute {
		r.minute, r.strangers = minute, newCalls()
		clear(r.holders)
	}
}

// keep remembers the usage of a link that ends.
func (r *rateLimits) keep(now time.Time, l *link) {
	r.rollOver(now)
	r.holders[l.holder] = l.usage
}

// usageOf is the usage of a holder, to whom there may be no link.
func (n *Node) usageOf(h incentive.Holder) *usage {
	n.limits.rollOver(n.now)
	e := n.limits.holders[h]
	if l := n.linkHeldBy(h); l != nil {
		e = l.usage
	} else if e == nil {
		e = new(usage)
		n.limits.holders[h] = e
	}
	e.rollOver(n.now)
	return e
}

// exhausted reports whether a holder caused all that it may in the current minute.
func (n *Node) exhausted(h incentive.Holder) bool { return n.usageOf(h).over() && !n.trusted(h) }

// rollOver begins a new minute.
func (u *usage) rollOver(now time.Time) {
	if minute := minuteOf(now); minute != u.minute {
		*u = usage{minute: minute}
	}
}

func (u *usage) over() bool { return u.floods() || u.bytes+u.demanded > bytesAMinute }

// floods reports whether what the neighbor sent by itself is beyond the limits: nobody is fined for what was asked for.
func (u *usage) floods() bool { return u.calls > callsAMinute || u.bytes > bytesAMinute }

// call counts a call over a link, and reports whether it is beyond the limits, and whether it is the first that floods.
func (u *usage) call(now time.Time, c protocol.Call) (over, first bool) {
	u.rollOver(now)
	before := u.floods()
	u.calls++
	switch c := c.(type) {
	case protocol.PutEntries:
		u.bytes += c.Bundle.WireBytes()
	case protocol.UpdateSubset:
		for _, in := range c.Changes {
			u.bytes += in.WireBytes()
		}
	}
	return u.over(), u.floods() && !before
}

// query counts a query over a link, and reports whether it is beyond the limits, and whether it is the one from
// which on there can be no talk of an oversight.
func (u *usage) query(now time.Time) (over, flood bool) {
	u.rollOver(now)
	u.queries++
	return u.queries > search.PerMinute || u.search > searchAMinute, u.queries == floodFactor*search.PerMinute
}

// cause counts the messages that a neighbor's query causes, and returns how many of them it may.
func (u *usage) cause(now time.Time, messages int) int {
	u.rollOver(now)
	messages = max(0, min(messages, search.MessagesPerMinute-u.messages))
	u.messages += messages
	return messages
}

// searchTime is how long one search for a neighbor may take: half of what is left of its minute. How long that is says
// nothing about how much is searched, so a neighbor that asks seldom is answered by a slow machine too, and one that
// asks for what takes long has less time for each search.
func (u *usage) searchTime(now time.Time) time.Duration {
	u.rollOver(now)
	return max(leastSearch, (searchAMinute-u.search)/2)
}

// searched counts for how long the archive was searched for a neighbor.
func (u *usage) searched(now time.Time, span time.Duration) {
	u.rollOver(now)
	u.search += span
}

// spared takes back messages that were counted and not sent.
func (u *usage) spared(now time.Time, messages int) {
	u.rollOver(now)
	u.messages = max(0, u.messages-messages)
}

// stranger counts a call without a link, and reports whether it is beyond the limits.
func (r *rateLimits) stranger(now time.Time, from netip.Addr) (over bool) {
	r.rollOver(now)
	place, _ := r.strangers.Enter(now, from, 1, struct{}{})
	return place == nil
}

// trusted reports whether the holder is on the owner's own network, which is not held to limits.
func (n *Node) trusted(h incentive.Holder) bool { return n.config.Incentive.TrustLocal && h.Local() }

var errExhausted = protocol.Faultf(protocol.Busy, "more than %d calls or %d bytes within a minute; slow down",
	callsAMinute, bytesAMinute)

// overLimit refuses a call that is beyond what its caller may cause. l is the link that it came over, nil for
// none.
func (n *Node) overLimit(ev Asked, l *link) bool {
	if l == nil {
		if n.trusted(n.accounts.ledger.HolderOf(ev.From)) || !n.limits.stranger(n.now, ev.From.Addr()) {
			return false
		}
		n.refuse(ev, protocol.Faultf(protocol.Busy,
			"too many calls within a minute from nodes that are not linked with this one; try again later"))
		return true
	}
	over, first := l.usage.call(n.now, ev.Call)
	if !over || n.trusted(l.holder) {
		return false
	}
	n.refuse(ev, errExhausted)
	if first {
		n.punish(l.holder, incentive.CallFlood, 0)
	}
	return true
}
