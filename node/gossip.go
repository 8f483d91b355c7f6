package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

const (
	// atOnce is to how many random interested neighbors a bundle is offered without delay; the rest
	// follow at one random moment within laterOffers unless they offered it themselves meanwhile. That
	// costs as few checks as when all wait, each until a moment of its own, and is nearly as fast as when
	// none does.
	atOnce      = 3
	laterOffers = 2 * time.Second
)

// gossip is what goes round: which bundles are stored, which were promised to us, and which are young
// enough to be of use to a new neighbor.
type gossip struct {
	seen     seenDIDs
	promises map[protocol.DID]*promise
	recent   []recent       // oldest first
	bytes    int            // of recent
	weighed  int64          // what came up to then was looked at by weighRelays; Unix nanoseconds
	trail    protocol.Trail // the latest that was made
}

func newGossip(seen int, store archive.Bundles) gossip {
	return gossip{seen: newSeenDIDs(seen, store), promises: make(map[protocol.DID]*promise)}
}

// spread offers a bundle whose entries are stored to the neighbors that want it: not to the one that brought it, and
// not to neighbors that offered it to us, because they have it.
//
// Paper §3.4: "The bundle is forwarded to a neighbor only if the neighbor is interested in the bundle,
// which means that the neighbor's subscription set includes the bundle's originating URL and that the
// hop count for the matching feed is not greater than a system parameter max_subset_hops."
func (n *Node) spread(b *protocol.Bundle, from protocol.NodeID) {
	n.gossip.seen.add(b.DID)
	n.fulfil(b.DID)
	b = shortPath(b)
	n.gossip.keep(b, n.now)
	n.gossip.shorten(n.now)
	var to []*link
	for _, p := range n.table.Interested(b.Feed) {
		if l := n.linkOf(p); p.ID != from && !l.offered.has(b.DID) {
			to = append(to, l)
		}
	}
	n.rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	first := min(atOnce, len(to))
	n.offerAll(to[:first], b)
	if rest := to[first:]; len(rest) > 0 {
		n.after(n.between(0, laterOffers), func() { n.offerAll(rest, b) })
	}
}

// offerAll offers the bundle to each of these neighbors.
func (n *Node) offerAll(to []*link, b *protocol.Bundle) {
	for _, l := range to {
		n.offer(l, b)
	}
}

// shortPath is the bundle with a path that the next hop takes: of a longer one the first forwarders are left out. To
// drop the bundle instead would let an attacker that offers it first with a long path suppress it.
func shortPath(b *protocol.Bundle) *protocol.Bundle {
	if len(b.Path) <= protocol.MaxPath {
		return b
	}
	short := *b
	short.Path = b.Path[len(b.Path)-protocol.MaxPath:]
	return &short
}

// received takes in a bundle that a neighbor delivers. answer is called as soon as it is clear what the delivery
// comes to: nil where the entries are stored.
func (n *Node) received(l *link, b *protocol.Bundle, answer func(error)) {
	c := &n.status.Counters
	c.PutsReceived++
	l.offered.add(b.DID)
	if n.gossip.seen.has(b.DID) {
		// It went in a loop, or came by two ways. Paper §3.4: "the entry bundle is discarded".
		// we cut the same part out of a larger one meanwhile
		if p := n.gossip.promises[b.DID]; p != nil && len(p.waiting) == 0 {
			delete(n.gossip.promises, b.DID)
		}
		c.Duplicates += int64(len(b.Entries))
		answer(nil)
		n.deliveredAgain(l, b)
		return
	}
	if n.hearsay.versions.Took(l.id(), b.DID) {
		c.Duplicates += int64(len(b.Entries))
		n.giveUp(l, b.DID)
		answer(nil)
		return
	}
	if err := n.acceptable(l, b); err != nil {
		c.PutsRefused++
		n.giveUp(l, b.DID)
		answer(err)
		offence, known := offences[protocol.AsFault(err).Code]
		if known && (offence != incentive.UnwantedFeed || !n.table.Advertises(l.peer, b.Feed)) {
			n.punish(l.holder, offence, 0)
		}
		return
	}
	forged := false
	if !n.self.id.IsZero() && slices.Contains(b.Path, n.self.id) {
		// We never had this bundle, so somebody put our name there to have us drop it. The node that stands last on the
		// path must have written what is before; further up it may have been done to set us against an honest relay. So
		// may our name have been given to us by others.
		c.PathsTampered++
		forged = b.Path[len(b.Path)-1] == n.self.id && n.self.votes[l.id()] == n.self.id
	}
	n.strike(l, b.DID)
	n.shown(l, 0)
	k := n.keepNew(l, b)
	if k.left > 0 {
		c.Unkept += int64(k.left)
		n.spotPoll(b.Feed)
		answer(errOverQuota)
	} else {
		answer(nil)
	}
	via := b.Via(l.id())
	if known := partOf(via, k.plain); known != nil {
		n.stored(known, k.fresh, l, k.polled...)
	}
	if forged && len(k.fresh) > 0 {
		n.punish(l.holder, incentive.ForgedPath, incentive.Value(len(k.fresh), 0))
	}
	// "Those old entries are removed from the bundle before it is further forwarded": a new bundle with
	// a new did, or the next hop could not verify it.
	pruned := partOf(via, k.fresh)
	switch {
	case k.awaited, k.left > 0:
		n.release(l, b.DID) // any other neighbor that has it is to deliver it too
	case pruned != via:
		n.gossip.seen.add(b.DID)
		n.fulfil(b.DID)
	}
	if pruned != nil && pruned != via {
		n.accounts.earnings.Pruned(n.now, pruned, l.holder)
	}
	switch {
	case pruned == nil:
	case n.doubted(via):
		n.holdBack(pruned)
	default:
		n.spread(pruned, l.id())
	}
	n.passRevisions(b.Feed, k.revised, via.Path, l.id())
}

// partOf is the bundle with only these of its entries: the bundle itself where that is all of them, nil where
// there are none.
func partOf(b *protocol.Bundle, entries []feed.Entry) *protocol.Bundle {
	switch len(entries) {
	case 0:
		return nil
	case len(b.Entries):
		return b
	}
	part := protocol.NewBundle(b.Feed, entries)
	part.Path = b.Path
	return part
}

// acceptable says why the node does not take the bundle, or nil.
func (n *Node) acceptable(l *link, b *protocol.Bundle) error {
	if !n.table.Wanted(b.Feed, l.peer) {
		return protocol.Faultf(protocol.UnwantedFeed, "%s is not in the subscription set", b.Feed)
	}
	if n.byForger(b) {
		return errForgedSource
	}
	return b.Verify()
}

// kept is what became of the entries of a bundle.
type kept struct {
	fresh   []feed.Entry   // not known before
	polled  []feed.EntryID // known by own polls, young and with a date
	plain   []feed.Entry   // all but other versions of known entries, and what was purged
	revised []feed.Entry   // such versions that are confirmed, and that the publisher dated later than the one before
	awaited bool           // others may confirm one that is not
	left    int            // entries beyond the neighbor's quota, which were not looked at
}

// recordsOf are the entries of b as the archive would keep them, and their ids.
func (n *Node) recordsOf(l *link, b *protocol.Bundle) ([]archive.Record, []feed.EntryID) {
	records, ids := make([]archive.Record, len(b.Entries)), make([]feed.EntryID, len(b.Entries))
	for i, identity := range b.Identities() {
		records[i], ids[i] = archive.RecordOf(b.Entries[i], identity, n.now, l.id()), identity.ID
	}
	return records, ids
}

// keepNew stores the entries of b that are not known, with the neighbor as their source.
func (n *Node) keepNew(l *link, b *protocol.Bundle) (k kept) {
	records, ids := n.recordsOf(l, b)
	var fresh []archive.Record
	known := n.shared.Known(ids)
	n.corroborate(l, b, records, known)
	allowed := n.allowanceOf(l, b.Feed)
	for i, e := range b.Entries {
		if known[i].Admits(&records[i]) {
			known[i] = archive.Version{} // what was purged is another version
		}
		switch v := &known[i]; {
		case v.New() && allowed != nil && !allowed.Take(roomOf(&records[i])):
			k.left++
			continue
		case v.New():
			fresh = append(fresh, records[i])
			k.fresh = append(k.fresh, e)
		case v.Purged: // as if it were here, but that nobody can tell whether this is what it was
			continue
		case v.Digest == records[i].Digest:
			if v.Polled && incentive.Dated(n.now, b.Entries[i:i+1]) > 0 {
				k.polled = append(k.polled, ids[i])
			}
		default:
			switch n.revise(l, b, &records[i], known[i], allowed) {
			case beyond:
				k.left++
			case awaited:
				k.awaited = true
			case replaced:
				n.storedFrom(l, b.Feed, records[i:i+1])
				if n.moved(known[i].Updated, e.Updated) {
					k.revised = append(k.revised, e)
				}
			}
			continue
		}
		k.plain = append(k.plain, e)
	}
	news := fresh
	if n.discreetly(b.Feed) != nil {
		news = n.newToOwner(fresh)
	}
	if len(fresh) > 0 {
		n.shared.Keep(fresh)
		n.storedFrom(l, b.Feed, fresh)
		n.coverBrought(b.Feed)
	}
	n.status.Counters.Delivered += int64(len(news))
	n.status.Counters.Duplicates += int64(len(records) - k.left - len(news))
	n.arrived(l, b.Feed, news)
	return k
}

// arrived notes for the owner what a neighbor brought of a feed that is new to them, and tells of it.
func (n *Node) arrived(l *link, u feed.URL, fresh []archive.Record) {
	if len(fresh) == 0 {
		return
	}
	s := n.feeds[u]
	l.delivered += int64(len(fresh))
	if s != nil {
		s.delivered += int64(len(fresh))
		n.fill(s, fresh)
	}
	if n.openly(u) != nil {
		n.firstSeen(u, len(fresh), s.LastSuccess, false)
	}
	n.tell(Arrived{Feed: u, Source: l.id(), Records: fresh})
}
