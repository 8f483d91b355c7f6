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
	// keptBundles and keptFeeds are how many of the latest are remembered at least, and half of how
	// many at most.
	keptBundles = 4096
	keptFeeds   = 4096
)

// Earnings knows what a delivery or an offer earns: how many entries, of which feed. Their value is for
// Value, and the booking for the Ledger.
//
// An entry earns where it was published within the last 48 hours; for one neighbor, not more of one feed in a day than
// twice the feed's own rate and five more, and beyond it what own polls list, an entry once; a bundle once for each
// neighbor, be it delivered or offered; and never for a neighbor that we gave it to. An entry without a date says
// nothing about its age, and could be brought as new again and again: it counts from when it came here, and earns as
// those beyond the cap do, once an own poll lists it. The latest few thousand bundles and feeds are remembered. The
// offer of a bundle that is forgotten earns nothing.
type Earnings struct {
	bundles recentKeys[protocol.DID, stored]
	feeds   recentKeys[feed.URL, dailyCap]
	listed  recentKeys[proof, struct{}] // what earned beyond the cap
	holders numbers
	rules   Rules
}

// stored is a bundle that we have, of which there are thousands.
type stored struct {
	feed  feed.URL
	dates []uint32 // of the entries that were young when it came, in Unix seconds
	bare  int      // how many have no date, and came by an own poll first
	done  []uint32 // the numbers of the holders for which it earns nothing, or no more
	at    uint32   // Unix seconds
}

// A proof is that an own poll has listed an entry, which a neighbor brought as well.
type proof struct {
	entry  feed.EntryID
	holder uint32 // its number
}

// NewEarnings returns Earnings that remember nothing and go by those rules. Holders are those of Ledger.Party.
func NewEarnings(r Rules) *Earnings {
	return &Earnings{
		rules:   r,
		bundles: newRecentKeys[protocol.DID, stored](keptBundles),
		feeds:   newRecentKeys[feed.URL, dailyCap](keptFeeds),
		listed:  newRecentKeys[proof, struct{}](keptBundles),
	}
}

// Stored notes a bundle whose entries we have all stored now; fresh are those that were new to us. from is the holder
// that delivered it, nobody for an own poll. The result is how many entries earn for from: those that we had by another
// way as well, because they would have served us, and their sender pays for them. polled are those of them that have a
// date, are young, and stood in an own poll.
func (e *Earnings) Stored(now time.Time, b *protocol.Bundle, fresh []feed.Entry, from Holder,
	polled ...feed.EntryID) int {
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
	s := e.bundles.use(b.DID)
	if s == nil {
		s = e.bundles.put(b.DID, stored{feed: b.Feed, dates: dates(now, b.Entries), at: unix(now)})
		if sender == nobody {
			s.bare = count - Dated(now, fresh)
		}
	}
	if sender == nobody || !s.once(sender) {
		return 0
	}
	young := s.young(now)
	listed := min(e.prove(sender, polled), young)
	return listed + p.earn(today, young-listed, sender)
}

// Listed counts the entries without a date that earn for h, which delivers the bundle: those that stood in an own poll
// and came here within 48 hours, each once. Ask before Stored.
func (e *Earnings) Listed(h Holder, did protocol.DID, listed []feed.EntryID) int {
	number := e.holders.of(h)
	if s := e.bundles.use(did); s != nil && slices.Contains(s.done, number) {
		return 0
	}
	return e.prove(number, listed)
}

// prove counts the entries that stood in own polls and that the holder of that number did not bring so before.
func (e *Earnings) prove(h uint32, polled []feed.EntryID) (count int) {
	for _, id := range polled {
		if e.listed.use(proof{id, h}) == nil {
			e.listed.put(proof{id, h}, struct{}{})
			count++
		}
	}
	return count
}

// Pruned notes what is left of a bundle that from delivered, without the entries that were known: it goes
// on as another bundle, which others may offer, and earns nothing more for from.
func (e *Earnings) Pruned(now time.Time, b *protocol.Bundle, from Holder) {
	e.Stored(now, b, nil, Holder{})
	e.Gave(from, b.DID)
}

// Offered says what the offer of a bundle earns for h, given that we have the bundle: so many entries of
// the feed. It is nothing for a bundle that it had from us or earned with before. A second offer earns
// nothing, whatever became of the first.
func (e *Earnings) Offered(now time.Time, h Holder, did protocol.DID) (u feed.URL, entries int) {
	s, number := e.bundles.use(did), e.holders.of(h)
	if s == nil || old(now, s.at) || !s.once(number) {
		return "", 0
	}
	p := e.caps(s.feed)
	return s.feed, e.rules.SeenEarns(func() int { return p.earn(dayOf(now), s.young(now)+s.bare, number) })
}

// Gave notes that we deliver the bundle to h, who can earn nothing with it any more: or everyone could
// pay for what they get by offering it back. It reports whether h had it before, from us or by its own word.
func (e *Earnings) Gave(h Holder, did protocol.DID) (again bool) {
	s, number := e.bundles.use(did), e.holders.of(h)
	if s == nil {
		return false
	}
	again = slices.Contains(s.done, number)
	s.once(number)
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

// once reports whether the bundle may earn for the holder of that number, and sees to it that it does not do so
// again.
func (s *stored) once(h uint32) bool {
	if slices.Contains(s.done, h) || len(s.done) >= maxSharers {
		return false
	}
	s.done = append(s.done, h)
	return true
}

// young counts the dated entries that are still young: a bundle may have come when they nearly were not.
func (s *stored) young(now time.Time) (count int) {
	for _, t := range s.dates {
		if !old(now, t) {
			count++
		}
	}
	return count
}

// unix is t in Unix seconds, which will do until the year 2106.
func unix(t time.Time) uint32 { return uint32(max(t.Unix(), 0)) }

// old reports whether what happened at t is worth nothing any more.
func old(now time.Time, t uint32) bool { return now.Unix()-int64(t) > int64(young/time.Second) }
