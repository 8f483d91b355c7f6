package incentive

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Load takes in accounts that an earlier run kept. One that does not fit the present bound is brought
// within it, and one that came to its bound, or stored something, at a time after now, by a clock that was wrong, did
// so now.
func (l *Ledger) Load(now time.Time, accounts []Account) {
	for i := range accounts {
		a := &account{Account: accounts[i].clone()}
		l.clamp(a.Met, a)
		if old := l.of(a.Holder); old != nil {
			l.discount(old)
		}
		if a.AtBound.After(now) {
			a.AtBound = seconds(now)
		}
		a.Stored.Slot = min(a.Stored.Slot, slotOf(now))
		a.Tips = a.Tips[max(0, len(a.Tips)-maxTips):]
		if l.of(a.Holder) == nil {
			l.makeRoom()
		}
		l.accounts[a.Holder] = a
		if other := l.of(l.keyed[a.At]); a.Holder.keyed() && (other == nil || other.Met.Before(a.Met)) {
			l.keyed[a.At] = a.Holder
		}
		l.forgers = l.forgers ||
			slices.ContainsFunc(a.Standing.Marks, func(m CountedOffence) bool { return m.Offence == ForgedEntry })
	}
	for _, a := range l.accounts {
		l.recount(a.Met, a)
	}
	for i := range accounts { // what is at its bound depends on what others owe
		if a := l.of(accounts[i].Holder); a != nil && a.AtBound.IsZero() && !accounts[i].AtBound.IsZero() &&
			l.allowance(a.Holder, a) < Entry {
			a.AtBound = accounts[i].AtBound
		}
	}
}

// Changed drains what happened since the last call: the holders whose accounts were dropped, and the accounts that
// changed, both in the order in which it came about. Delete first, then store: a holder that was dropped may have come
// back. A host calls it after every step. The accounts are the Ledger's own: read them before anything else is done
// with it.
func (l *Ledger) Changed() (dropped []Holder, changed []*Account) {
	changed = make([]*Account, 0, len(l.changed))
	for i, a := range l.changed {
		if a.dirty {
			a.dirty = false
			changed = append(changed, &a.Account)
		}
		l.changed[i] = nil
	}
	dropped = l.dropped
	l.changed, l.dropped = l.changed[:0], nil
	return dropped, changed
}

// Expire drops the accounts without contact for 30 days. It looks through all accounts once a day, however often
// it is called.
func (l *Ledger) Expire(now time.Time) {
	today := dayOf(now)
	if today == l.expired {
		return
	}
	l.expired = today
	for _, h := range l.holders() {
		if now.Sub(l.of(h).Met) > remembered {
			l.drop(h) // others at its address owe on
		}
	}
	for _, h := range l.holders() {
		if a := l.of(h); a != nil { // else it made room for what others at an address owe
			l.count(now, a) // some may be settled by now
		}
	}
}

// Accounts returns all accounts, ordered by holder.
func (l *Ledger) Accounts() []Account {
	list := make([]Account, 0, len(l.accounts))
	for _, h := range l.holders() {
		list = append(list, l.of(h).clone())
	}
	return list
}

// holders lists those that have an account, in order.
func (l *Ledger) holders() []Holder {
	return slices.SortedFunc(maps.Keys(l.accounts), Holder.Compare)
}

// makeRoom makes room for one more account. It drops the one without contact for longest, but first of all one with
// which nothing was ever exchanged: strangers that come in thousands must not make us forget our neighbors.
func (l *Ledger) makeRoom() {
	if len(l.accounts) < maxAccounts {
		return
	}
	var worst *account
	for _, a := range l.accounts {
		if worst == nil || a.lessThan(worst) {
			worst = a
		}
	}
	l.drop(worst.Holder)
}

// lessThan reports whether less is lost with the account than with b. No two are equal, so that their
// order decides nothing.
func (a *account) lessThan(b *account) bool {
	if a.exchanged() != b.exchanged() {
		return b.exchanged()
	}
	return cmp.Or(a.Met.Compare(b.Met), a.Holder.Compare(b.Holder)) < 0
}

func (a *account) exchanged() bool { return a.Given > 0 || a.Got > 0 || a.Beside != 0 }

func (l *Ledger) drop(h Holder) {
	a := l.of(h)
	a.dirty = false
	if l.keyed[a.At] == h {
		delete(l.keyed, a.At)
	}
	l.discount(a)
	delete(l.accounts, h)
	l.dropped = append(l.dropped, h)
}

// touch lists the account as changed.
func (l *Ledger) touch(a *account) {
	if !a.dirty {
		a.dirty = true
		l.changed = append(l.changed, a)
	}
}
