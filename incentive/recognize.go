package incentive

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Anybody makes as many keys as he likes, so a key by itself is worth nothing: until its node has given an entry, what
// it gives and gets is booked with the address at which it is, like that of all other strangers there. From then on the
// key holds an account of its own, which goes with it to other addresses. But who makes one key after another must not
// gain by it, so all nodes at an address together may owe no more than one may, beyond a quarter of what each of them
// gave. A key that has given for a week is settled: what others do at its address is no matter for it.
const (
	// recognized is what a node must have given for its key to hold an account.
	recognized = Entry
	// settledAfter is for how long a key must have held an account to be settled. It must have earned as much as makes
	// an end of probation besides.
	settledAfter = 7 * 24 * time.Hour
	// keyPart is the part of what a key gave that it may owe, whatever others owe at its address: hundreds of homes may
	// share one. Who makes one key after another gains a quarter of what he gives.
	keyPart = 4
	// settledEach is for how many settled keys at an address the strangers there have the credit of one.
	settledEach = 3
)

// Claimed is the holder that a node at id would have if it proved the key k.
func (l *Ledger) Claimed(id protocol.NodeID, k protocol.NodeKey) Holder {
	strangers := l.rules.HolderOf(id)
	a := l.accounts[keyHolder(k)]
	if a == nil || !feed.PublicAddr(id.Addr()) {
		return strangers
	}
	// What it owes must fit at the new address. Who owes more is a stranger there, and has his account at the old one.
	if l.At(a.Holder) != strangers && a.tallied.owed > max(0, l.bound-l.tallies[strangers].owed) {
		return strangers
	}
	return a.Holder
}

// Proved notes that the node at id showed that it has the key k, or that it showed none, the zero key. Call it when a
// link comes about, before anything is booked, and not before: what was not linked is not to move an account.
func (l *Ledger) Proved(now time.Time, id protocol.NodeID, k protocol.NodeKey) {
	h := l.Claimed(id, k)
	a := l.of(h)
	if a == nil || !h.keyed() {
		delete(l.keyed, id)
		return
	}
	if l.keyed[a.At] == h {
		delete(l.keyed, a.At)
	}
	l.keyed[id], a.At = h, id
	l.count(now, a)
	l.touch(a)
}

// Recognize gives the key that the node at id proved an account of its own, if the node has given enough, and reports
// whether it did. given and got are what was booked with the address for that node, and deficit what it owes by that:
// they go over.
func (l *Ledger) Recognize(now time.Time, id protocol.NodeID, k protocol.NodeKey, given, got, deficit Credit) bool {
	h, at := keyHolder(k), l.of(l.rules.HolderOf(id))
	if k.IsZero() || at == nil || l.accounts[h] != nil || !feed.PublicAddr(id.Addr()) {
		return false
	}
	given, got = min(given, at.Given), min(got, at.Got)
	if got < recognized {
		return false
	}
	deficit = min(max(deficit, min(0, at.Deficit)), max(0, at.Deficit)) // what is there of it
	at.Given, at.Got = at.Given-given, at.Got-got
	l.book(now, at, -deficit)
	a := l.meet(now, h)
	a.At, a.Given, a.Got = id, given, got
	l.keyed[id] = h
	l.book(now, a, deficit)
	return true
}

// Net is what a node owes that owed deficit before, after by more: within the limits of an account.
func (l *Ledger) Net(deficit, by Credit) Credit { return min(max(deficit+by, -l.bound), l.debt) }

// Settled reports whether h is a key that has given for a week, owes no more than it may by that, and is not refused.
func (l *Ledger) Settled(now time.Time, h Holder) bool {
	a := l.of(h)
	return a != nil && l.settled(now, a)
}

func (l *Ledger) settled(now time.Time, a *account) bool {
	return a.Holder.keyed() && a.Got >= proven && now.Sub(a.Since) >= l.rules.SettledAfter &&
		a.Deficit <= a.Got/keyPart && !a.Standing.refused(now)
}

// At is the holder of the accounts of strangers at the address where h is: h itself, unless it is a key.
func (l *Ledger) At(h Holder) Holder {
	if a := l.of(h); a != nil && h.keyed() {
		return l.rules.HolderOf(a.At)
	}
	return h
}

// Party is whose caps and quotas hold for h: the address where it is, if it is a key that is not settled. Or each new
// key would have some of its own.
func (l *Ledger) Party(h Holder) Holder {
	if a := l.of(h); a != nil && a.tallied.settled > 0 {
		return h
	}
	return l.At(h)
}

// An addressTally is what is known of all accounts of nodes at one address.
type addressTally struct {
	owed    Credit // by those that are not settled, beyond what each of them earned
	settled int
}

// A tallied is what an account counts in the tally of the address where it is.
type tallied struct {
	at Holder
	addressTally
}

// count brings the tallies up to date after a change of the account, or of the time.
func (l *Ledger) count(now time.Time, a *account) {
	l.discount(a)
	a.tallied.at = l.At(a.Holder)
	if l.settled(now, a) {
		a.tallied.settled = 1
	} else {
		a.tallied.owed = max(0, a.Deficit-a.earned())
	}
	t := l.tallies[a.tallied.at]
	l.tallies[a.tallied.at] = addressTally{t.owed + a.tallied.owed, t.settled + a.tallied.settled}
}

// discount takes an account out of the tallies.
func (l *Ledger) discount(a *account) {
	t := l.tallies[a.tallied.at]
	t.owed, t.settled = t.owed-a.tallied.owed, t.settled-a.tallied.settled
	if l.tallies[a.tallied.at] = t; t == (addressTally{}) {
		delete(l.tallies, a.tallied.at)
	}
	a.tallied = tallied{}
}

// mayOwe is the largest deficit that the account of h may have, nil where it has none: what one node may owe, less what
// others owe that are not settled at the same address.
func (l *Ledger) mayOwe(h Holder, a *account) Credit {
	var own tallied
	var got, earned Credit
	if a != nil {
		own, got, earned = a.tallied, a.Got, min(l.bound, a.earned())
	}
	if own.settled > 0 {
		return earned
	}
	t, stranger := l.tallies[l.At(h)], Credit(0)
	if !h.keyed() {
		stranger = l.rules.StrangerLimit * Credit(max(1, t.settled/settledEach))
	}
	return max(0, earned, min(l.bound, stranger+got, earned+l.bound-t.owed+own.owed))
}

// earned is what the node of a key may owe whatever others do at its address: a part of what it gave.
func (a *account) earned() Credit {
	if !a.Holder.keyed() {
		return 0
	}
	return a.Got / keyPart
}
