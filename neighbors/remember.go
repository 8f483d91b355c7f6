package neighbors

import (
	"cmp"
	"slices"
	"time"

	"feedex/protocol"
)

const (
	// untriedFor is how long an address stays in the Book that never answered, and unheardFor one that
	// did, or was a neighbor, and has not been heard of since.
	untriedFor = 7 * 24 * time.Hour
	unheardFor = 90 * 24 * time.Hour
	// maxAcquaintances bounds Acquaintances, so that an attacker that was a neighbor for a moment, at many addresses,
	// is none.
	maxAcquaintances = 64
)

// ours reports whether the link to n came about by our own choice.
func (n *Neighbor) ours() bool { return n.Chosen || n.Static }

// Met notes that n is a neighbor now, and returns what to remember of it. forgotten is the node that the Book had no
// room for any more, zero for none.
func (b *Book) Met(now time.Time, n *Neighbor) (p protocol.FormerNeighbor, forgotten protocol.NodeID) {
	a := b.byID[n.ID]
	if a == nil {
		switch {
		case !n.ours() && b.count(Came) >= maxOfSource:
			forgotten = b.evict(func(a *address) bool { return a.source == Came })
		case len(b.list) >= maxAddresses:
			forgotten = b.evict(func(*address) bool { return true })
		}
		a = &address{id: n.ID, source: Came, added: unixNanoOf(now)}
		b.insert(a)
	}
	a.named(Came)
	if n.ours() {
		a.source = Remembered
	}
	a.trying, a.linked, a.heard, a.failures = false, true, unixNanoOf(now), 0
	delete(b.failing, a.network)
	if a.past == nil {
		a.past = &past{}
	}
	if a.past.firstMet == 0 {
		a.past.firstMet = unixNanoOf(now)
	}
	a.past.lastMet, a.past.searchAt = unixNanoOf(now), 0
	return a.peer(), forgotten
}

// Remembered returns the facts to remember of a neighbor whose link goes on: should the host crash, the time together
// so far is not lost.
func (b *Book) Remembered(now time.Time, n *Neighbor) protocol.FormerNeighbor {
	p, _ := b.Met(now, n)
	if n.ours() {
		p.Together += now.Sub(n.Since)
	}
	return p
}

// Parted notes that the link to n is over, and returns what to remember of it. It is tried again after a
// while.
func (b *Book) Parted(now time.Time, n *Neighbor) protocol.FormerNeighbor {
	p := b.Remembered(now, n)
	a := b.byID[n.ID]
	a.linked, a.past.together = false, p.Together
	a.after = unixNanoOf(now.Add(firstWait/3 + time.Duration(b.rng.Int64N(int64(firstWait)))))
	return p
}

// Acquaintances are nodes for which places are kept, neighbors or not: those that were neighbors by our own choice for
// longest, and then those that we have known for longest.
func (b *Book) Acquaintances() (ids []protocol.NodeID) {
	met := slices.DeleteFunc(slices.Clone(b.list), func(a *address) bool { return !a.met() })
	slices.SortStableFunc(met, func(x, y *address) int {
		return cmp.Or(cmp.Compare(y.together(), x.together()), cmp.Compare(y.acquaintance(), x.acquaintance()))
	})
	for _, a := range met[:min(len(met), maxAcquaintances)] {
		ids = append(ids, a.id)
	}
	return ids
}

// Acquainted reports whether id is one of them.
func (b *Book) Acquainted(id protocol.NodeID) bool {
	a := b.byID[id]
	return a != nil && a.met() && slices.Contains(b.Acquaintances(), id)
}

// Age forgets the addresses that have been of no use for long. gone are those that were neighbors once.
func (b *Book) Age(now time.Time) (gone []protocol.NodeID) {
	var old []*address
	for _, a := range b.list {
		last, keep := a.added, untriedFor
		if a.heard != 0 {
			last, keep = a.heard, unheardFor
		}
		if !a.trying && !a.linked && time.Duration(unixNanoOf(now)-last) > keep {
			old = append(old, a)
		}
	}
	for _, a := range old {
		b.Forget(a.id)
		if a.met() {
			gone = append(gone, a.id)
		}
	}
	return gone
}
