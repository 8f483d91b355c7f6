package incentive

import (
	"time"

	"feedex/protocol"
)

const (
	// Quantum is how many entries, by their Weight, anybody gets ahead of us in an exchange at most: what a node gets
	// that does not give.
	Quantum = 20
	// tabLife is how long a tab is kept after it changed.
	tabLife = 24 * time.Hour
	// maxTabs bounds how many there are, and maxAhead how many may be ahead of us at a time: 64 times a Quantum is what
	// all nodes that do not give get of us within a day.
	maxTabs, maxAhead = 1000, 64
)

// Exchanges keeps tabs on nodes that serve us, or somebody for us, while we serve them: "serving one in exchange of
// being served by another" (Paper §3.6). It counts entries by their Weight. Make one with NewExchanges.
//
// Every entry served in exchange is counted by both sides, with one word between them: the node that it is for. S
// serves C as its part of a round in the ring S → C → P → S and says "for P": S notes that C is ahead, C that P is
// behind, whom it serves without more ado. P serves S "for C", and S notes that C is even again. So no node has to be
// believed but the one that just gave.
type Exchanges struct {
	quantum int
	tabs    map[Holder]tab
}

// Weight is the weight in an exchange of an entry that is so many bytes long in an answer: one, and one more for each
// whole protocol.OwedBytes. Most entries count one; a long one is not to be had for a short one.
func Weight(bytes int) int { return 1 + max(bytes, 0)/protocol.OwedBytes }

// A tab is the weight of the entries that one holder got of us in exchanges, less what came in return for it.
type tab struct {
	ahead int             // entries by weight; below zero we owe it some
	by    protocol.NodeID // the node that gave most of what we owe, zero for the holder itself
	at    time.Time       // of the last change
}

// NewExchanges returns Exchanges by the rules of c, in which nobody is ahead of anybody.
func NewExchanges(c Config) *Exchanges {
	return &Exchanges{quantum: c.InForce().Quantum, tabs: make(map[Holder]tab)}
}

// Allowed is how many entries, by weight, may be served to the holder in exchange: what we owe it, and a Quantum more
// where a ring is found, so that something will come in return.
func (x *Exchanges) Allowed(now time.Time, h Holder, ring bool) int {
	x.expire(now)
	ahead := x.tabs[h].ahead
	if !ring || ahead <= 0 && x.ahead() >= maxAhead {
		return max(0, -ahead)
	}
	return max(0, x.quantum-ahead)
}

// By is the node that gave most of what we owe the holder: it is served for that node where no ring is found. Zero is
// the holder itself.
func (x *Exchanges) By(h Holder) protocol.NodeID { return x.tabs[h].by }

// Served counts entries of that weight that the holder was served in exchange.
func (x *Exchanges) Served(now time.Time, h Holder, weight int) {
	x.count(now, h, weight, x.By(h))
}

// Owed counts entries of that weight that by served us for the holder: it is to be served as much. by is zero where
// that is the holder itself.
func (x *Exchanges) Owed(now time.Time, h Holder, by protocol.NodeID, weight int) {
	x.count(now, h, -weight, by)
}

// count changes a tab. Where there is no room for a new one, nobody is any the worse for what is not counted: Allowed
// keeps room for holders that get ahead.
func (x *Exchanges) count(now time.Time, h Holder, weight int, by protocol.NodeID) {
	x.expire(now)
	t, known := x.tabs[h]
	if weight < 0 && -weight <= -t.ahead {
		by = t.by // who gave the larger part: to give little must win nothing that another gave
	}
	if !known && weight < 0 && len(x.tabs) >= maxTabs-maxAhead {
		return
	}
	if x.tabs[h] = (tab{t.ahead + weight, by, now}); x.tabs[h].ahead == 0 {
		delete(x.tabs, h)
	}
}

// ahead is how many holders are ahead of us.
func (x *Exchanges) ahead() (n int) {
	for _, t := range x.tabs {
		if t.ahead > 0 {
			n++
		}
	}
	return n
}

// expire forgets tabs that nobody came back to. A clock that went back forgets them as well.
func (x *Exchanges) expire(now time.Time) {
	for h, t := range x.tabs {
		if now.Sub(t.at).Abs() >= tabLife {
			delete(x.tabs, h)
		}
	}
}
