package incentive

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// young is how old an entry may be to earn: replaying what is past must not.
	young = 48 * time.Hour
	// keptBundles, keptEntries and keptFeeds are how many of the latest are remembered at least, and half of how
	// many at most.
	keptBundles = 4096
	keptEntries = 4 * keptBundles
	keptFeeds   = 4096
)

// Earnings knows what a delivery or an offer earns: how many entries, of which feed. Their value is for
// Value, and the booking for the Ledger.
//
// An entry earns where it was published within the last 48 hours, once for each neighbor, be it delivered or offered
// and in whatever bundle; for one neighbor, not more of one feed in a day than twice the feed's own rate and five more,
// and beyond it what own polls list. An entry without a date says nothing about its age, and could be brought as new
// again and again: it counts from when it came here, and earns as those beyond the cap do, once an own poll lists it.
//
// What a neighbor had from us it may give back in other bundles. An honest one does so where both had a part of them by
// another way, and what they give each other crosses. Nobody can tell one from the other, so that is counted by itself,
// for the Ledger to take from what it may be forgiven. The latest few thousand entries, bundles and feeds are
// remembered. The offer of what is forgotten earns nothing, and anybody may have had an entry from us that is.
type Earnings struct {
	bundles recentKeys[protocol.DID, stored]
	entries recentKeys[feed.EntryID, storedEntry]
	feeds   recentKeys[feed.URL, dailyCap]
	holders numbers
	rules   Rules
}

// stored is a bundle that we have, of which there are thousands.
type stored struct {
	feed    feed.URL
	entries []feed.EntryID
}

// NewEarnings returns Earnings that remember nothing and go by those rules. Holders are those of Ledger.Party.
func NewEarnings(r Rules) *Earnings {
	return &Earnings{
		rules:   r,
		bundles: newRecentKeys[protocol.DID, stored](keptBundles),
		entries: newRecentKeys[feed.EntryID, storedEntry](keptEntries),
		feeds:   newRecentKeys[feed.URL, dailyCap](keptFeeds),
	}
}

// Earned is how many entries of a delivery earn, and how many of these were new. Again is how many more would, but that
// the holder had them from us.
type Earned struct{ Entries, Fresh, Again int }

// Stored notes a bundle whose entries we have all stored now; fresh are those that were new to us, in their order. from
// is the holder that delivered it, nobody for an own poll. What earns for from is also what we had by another way,
// because it would have served us, and its sender pays for it; where not all may earn it is that which does. polled are
// those of them that have a date, are young, and stood in an own poll.
func (e *Earnings) Stored(now time.Time, b *protocol.Bundle, fresh []feed.Entry, from Holder,
	polled ...feed.EntryID) (got Earned) {
	today, count := dayOf(now), Young(now, fresh)
	p := e.caps(b.Feed)
	sender := e.holders.of(from)
	p.stored(today, count, sender)
	passed := []uint32{sender} // whose bundle's path may end with it
	for _, id := range b.Path {
		if h, known := e.holders.byHolder[e.rules.HolderOf(id)]; known && !slices.Contains(passed, h) {
			passed = append(passed, h)
			p.passed(today, count, h)
		}
	}
	var items []feed.EntryID
	known, news := 0, 0 // what is young, may earn and is in no poll
	for i, identity := range b.Identities() {
		isNew := len(fresh) > 0 && fresh[0].EntryID() == identity.ID
		if isNew {
			fresh = fresh[1:]
		}
		x := e.entries.use(identity.ID)
		if x == nil {
			one := b.Entries[i : i+1]
			if Young(now, one) == 0 || !isNew && Dated(now, one) == 0 {
				continue // or a flood of what can earn nothing would have what may earn forgotten
			}
			x = e.entries.put(identity.ID, newStoredEntry(now, &one[0], sender == nobody && isNew))
			x.forgotten = !isNew
		}
		items = append(items, identity.ID)
		switch state := x.take(sender); {
		case old(now, x.since) || state == done:
		case state == given:
			got.Again++
		case slices.Contains(polled, identity.ID):
			got.Entries++
		case isNew:
			news++
		default:
			known++
		}
	}
	if e.bundles.use(b.DID) == nil {
		e.bundles.put(b.DID, stored{b.Feed, items})
	}
	if sender == nobody {
		return Earned{}
	}
	capped := p.earn(today, known+news, sender)
	got.Fresh = max(0, capped-known)
	got.Entries += capped
	return got
}

// Listed counts the entries without a date that earn for h, which delivers them: those that stood in an own poll
// and came here within 48 hours. Ask before Stored.
func (e *Earnings) Listed(h Holder, listed []feed.EntryID) (got Earned) {
	number := e.holders.of(h)
	for _, id := range listed {
		x := e.entries.use(id)
		if x == nil {
			x = e.entries.put(id, storedEntry{forgotten: true})
		}
		switch x.take(number) {
		case open:
			got.Entries++
		case given:
			got.Again++
		}
	}
	return got
}

// Offered says what the offer of a bundle earns for h, given that we have the bundle: so many entries of
// the feed. It is nothing for entries that it had from us or earned with before. A second offer earns
// nothing, whatever became of the first.
func (e *Earnings) Offered(now time.Time, h Holder, did protocol.DID) (u feed.URL, entries int) {
	s, number := e.bundles.use(did), e.holders.of(h)
	if s == nil {
		return "", 0
	}
	count := 0
	for _, id := range s.entries {
		if x := e.entries.use(id); x != nil && x.take(number) == open && !old(now, x.since) {
			count++
		}
	}
	p := e.caps(s.feed)
	return s.feed, e.rules.SeenEarns(func() int { return p.earn(dayOf(now), count, number) })
}

// Gave notes that we deliver the bundle to h, who can earn no more with its entries than Earnings says: or everyone
// could pay for what they get by giving it back. It reports whether h had all of those that are young before, from us
// or by its own word.
func (e *Earnings) Gave(now time.Time, h Holder, b *protocol.Bundle) (again bool) {
	number := e.holders.of(h)
	again = true
	for i, identity := range b.Identities() {
		switch x := e.entries.use(identity.ID); {
		case x == nil:
			again = again && Young(now, b.Entries[i:i+1]) == 0
		case !x.give(number):
			again = false
		}
	}
	return again
}

// Confirmed notes that an own poll, or a way apart, has shown entries of the feed that came by way of h: they
// are not its invention.
func (e *Earnings) Confirmed(now time.Time, u feed.URL, h Holder, entries int) {
	p := e.feeds.use(u)
	if number, met := e.holders.byHolder[h]; met && p != nil {
		p.confirmed(dayOf(now), entries, number)
	}
}

// caps is the daily cap of the feed, which may be new.
func (e *Earnings) caps(u feed.URL) *dailyCap {
	known := e.feeds.use(u)
	if known == nil {
		known = e.feeds.put(u, dailyCap{free: e.rules.CapFree})
	}
	return known
}

// unix is t in Unix seconds, which will do until the year 2106.
func unix(t time.Time) uint32 { return uint32(max(t.Unix(), 0)) }

// old reports whether what happened at t is worth nothing any more.
func old(now time.Time, t uint32) bool { return now.Unix()-int64(t) > int64(young/time.Second) }
