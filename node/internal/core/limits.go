package core

import (
	"net/netip"
	"time"

	"feedex/admission"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/search"
)

// Limits to what others may cause within a minute, whatever their accounts say.
const (
	// CallsAMinute is how many calls a neighbor may make, and all nodes without a link together. Networks share the
	// latter, as package admission says: a stranger with many addresses keeps nobody away.
	CallsAMinute = 600
	BytesAMinute = 64 << 20 // of bundles and adverts
	// SearchAMinute is for how long the archive is searched for one neighbor: a twentieth of a core. Words of one
	// letter with any ending take tenths of a second in an archive of millions, and nothing interrupts them.
	SearchAMinute = 3 * time.Second
	// LeastSearch is how long one search may take at least.
	LeastSearch = 50 * time.Millisecond
	// floodFactor is how many times as many queries as a minute allows are a flood.
	floodFactor = 3
)

// RateLimits counts each neighbor's calls and bytes in the current minute, and the calls of strangers.
type RateLimits struct {
	minute    int64                           // since 1970
	Holders   map[incentive.Holder]*Usage     // of parties without a link: connecting again gains no more
	Strangers *admission.SharedPool[struct{}] // calls
}

// Usage counts the work that a neighbor caused in the current minute. All links of a holder share one. Demanded bundles
// count as if it had sent them: a demand is small, whatever the bundle is.
type Usage struct {
	minute                          int64 // since 1970
	calls, bytes, queries, messages int
	Demanded                        int // bytes of bundles that were asked for, by either side
	search                          time.Duration
}

// MinuteOf is the minute of a time, since 1970.
func MinuteOf(now time.Time) int64 { return now.Unix() / 60 }

// NewRateLimits returns limits of a minute in which nobody did anything.
func NewRateLimits() RateLimits {
	return RateLimits{Holders: make(map[incentive.Holder]*Usage), Strangers: newCalls()}
}

func newCalls() *admission.SharedPool[struct{}] {
	return admission.NewSharedPool[struct{}](CallsAMinute, time.Minute)
}

// rollOver begins a new minute.
func (r *RateLimits) rollOver(now time.Time) {
	if minute := MinuteOf(now); minute != r.minute {
		r.minute, r.Strangers = minute, newCalls()
		clear(r.Holders)
	}
}

// KeepUsage remembers the usage of a link that ends.
func (c *Core) KeepUsage(l *Link) {
	c.Limits.rollOver(c.Now)
	c.Limits.Holders[c.Ledger.Party(l.Holder)] = l.Usage
}

// linkOfParty is a link whose caps are those of h, nil where there is none.
func (c *Core) linkOfParty(h incentive.Holder) *Link {
	for _, l := range c.Links {
		if c.Ledger.Party(l.Holder) == h {
			return l
		}
	}
	return nil
}

// UsageOf is the usage of a holder, to whom there may be no link.
func (c *Core) UsageOf(h incentive.Holder) *Usage {
	c.Limits.rollOver(c.Now)
	h = c.Ledger.Party(h)
	e := c.Limits.Holders[h]
	if l := c.linkOfParty(h); l != nil {
		e = l.Usage
	} else if e == nil {
		e = new(Usage)
		c.Limits.Holders[h] = e
	}
	e.rollOver(c.Now)
	return e
}

// Exhausted reports whether a holder caused all that it may in the current minute.
func (c *Core) Exhausted(h incentive.Holder) bool { return c.UsageOf(h).over() && !c.Trusted(h) }

// rollOver begins a new minute.
func (u *Usage) rollOver(now time.Time) {
	if minute := MinuteOf(now); minute != u.minute {
		*u = Usage{minute: minute}
	}
}

func (u *Usage) over() bool { return u.floods() || u.bytes+u.Demanded > BytesAMinute }

// floods reports whether what the neighbor sent by itself is beyond the limits: nobody is fined for what was asked for.
func (u *Usage) floods() bool { return u.calls > CallsAMinute || u.bytes > BytesAMinute }

// Call counts a call over a link, and reports whether it is beyond the limits, and whether it is the first that floods.
func (u *Usage) Call(now time.Time, c protocol.Call) (over, first bool) {
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

// Query counts a query over a link, and reports whether it is beyond the limits, and whether it is the one from
// which on there can be no talk of an oversight.
func (u *Usage) Query(now time.Time) (over, flood bool) {
	u.rollOver(now)
	u.queries++
	return u.queries > search.PerMinute || u.search > SearchAMinute, u.queries == floodFactor*search.PerMinute
}

// Cause counts the messages that a neighbor's query causes, and returns how many of them it may.
func (u *Usage) Cause(now time.Time, messages int) int {
	u.rollOver(now)
	messages = max(0, min(messages, search.MessagesPerMinute-u.messages))
	u.messages += messages
	return messages
}

// SearchTime is how long one search for a neighbor may take: half of what is left of its minute. How long that is says
// nothing about how much is searched, so a neighbor that asks seldom is answered by a slow machine too, and one that
// asks for what takes long has less time for each search.
func (u *Usage) SearchTime(now time.Time) time.Duration {
	u.rollOver(now)
	return max(LeastSearch, (SearchAMinute-u.search)/2)
}

// Searched counts for how long the archive was searched for a neighbor.
func (u *Usage) Searched(now time.Time, span time.Duration) {
	u.rollOver(now)
	u.search += span
}

// Spared takes back messages that were counted and not sent.
func (u *Usage) Spared(now time.Time, messages int) {
	u.rollOver(now)
	u.messages = max(0, u.messages-messages)
}

// Stranger counts a call without a link, and reports whether it is beyond the limits.
func (r *RateLimits) Stranger(now time.Time, from netip.Addr) (over bool) {
	r.rollOver(now)
	place, _ := r.Strangers.Enter(now, from, 1, struct{}{})
	return place == nil
}

// ErrExhausted refuses a call of a neighbor that caused all that it may within the minute.
var ErrExhausted = protocol.Faultf(protocol.Busy, "more than %d calls or %d bytes within a minute; slow down",
	CallsAMinute, BytesAMinute)
