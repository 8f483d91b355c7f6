package node

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/protocol"
)

// stateEvery is how often neighbors hear how they stand; one that comes to its bound hears it at once.
const stateEvery = 2 * time.Hour

// accountOf is how a neighbor stands with us, as we tell it.
func (n *Node) accountOf(l *link) protocol.Account {
	a, _ := n.accounts.ledger.Account(l.holder)
	told := protocol.Account{
		Given: thousandths(a.Given), Got: thousandths(a.Got), Deficit: thousandths(a.Deficit), Bound: -1,
		Waiting: int64(len(l.waiting)),
	}
	if limit := n.accounts.ledger.Limit(l.holder); limit != incentive.MaxCredit {
		told.Bound = thousandths(limit)
	}
	return told
}

func thousandths(c incentive.Credit) int64 {
	const one = int64(incentive.Entry)
	return int64(c)/one*1000 + int64(c)%one*1000/one
}

// stateAccount tells a neighbor how it stands with us, and learns how we stand with it: now and then, and when
// it comes to its bound or leaves it.
func (n *Node) stateAccount(l *link) {
	atBound := len(l.waiting) > 0
	if !l.accounts || n.now.Sub(l.stated) < stateEvery && atBound == l.toldBound {
		return
	}
	l.stated, l.toldBound = n.now, atBound
	n.ask(l, protocol.StateAccount{Account: n.accountOf(l)}, callTimeout, func(a Answered) {
		if ours, ok := a.Reply.(protocol.Account); ok {
			n.noteOurs(l, ours)
		}
	})
}

// askedAccount takes in how we stand with a neighbor, and tells how it stands with us.
func (n *Node) askedAccount(l *link, ev Asked, ours protocol.Account) {
	n.noteOurs(l, ours)
	n.respond(ev, n.accountOf(l))
}

// noteOurs remembers how we stand with a neighbor. A node at its bound with one looks for others, instead of starving.
func (n *Node) noteOurs(l *link, ours protocol.Account) {
	l.ours, l.oursAt = ours, n.now
	if n.starving() {
		n.refillSoon(extraEvery)
	}
}

// starving reports whether at least half of the neighbors keep us at our bound.
func (n *Node) starving() bool {
	at := 0
	for _, l := range n.linked {
		if n.keptShort(l) {
			at++
		}
	}
	return at > 0 && 2*at >= n.table.Len()
}

// keptShort reports whether the neighbor keeps us at our bound, by its word. It repeats that every two hours
// while it is so; a word that was not repeated is out of date.
func (n *Node) keptShort(l *link) bool {
	return l != nil && l.ours.Bound >= 0 && l.ours.Waiting > 0 && n.now.Sub(l.oursAt) < stateEvery+stateEvery/4
}

// owing reports whether a neighbor brings nothing because we owe it: by its word, and by what we know ourselves
// it gave more than it got. One that has no word for it has the bound that most have.
func (n *Node) owing(l *link) bool {
	a, _ := n.accounts.ledger.Account(l.holder)
	owed := 2 * thousandths(a.Got-a.Given)
	if !l.accounts {
		return owed >= usualBound
	}
	return n.keptShort(l) && owed >= max(l.ours.Bound, 1000)
}

// usualBound is how much one may owe a node whose owner chose nothing, in thousandths of an entry.
const usualBound = 10_000

// judgeSubset counts what is wrong with a neighbor's advert against it. The rest of the advert is used.
func (n *Node) judgeSubset(l *link, elements, ignored int) {
	switch {
	case elements+ignored > protocol.MaxSubset:
		n.punish(l.holder, incentive.SubsetFlood, 0)
	case 10*ignored > elements:
		n.punish(l.holder, incentive.BadSubset, 0)
	}
}

// has reports whether a peer's list of methods names the one of c.
func has(methods protocol.Methods, c protocol.Call) bool { return slices.Contains(methods, c.Method()) }
