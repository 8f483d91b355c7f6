package trust

import (
	"math"
	"time"

	"feedex/feed"
	"feedex/internal/ordered"
	"feedex/protocol"
)

const (
	// maxClaims bounds what is remembered, and claimedFor for how long.
	maxClaims  = 8192
	claimedFor = 48 * time.Hour
	// ripe is how old a claim must be before a poll can disprove it: caches before a publisher show
	// readers documents of different age.
	ripe = time.Hour
	// dividedFor is how long a feed counts as divided, and how long a missing claim is remembered.
	dividedFor = week
	// maxMisses bounds the missing claims that are remembered, one for each network and feed.
	maxMisses = 1024
)

// Claims remembers what neighbors brought and no own poll has shown yet, and judges it by the polls that
// follow. A neighbor whose bundle came with an empty path says that it polled the entries itself. What a
// later poll should list and does not is missing:
//
//   - brought first-hand, it is forged, and counts against the neighbor that claimed it;
//   - relayed, it is nobody's offence that we could know of. In a model of the network, fining relays cut
//     off every honest node within two days. But it was of no use either, and the relay is a witness to
//     which node polled it; see Witnesses.
//
// A poll can tell only about claims that were an hour old when it began, and that its document reaches
// back beyond: its oldest entry was here before the claimed one was published, or claimed. A claim
// that is not in the window any more is dropped unjudged. So is none by an empty document.
//
// A missing claim is excused where a listed entry has its title or link: publishers edit both, and change
// ids. It is excused where the feed is divided, which is to say that its publisher shows different readers
// different documents: where an own poll saw entries vanish from the middle of the document within a week,
// or where first-hand claims of two witnesses are missing. The latter excuses nobody who misses in other feeds
// too, and such a network speaks for nobody: or two forgers would be the excuse of the third. What is excused
// costs no standing, but earns nothing.
type Claims struct {
	witnesses *Witnesses

	open   ordered.Map[feed.EntryID, claim]
	feeds  counted[feed.URL]         // of these
	makers counted[protocol.Network] // likewise
	misses []miss                    // the latest last
	uneven map[feed.URL]time.Time    // feeds of which entries vanished, and until when that counts
}

// A Claim is an entry that a neighbor brought first.
type Claim struct {
	Feed  feed.URL
	Entry feed.EntryID
	Via   protocol.Trail // the nodes that it came through, the neighbor last
	At    time.Time
	// What hangs on it, as the node's accounts count: what the entry is worth to us, what of it was booked, and what
	// was not, because so many entries of the feed earn in a day; that is owed once an own poll shows the entry.
	Value, Earned, Held int32
}

// Neighbor is the node that brought it.
func (c *Claim) Neighbor() protocol.NodeID { return c.Via.Last() }

// Origin is the node that polled it, by the word of the others.
func (c *Claim) Origin() protocol.NodeID { return c.Via.First() }

// FirstHand reports whether the neighbor claims to have polled the entry itself.
func (c *Claim) FirstHand() bool { return c.Via.Len() == 1 }

// A claim is a Claim as it is remembered, of which there are thousands.
type claim struct {
	via           protocol.Trail
	feed, maker   uint32 // among those of Claims
	at, listed    uint32 // Unix seconds; for how long it had been listed by then, if ever
	value, earned int32  // of one entry
	held          int32  // likewise
	title, link   uint32
}

// claimed is a claim as others see it.
func (c *Claims) claimed(id feed.EntryID, open *claim) Claim {
	return Claim{
		Feed: c.feeds.key(open.feed), Entry: id, Via: open.via, At: time.Unix(int64(open.at), 0).UTC(),
		Value: open.value, Earned: open.earned, Held: open.held,
	}
}

// NewClaims returns Claims that remember nothing.
func NewClaims(w *Witnesses) *Claims {
	return &Claims{witnesses: w, uneven: make(map[feed.URL]time.Time)}
}

// Add remembers that a neighbor brought the entry first, for 48 hours at most. Where there is no more room, the network
// with most claims loses its oldest: a flood pushes out nobody else's.
func (c *Claims) Add(e *feed.Entry, made Claim) {
	if c.open.Get(made.Entry) != nil {
		return
	}
	at := max(made.At.Unix(), 0)
	for id, oldest := c.open.Oldest(); oldest != nil && at-int64(oldest.at) > int64(claimedFor/time.Second); id,
		oldest = c.open.Oldest() {
		c.end(id, oldest)
	}
	if c.open.Len() >= maxClaims {
		c.evict()
	}
	c.open.Put(made.Entry, claim{
		via: made.Via, feed: c.feeds.take(made.Feed), maker: c.makers.take(made.Neighbor().Network()),
		at: uint32(at), listed: uint32(min(at-listedSince(e, time.Unix(at, 0)).Unix(), math.MaxUint32)),
		value: made.Value, earned: made.Earned, held: made.Held, title: hash(e.Title), link: hash(e.Link),
	})
}

// listedSince is when the publisher listed the entry, if it did. Undated, it may have waited for us as long as an entry
// is worth something: a node at its bound is served late.
func listedSince(e *feed.Entry, at time.Time) time.Time {
	for _, t := range []time.Time{e.Published, e.Updated} {
		if !t.IsZero() {
			if t.Before(at) {
				return t
			}
			return at
		}
	}
	return at.Add(-claimedFor)
}

// evict drops the oldest claim of the network that has most of them.
func (c *Claims) evict() {
	most := c.makers.most(protocol.Network.Compare)
	for id, open := range c.open.All {
		if open.maker == most {
			c.end(id, open)
			return
		}
	}
}

// end forgets a claim.
func (c *Claims) end(id feed.EntryID, open *claim) {
	c.uncount(open)
	c.open.Delete(id)
}

// uncount takes note that a claim is forgotten.
func (c *Claims) uncount(open *claim) {
	c.feeds.drop(open.feed)
	c.makers.drop(open.maker)
}

// Of returns the open claim of the entry, and whether there is one.
func (c *Claims) Of(id feed.EntryID) (Claim, bool) {
	if open := c.open.Get(id); open != nil {
		return c.claimed(id, open), true
	}
	return Claim{}, false
}

// End drops the claim of an entry that we know to be true, and returns it, and whether there was one.
func (c *Claims) End(id feed.EntryID) (made Claim, open bool) {
	if made, open = c.Of(id); open {
		c.end(id, c.open.Get(id))
	}
	return made, open
}

// Forget drops all claims of a feed that is not polled any more.
func (c *Claims) Forget(u feed.URL) {
	delete(c.uneven, u)
	of, claimed := c.feeds.find(u)
	if !claimed {
		return
	}
	c.open.DeleteFunc(func(_ feed.EntryID, open *claim) bool {
		if open.feed != of {
			return false
		}
		c.uncount(open)
		return true
	})
}
