package incentive

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Anybody makes as many keys as he likes, so a key by itself is worth nothing: until its node has given an entry, what
// it gives and gets is booked with the address at which it is, like that of all other strangers there. From then on the
// key holds an account of its own, which goes with it to other addresses. But who makes one key after another must not
// gain by it, so all nodes at an address together may owe no more than one may. There each bundle counts once: it is
// worth no more to a machine with several keys, and all of many homes want it. A key that has given for a week is
// settled: what others do at its address is no matter for it.
const (
	// recognized is what a node must have given for its key to hold an account.
	recognized = Entry
	// settledAfter is for how long a key must have held an account to be settled. It must have earned as much as makes
	// an end of probation besides.
	settledAfter = 7 * 24 * time.Hour
	// keyPart is the part of what a settled key gave that it may owe. Who has one key after another settle gains a
	// quarter of what he gives.
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
	if l.At(a.Holder) != strangers && a.tallied.settled == 0 && a.owed() > max(0, l.bound-l.owedAt(strangers)) {
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

// Remember has the key of a node that cannot be dialled hold an account of its own, whatever the node gave: by that
// others name it on paths, where it is to be known for what it did. Its address answers for it as before.
func (l *Ledger) Remember(now time.Time, id protocol.NodeID) {
	h := HolderOf(id.Name())
	if !id.Hosted() || l.accounts[h] != nil || !feed.PublicAddr(id.Addr()) {
		return
	}
	a := l.meet(now, h)
	l.keyed[id], a.At = h, id
	l.count(now, a)
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

// keysAt is how many keys with accounts are at an address.
type keysAt struct{ young, settled int }

// A tallied is where an account counts as what.
type tallied struct {
	at Holder // of the strangers at its address
	keysAt
}

// count notes where the account is, and whether it is settled, after a change of it, or of the time. What a key owes
// goes with it; what it is owed others at its address may have been given already, so that this ends as it settles.
func (l *Ledger) count(now time.Time, a *account) {
	was := a.tallied
	if l.recount(now, a); a.tallied == was || was.at == (Holder{}) {
		return
	}
	if was.settled == 0 {
		l.bookBeside(now, was.at, -a.owed())
	}
	if a.tallied.settled > 0 && was.settled == 0 {
		a.Deficit = max(0, a.Deficit)
		l.touch(a)
	}
	l.beside(now, a, a.owed())
}

// recount is count without what is owed.
func (l *Ledger) recount(now time.Time, a *account) {
	l.discount(a)
	a.tallied.at = l.At(a.Holder)
	switch {
	case l.settled(now, a):
		a.tallied.settled = 1
	case a.Holder.keyed():
		a.tallied.young = 1
	default:
		return
	}
	t := l.keysAt[a.tallied.at]
	l.keysAt[a.tallied.at] = keysAt{t.young + a.tallied.young, t.settled + a.tallied.settled}
}

// discount has an account count nowhere.
func (l *Ledger) discount(a *account) {
	t := l.keysAt[a.tallied.at]
	t = keysAt{t.young - a.tallied.young, t.settled - a.tallied.settled}
	if l.keysAt[a.tallied.at] = t; t == (keysAt{}) {
		delete(l.keysAt, a.tallied.at)
	}
	a.tallied = tallied{}
}

// GaveAgain notes that somebody at the address of h had before what h was given last, which is worth by, or that this
// was taken back, where by is negative: all there owe it together once.
func (l *Ledger) GaveAgain(now time.Time, h Holder, by Credit) {
	if a := l.of(h); l.Crowded(h) {
		l.beside(now, a, -by)
		l.clamp(now, a)
	}
}

// GotAgain books that h gave what somebody at its address had before: it owes as much less, down to nothing. What all
// owe together is as it was, or two keys on one machine would earn twice.
func (l *Ledger) GotAgain(now time.Time, h Holder, v Credit) {
	if a := l.of(h); l.Crowded(h) && v > 0 {
		a.Again += v
		v = min(v, a.owed())
		l.book(now, a, -v)
		l.beside(now, a, v)
	}
}

// Crowded reports whether h is a key that is not settled, and there are others at its address.
func (l *Ledger) Crowded(h Holder) bool {
	a := l.of(h)
	return a != nil && a.tallied.young > 0 && l.keysAt[a.tallied.at].young > 1
}

// beside books what the account owes with all at its address, if it is that of a key that is not settled.
func (l *Ledger) beside(now time.Time, a *account, by Credit) {
	if a.Holder.keyed() && a.tallied.settled == 0 {
		l.bookBeside(now, l.At(a.Holder), by)
	}
}

// bookBeside changes what keys owe together at an address. With what strangers owe there it is as bounded as one
// account.
func (l *Ledger) bookBeside(now time.Time, at Holder, by Credit) {
	if by != 0 {
		a := l.meet(now, at)
		a.Beside = min(max(a.Beside+by, -l.bound-a.Deficit), l.debt)
		l.touch(a)
	}
}

// mayOwe is the largest deficit that the account of h may have, nil where it has none: what one node may owe, less what
// all owe together that are not settled at the same address.
func (l *Ledger) mayOwe(h Holder, a *account) Credit {
	var deficit, gave Credit
	if a != nil {
		if deficit, gave = a.Deficit, a.Got+a.Again; a.tallied.settled > 0 {
			return min(l.bound, a.Got/keyPart)
		}
	}
	at, stranger := l.At(h), Credit(0)
	if !h.keyed() {
		stranger = l.rules.StrangerLimit * Credit(max(1, l.keysAt[at].settled/settledEach))
	}
	return max(0, min(l.bound, stranger+gave, deficit+l.bound-l.owedAt(at)))
}

// owedAt is what all at an address owe together that are not settled.
func (l *Ledger) owedAt(at Holder) Credit {
	if a := l.of(at); a != nil {
		return a.Deficit + a.Beside
	}
	return 0
}

// owed is what the account owes.
func (a *account) owed() Credit { return max(0, a.Deficit) }
