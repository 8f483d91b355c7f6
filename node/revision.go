package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

// Publishers edit entries, and any hop may alter them. So a version of a known entry that differs from ours
// counts as the publisher's only where an own poll shows it, or where it came by two ways that have nobody in
// common: whoever altered it stands on both, if he is one. Until then it is set aside, which is to say that
// it is remembered by its digest and shown to nobody; who confirms it brings it again.
//
// A version that an own poll has shown gives way to two neighbors only where the publisher moved `updated`
// forward: theirs may well be the older one. For the same reason only such revisions are passed on, a few a
// day for each entry. They earn nothing.
const (
	// maxAside and maxAsideEach bound the versions that are set aside, in all and for one neighbor.
	maxAside, maxAsideEach = 1024, 128
	// asideFor is how long a version waits to be confirmed.
	asideFor = 48 * time.Hour
	// doubtAfter is how old a version must be before an own poll can show that it was altered: a
	// publisher's caches show different readers versions of different age.
	doubtAfter = time.Hour
	// revisionsADay is how many revisions of one entry are passed on within a day.
	revisionsADay = 3
	// maxPassed bounds the revisions that are counted for it.
	maxPassed = 4096
)

// revisions are the versions that wait to be confirmed, and those that were passed on lately.
type revisions struct {
	aside  []aside  // oldest first
	passed []passed // likewise
}

// aside is a version of an entry that one neighbor brought.
type aside struct {
	entry     feed.EntryID
	digest    feed.Digest
	kept      feed.Digest       // of our version
	via       []protocol.NodeID // how it came, the neighbor last
	holder    incentive.Holder  // of the neighbor
	did       protocol.DID      // of its bundle, the latest
	promising bool              // another neighbor may confirm it
	at        time.Time
}

// passed is a revision that went to the neighbors.
type passed struct {
	entry feed.EntryID
	at    time.Time
}

// took reports whether the holder delivered a bundle of which something was set aside: it need not do so
// again, while others must be asked for theirs.
func (r *revisions) took(h incentive.Holder, did protocol.DID) bool {
	return slices.ContainsFunc(r.aside, func(a aside) bool { return a.holder == h && a.did == did })
}

// set puts a version aside. A flood of one neighbor pushes out its own.
func (r *revisions) set(now time.Time, a aside) {
	r.aside = slices.DeleteFunc(r.aside, func(old aside) bool { return now.Sub(old.at) > asideFor })
	own, first := 0, -1
	for i := range r.aside {
		if old := &r.aside[i]; old.holder == a.holder {
			if old.entry == a.entry && old.digest == a.digest {
				old.did = a.did
				return
			}
			if own++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case own >= maxAsideEach:
		r.aside = slices.Delete(r.aside, first, first+1)
	case len(r.aside) >= maxAside:
		r.aside = slices.Delete(r.aside, 0, 1)
	}
	r.aside = append(r.aside, a)
}

// confirms reports whether the version came before, by a way apart from this one.
func (r *revisions) confirms(now time.Time, v *archive.Record, via []protocol.NodeID) bool {
	return slices.ContainsFunc(r.aside, func(a aside) bool {
		return a.entry == v.ID && a.digest == v.Digest && now.Sub(a.at) <= asideFor && incentive.Apart(a.via, via)
	})
}

// pass reports whether one more revision of the entry may be passed on, and counts it.
func (r *revisions) pass(now time.Time, id feed.EntryID) bool {
	r.passed = slices.DeleteFunc(r.passed, func(p passed) bool { return now.Sub(p.at) >= 24*time.Hour })
	count := 0
	for _, p := range r.passed {
		if p.entry == id {
			count++
		}
	}
	if count >= revisionsADay || len(r.passed) >= maxPassed {
		return false
	}
	r.passed = append(r.passed, passed{id, now})
	return true
}

// moved reports whether the publisher moved `updated` forward. One in the future is no date.
func (n *Node) moved(from, to time.Time) bool {
	return to.After(from) && !to.After(n.now.Add(archive.Ahead))
}

// revised says what becomes of a version that a neighbor brought of an entry of which we keep another.
type revised int

const (
	stale    revised = iota // it cannot replace ours: the bundle is done with
	awaited                 // it is set aside, and others may confirm it
	replaced                // it is confirmed, and kept
)

// revise takes in a version of an entry of which we keep another.
func (n *Node) revise(l *link, b *protocol.Bundle, v *archive.Record, known archive.Version) revised {
	updated := v.Entry.Updated
	if known.Updated.After(n.now.Add(archive.Ahead)) {
		known.Updated = time.Time{} // no date: it must not keep every later version away
	}
	if known.Confirmed && updated.Before(known.Updated) && !updated.IsZero() {
		return stale // it is the older one by its own word, and ours is more than one neighbor's
	}
	if known.Confirmed && sameButDates(&v.Entry, &known) {
		return stale // the publisher's dates move, see settleDates
	}
	via := b.Via(l.id()).Path
	promising := !known.Confirmed || n.moved(known.Updated, updated)
	if promising && n.edits.confirms(n.now, v, via) {
		v.Confirmed = true
		n.store.Keep([]archive.Record{*v})
		n.edits.aside = slices.DeleteFunc(n.edits.aside, func(a aside) bool { return a.entry == v.ID && a.digest == v.Digest })
		if s := n.feeds[v.Entry.Feed]; s != nil {
			s.ETag, s.LastModified = "", "" // so that the next own poll shows the publisher's version in any case
			n.store.KeepFeed(s.Feed)        // also one after a restart
		}
		return replaced
	}
	n.edits.set(n.now, aside{v.ID, v.Digest, known.Digest, via, l.holder, b.DID, promising, n.now})
	if promising {
		return awaited
	}
	return stale
}

// checkAside looks at what was set aside of a feed's entries once an own poll has ended: what it shows is
// kept by now, and what differs from a version that the publisher never changed was altered on its way. That
// is an alarm and no offence: there are publishers that show different readers different versions.
func (n *Node) checkAside(s *subscription) {
	if len(n.edits.aside) == 0 || len(s.listed) == 0 {
		return
	}
	published := make(map[feed.EntryID]feed.Digest, len(s.listed))
	for _, e := range s.listed {
		published[e.Entry] = e.Digest
	}
	n.edits.aside = slices.DeleteFunc(n.edits.aside, func(a aside) bool {
		digest, listed := published[a.entry]
		switch {
		case !listed:
			return false
		case digest == a.digest:
			return true
		case s.begun.Sub(a.at) < doubtAfter:
			return false
		}
		if digest == a.kept {
			n.status.Counters.Altered++
			n.suspect(a.via[len(a.via)-1], "brought another version of an entry than its publisher shows")
		}
		return true
	})
}

// passRevisions offers revisions of a feed's entries that the publisher dated, a few a day for each.
func (n *Node) passRevisions(u feed.URL, entries []feed.Entry, path []protocol.NodeID, from protocol.NodeID) {
	entries = slices.DeleteFunc(entries, func(e feed.Entry) bool { return !n.edits.pass(n.now, e.EntryID()) })
	bundles, _ := protocol.Split(u, entries)
	for _, b := range bundles {
		b.Path = path
		n.spread(b, from)
	}
}
