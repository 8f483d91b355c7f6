package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/trust"
)

// moved reports whether the publisher moved `updated` forward. One in the future is no date.
func (n *Node) moved(from, to time.Time) bool {
	return to.After(from) && !to.After(n.now.Add(archive.Ahead))
}

// revised says what becomes of a version that a neighbor brought of an entry of which we keep another.
//
// A version that an own poll has shown gives way to none: the next own poll has the publisher's word, and the other
// waits for that, so that the owner hears of what was altered on its way. One that two witnesses stand by gives way to
// two only where the publisher moved `updated` forward: theirs may well be the older one. For the same reason only such
// revisions are passed on, a few a day for each entry. They earn nothing.
type revised int

const (
	stale    revised = iota // it cannot replace ours: the bundle is done with
	beyond                  // it is beyond the neighbor's quota, and was not looked at
	awaited                 // it is set aside, and others may confirm it
	replaced                // it is confirmed, and kept
)

// revise takes in a version of an entry of which we keep another, as far as that is allowed to the neighbor; nil is for
// all.
func (n *Node) revise(l *link, b *protocol.Bundle, v *archive.Record, known archive.Version,
	allowed *incentive.Allowance) revised {
	other := trust.Version{Entry: v.ID, Digest: v.Digest, Kept: known.Digest, Via: b.Via(l.id()).Path, DID: b.DID}
	updated := v.Entry.Updated
	if known.Updated.After(n.now.Add(archive.Ahead)) {
		known.Updated = time.Time{} // no date: it must not keep every later version away
	}
	switch {
	case known.Confirmed && updated.Before(known.Updated) && !updated.IsZero():
		return stale // it is the older one by its own word, and ours is more than one neighbor's
	case known.Confirmed && sameButDates(&v.Entry, &known):
		return stale // the publisher's dates move, see keepDates
	case known.Polled || known.Confirmed && !n.moved(known.Updated, updated):
		n.hearsay.versions.SetAside(n.now, other)
		return stale
	case allowed != nil && !allowed.Fits(roomOf(v)):
		return beyond
	case !n.hearsay.versions.Vouched(n.now, other, nil):
		return awaited
	}
	if allowed != nil {
		allowed.Take(roomOf(v))
	}
	v.Confirmed = true
	n.shared.Keep([]archive.Record{*v})
	n.hearsay.claims.End(v.ID) // the bringer of the version that gave way gains nothing by it
	return replaced
}

// checkAside sounds the alarm where an own poll that has ended shows that entries of the feed were altered on their
// way. That is no offence: there are publishers that show different readers different versions.
func (n *Node) checkAside(s *subscription) {
	for _, a := range n.hearsay.versions.Compare(s.begun, s.listed) {
		n.status.Counters.Altered++
		n.suspect(a.Via[len(a.Via)-1], "brought another version of an entry than its publisher shows")
	}
}

// passRevisions offers revisions of a feed's entries that the publisher dated, a few a day for each.
func (n *Node) passRevisions(u feed.URL, entries []feed.Entry, path []protocol.NodeID, from protocol.NodeID) {
	entries = slices.DeleteFunc(entries,
		func(e feed.Entry) bool { return !n.hearsay.versions.Pass(n.now, e.EntryID()) })
	bundles, _ := protocol.Split(u, entries)
	for _, b := range bundles {
		b.Path = path
		n.spread(b, from)
	}
}
