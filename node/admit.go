package node

import (
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// stayOut is how long a neighbor that gave way to another is not taken back.
	stayOut = time.Hour
	// connectsAnHour is how many connects of one holder an hour are not a storm.
	connectsAnHour = 20
)

// door remembers who was sent away and who knocks too often.
type door struct {
	out    map[incentive.Holder]time.Time // until when they stay out
	hour   int64                          // since 1970, of knocks
	knocks map[incentive.Holder]int
}

func newDoor() door {
	return door{out: make(map[incentive.Holder]time.Time), knocks: make(map[incentive.Holder]int)}
}

// maxDoor bounds what a door remembers.
const maxDoor = 4096

// knocked counts a connect, and reports whether there were too many of this holder within the hour.
func (d *door) knocked(now time.Time, h incentive.Holder) bool {
	if hour := now.Unix() / 3600; hour != d.hour || len(d.knocks) >= maxDoor {
		d.hour = hour
		clear(d.knocks)
	}
	d.knocks[h]++
	return d.knocks[h] > connectsAnHour
}

// shut reports whether the holder was sent away lately.
func (d *door) shut(now time.Time, h incentive.Holder) bool {
	until, ok := d.out[h]
	if ok && !now.Before(until) {
		delete(d.out, h)
		return false
	}
	return ok
}

// send keeps the holder out for a while.
func (d *door) send(now time.Time, h incentive.Holder) {
	if len(d.out) >= maxDoor {
		clear(d.out)
	}
	d.out[h] = now.Add(stayOut)
}

// place finds a place for a newcomer with that subscription set: a free one, where victim is nil, or that
// of a neighbor that gives way. chosen tells that we asked it; where neighbors have been missing for long,
// whoever comes is as welcome.
//
// Paper §3.2: "a node should restrict the number of neighbors within a sustainable level. Since a node
// may have more neighbor candidates than it can sustain, it needs to select 'good' neighbors."
func (n *Node) place(id protocol.NodeID, chosen bool, subset protocol.Subset) (victim *link, ok bool) {
	chosen = chosen || n.short()
	switch n.table.Admit(id, chosen) {
	case nil:
		return nil, true
	case neighbors.ErrFull, neighbors.ErrKept:
		if p := n.table.Replaceable(n.now, id, chosen, subset); p != nil {
			return n.linkOf(p), true
		}
	}
	return nil, false
}

// giveWay dismisses a neighbor in favor of a more useful one.
func (n *Node) giveWay(victim *link) {
	if victim != nil {
		n.door.send(n.now, victim.holder)
		n.dismiss(victim, "its place went to a more useful neighbor")
	}
}

// maxAtBound is how long a neighbor may stand at its bound while others are to be had.
const maxAtBound = 6 * time.Hour

// review ends links that are not worth keeping: to a neighbor that brought next to nothing of the much that it
// claims, and, while others are to be had, to one that has been at its bound for long.
func (n *Node) review(l *link) {
	if l.static != "" {
		return
	}
	since, bound := n.dues.ledger.AtBound(l.holder)
	switch {
	case n.table.Lies(n.now, l.peer) && !n.owing(l):
		n.door.send(n.now, l.holder)
		n.punish(l.holder, incentive.SubsetLie, 0)
		if !l.over {
			n.dismiss(l, "it brings nothing of what it claims")
		}
	case bound && !n.config.Incentive.Ablate.KeepAtBound && n.now.Sub(since) >= maxAtBound && n.now.Sub(l.peer.Since) >= maxAtBound &&
		len(l.waiting) > 0 && n.book.Ready(n.now, n.unwanted):
		n.door.send(n.now, l.holder)
		n.dismiss(l, "it has owed us for too long")
	}
}

// unwanted reports whether id is none to connect to: it is linked, not callable, or refused.
func (n *Node) unwanted(id protocol.NodeID) bool {
	if n.linkTo(id) != nil || !n.callable(id) {
		return true
	}
	h := n.dues.ledger.HolderOf(id)
	_, refused := n.dues.ledger.Refused(n.now, h)
	return refused || n.door.shut(n.now, h)
}
