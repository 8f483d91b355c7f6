package node

import (
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// place finds a place for a newcomer with that subscription set: a free one, where victim is nil, or that of a neighbor
// that gives way. chosen tells that we asked it; where neighbors have been missing for long, any newcomer is as
// welcome.
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
		n.bans.ban(n.now, victim.holder)
		n.dismiss(victim, "its place went to a more useful neighbor")
	}
}

// maxAtBound is how long a neighbor may stand at its bound while others are to be had.
const maxAtBound = 6 * time.Hour

// reviewLink ends links that are not worth keeping: to a neighbor that brought next to nothing of the much that it
// claims, and, while others are to be had, to one that has been at its bound for long.
func (n *Node) reviewLink(l *link) {
	if l.static != "" {
		return
	}
	since, bound := n.accounts.ledger.AtBound(l.holder)
	switch {
	case n.table.Lies(n.now, l.peer) && !n.owing(l):
		n.bans.ban(n.now, l.holder)
		n.punish(l.holder, incentive.SubsetLie, 0)
		if !l.over {
			n.dismiss(l, "it brings nothing of what it claims")
		}
	case bound && !n.config.Incentive.Ablate.KeepAtBound && n.now.Sub(since) >= maxAtBound &&
		n.now.Sub(l.peer.Since) >= maxAtBound &&
		len(l.waiting) > 0 && n.book.Ready(n.now, n.unwanted):
		n.bans.ban(n.now, l.holder)
		n.dismiss(l, "it has owed us for too long")
	}
}

// unwanted reports whether id is none to connect to: it is linked, not callable, or refused.
func (n *Node) unwanted(id protocol.NodeID) bool {
	if n.linkTo(id) != nil || !n.callable(id) {
		return true
	}
	h := n.accounts.ledger.HolderOf(id)
	_, refused := n.accounts.ledger.Refused(n.now, h)
	return refused || n.bans.banned(n.now, h)
}
