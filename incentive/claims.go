package incentive

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/ordered"
	"feedex/protocol"
)

const (
	// maxClaims bounds what is remembered.
	maxClaims = 8192
	// ripe is how old a claim must be before a poll can disprove it: caches before a publisher show
	// readers documents of different age.
	ripe = time.Hour
	// dividedFor is how long a feed counts as divided, and how long a missing claim is remembered.
	dividedFor = 7 * 24 * time.Hour
	// maxMisses bounds the missing claims that are remembered, one for each holder and feed.
	maxMisses = 1024
)

// Claims remembers what neighbors brought and no own poll has shown yet, and judges it by the polls that
// follow. A neighbor whose bundle came with an empty path says that it polled the entries itself. What a
// later poll should list and does not is missing:
//
//   - brought first-hand, it is forged, and counts against the neighbor that claimed it;
//   - relayed, it is nobody's offence that we could know of. In a model of the network, fining relays cut
//     off every honest node within two days. But it was of no use either, and the relay is a witness to who
//     polled it; see Doubts.
//
// A poll can tell only about claims that were an hour old when it began, and that its document reaches
// back beyond: its oldest entry was here before the claimed one was published, or claimed. A claim
// that is not in the window any more is dropped unjudged. So is none by an empty document.
//
// A missing claim is excused where a listed entry has its title or link: publishers edit both, and change
// ids. It is excused where the feed is divided, which is to say that its publisher shows different readers
// different documents: where an own poll saw entries vanish from the middle of the document within a week,
// or where first-hand claims of two holders are missing. The latter excuses nobody who misses in other feeds
// too, and such a holder is no witness: or two forgers would be the excuse of the third. What is excused
// costs no standing, but earns nothing.
type Claims struct {
	open   ordered.Map[feed.EntryID, claim]
	feeds  counted[feed.URL]      // of these
	makers counted[Holder]        // likewise
	misses []miss                 // the latest last
	uneven map[feed.URL]time.Time // feeds of which entries vanished, and until when that counts
}

// A Claim is an entry that a neighbor brought first.
type Claim struct {
	Feed   feed.URL
	Entry  feed.EntryID
	Holder Holder
	Via    protocol.Trail // the nodes that it came through, the neighbor last
	At     time.Time
	Value  Credit // what the entry is worth to us
	Earned Credit // what of it was booked
	// Held is what of it was not, because so many entries of the feed earn in a day: it is owed once an own poll
	// shows the entry.
	Held Credit
}

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
		Feed: c.feeds.key(open.feed), Entry: id, Holder: c.makers.key(open.maker), Via: open.via, At: time.Unix(int64(open.at), 0).UTC(),
		Value: Credit(open.value), Earned: Credit(open.earned), Held: Credit(open.held),
	}
}

// A miss is a first-hand claim that was missing, the latest of one holder in one feed.
type miss struct {
	feed   feed.URL
	holder Holder
	at     time.Time
}

// Listed is an entry of a document. The last document of every feed is kept.
type Listed struct {
	Entry       feed.EntryID
	Digest      feed.Digest
	seen        uint32 // when it came here first, in Unix seconds
	title, link uint32 // hashes, 0 for none
}

// NewListed notes an entry of a document that came here first at seen.
func NewListed(e *feed.Entry, id feed.EntryID, digest feed.Digest, seen time.Time) Listed {
	return Listed{Entry: id, Digest: digest, seen: unix(seen), title: hash(e.Title), link: hash(e.Link)}
}

// hash only ever excuses who copied the text itself, so it need not resist anybody.
func hash(s string) uint32 {
	if s == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return uint32(h.Sum64()>>32) | 1
}

// A Judgement is what a poll says about claims, in the order in which they were made.
type Judgement struct {
	Shown   []Claim // the publisher lists them
	Forged  []Claim // missing, first-hand, without excuse
	Excused []Claim // missing, first-hand, excused
	Relayed []Claim // missing, relayed
	// Doubtful are those of Relayed that nothing excuses: the relay's word against the node that it says polled it.
	Doubtful []Claim
}

// NewClaims returns Claims that remember nothing.
func NewClaims() *Claims {
	return &Claims{uneven: make(map[feed.URL]time.Time)}
}

// Add remembers that a neighbor brought the entry first, for 48 hours at most. Where there is no more room, whoever has most
// claims loses its oldest: a flood pushes out nobody else's.
func (c *Claims) Add(e *feed.Entry, made Claim) {
	if c.open.Get(made.Entry) != nil {
		return
	}
	at := max(made.At.Unix(), 0)
	for id, oldest := c.open.Oldest(); oldest != nil && at-int64(oldest.at) > int64(young/time.Second); id, oldest = c.open.Oldest() {
		c.end(id, oldest)
	}
	if c.open.Len() >= maxClaims {
		c.evict()
	}
	c.open.Put(made.Entry, claim{
		via: made.Via, feed: c.feeds.take(made.Feed), maker: c.makers.take(made.Holder),
		at: uint32(at), listed: uint32(min(at-listedSince(e, seconds(made.At)).Unix(), math.MaxUint32)),
		value: int32(made.Value), earned: int32(made.Earned), held: int32(made.Held), title: hash(e.Title), link: hash(e.Link),
	})
}

// listedSince is when the publisher listed the entry, if it did. Undated, it may have waited for us as long as
// an entry is worth something: whoever stands at its bound is served late.
func listedSince(e *feed.Entry, at time.Time) time.Time {
	for _, t := range []time.Time{e.Published, e.Updated} {
		if !t.IsZero() {
			if t.Before(at) {
				return t
			}
			return at
		}
	}
	return at.Add(-young)
}

// evict drops the oldest claim of the holder that has most of them.
func (c *Claims) evict() {
	most := c.makers.most(Holder.Compare)
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

// Judge ends the claims of a feed of which a poll that began at begun can tell. listed is what the
// publisher's document lists, the oldest entry first: that of this poll or, where nothing was modified, that of the last one.
func (c *Claims) Judge(now, begun time.Time, u feed.URL, listed []Listed) (j Judgement) {
	of, claimed := c.feeds.find(u)
	if len(listed) == 0 || !claimed {
		return j
	}
	// How far back it reaches its old end tells: some publishers keep an old entry before all others.
	shown, alike, reach := make(map[feed.EntryID]bool, len(listed)), kindred(listed), time.Unix(int64(listed[0].seen), 0)
	for _, e := range listed {
		shown[e.Entry] = true
	}
	c.open.DeleteFunc(func(id feed.EntryID, open *claim) bool {
		if open.feed != of {
			return false
		}
		at := time.Unix(int64(open.at), 0)
		made := c.claimed(id, open)
		switch {
		case shown[id]:
			j.Shown = append(j.Shown, made)
		case begun.Sub(at) < ripe:
			return false
		case !reach.Before(at.Add(-time.Duration(open.listed) * time.Second)): // it is not in the window any more
		case !made.FirstHand():
			j.Relayed = append(j.Relayed, made)
			if !alike.has(open.title, open.link) && !c.vanishing(now, u) && !c.divided(now, u) {
				j.Doubtful = append(j.Doubtful, made)
			}
		case alike.has(open.title, open.link) || c.vanishing(now, u):
			j.Excused = append(j.Excused, made)
		case c.divided(now, u) && !c.missesBeside(now, u, made.Holder):
			j.Excused = append(j.Excused, made)
			c.missed(now, u, made.Holder)
		default:
			j.Forged = append(j.Forged, made)
			c.missed(now, u, made.Holder)
		}
		c.uncount(open)
		return true
	})
	return j
}

// missed notes a first-hand claim that was missing.
func (c *Claims) missed(now time.Time, u feed.URL, h Holder) {
	c.misses = slices.DeleteFunc(c.misses, func(m miss) bool { return !m.counts(now) || m.feed == u && m.holder == h })
	if len(c.misses) >= maxMisses {
		c.misses = slices.Delete(c.misses, 0, 1)
	}
	c.misses = append(c.misses, miss{u, h, now})
}

func (m *miss) counts(now time.Time) bool { return now.Sub(m.at).Abs() <= dividedFor }

// missesBeside reports whether claims of h are missing in other feeds too.
func (c *Claims) missesBeside(now time.Time, u feed.URL, h Holder) bool {
	return slices.ContainsFunc(c.misses, func(m miss) bool { return m.holder == h && m.feed != u && m.counts(now) })
}

// divided reports whether claims of two holders are missing that miss nowhere else: they can hardly be wrong
// alike.
func (c *Claims) divided(now time.Time, u feed.URL) bool {
	witnesses := 0
	for _, m := range c.misses {
		if m.feed == u && m.counts(now) && !c.missesBeside(now, u, m.holder) {
			witnesses++
		}
	}
	return witnesses > 1
}

// vanishing reports whether own polls saw entries vanish from the middle of the feed's document.
func (c *Claims) vanishing(now time.Time, u feed.URL) bool { return now.Before(c.uneven[u]) }

// Compare looks at two documents of a feed in a row, each with the oldest entry first. Entries leave a
// document at its old end; where one vanishes and an older one stays, the publisher takes entries back, or
// has more than one document. A claim of such a feed may be missing for the same reason.
func (c *Claims) Compare(now time.Time, u feed.URL, before, after []Listed) {
	if rolled(before, after) {
		return
	}
	still, alike := make(map[feed.EntryID]bool, len(after)), kindred(after)
	for _, e := range after {
		still[e.Entry] = true
	}
	older := false // one of those before it is still listed
	for _, e := range before {
		switch {
		case still[e.Entry]:
			older = true
		case older && !alike.has(e.title, e.link):
			c.uneven[u] = now.Add(dividedFor)
			return
		}
	}
}

// rolled reports whether entries left before at its old end alone, and came at the new end of after: nearly all
// documents change so.
func rolled(before, after []Listed) bool {
	if len(after) == 0 {
		return false
	}
	left := slices.IndexFunc(before, func(e Listed) bool { return e.Entry == after[0].Entry })
	if left < 0 || len(before)-left > len(after) {
		return false
	}
	for i, e := range before[left:] {
		if e.Entry != after[i].Entry {
			return false
		}
	}
	return true
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

// likenesses are the titles and links of a document.
type likenesses map[uint32]bool

func kindred(listed []Listed) likenesses {
	l := make(likenesses, 2*len(listed))
	for _, e := range listed {
		l[e.title], l[e.link] = true, true
	}
	delete(l, 0)
	return l
}

// has reports whether an entry has the title or the link of a listed one, by their hashes.
func (l likenesses) has(title, link uint32) bool { return l[title] || l[link] }
