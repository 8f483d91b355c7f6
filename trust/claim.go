package trust

import (
	"slices"
	"time"

	"feedex/feed"
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

// Claims remembers what neighbors brought and no own poll has shown yet, and judges it by the polls that follow. A
// neighbor whose bundle came with an empty path says that it polled the entries itself. A claimed entry that a later
// poll should list and does not is missing:
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
// A missing claim is excused where a listed entry has its title or link: publishers edit both, and change ids. It is
// excused where the feed is divided, which is to say that its publisher shows different readers different documents:
// where an own poll saw entries vanish from the middle of the document within a week, or where first-hand claims of two
// witnesses are missing. The latter excuses nobody who misses in other feeds too, and such a network speaks for nobody:
// or two forgers would be the excuse of the third. An excused claim costs no standing, but earns nothing.
type Claims struct {
	witnesses *Witnesses

	open   map[feed.EntryID]*claim
	order  []*claim                 // the oldest first, with some that ended
	feeds  map[feed.URL]int         // how many of the open ones are of each
	makers map[protocol.Network]int // and by neighbors of each
	misses []miss                   // the latest last
	uneven map[feed.URL]time.Time   // feeds of which entries vanished, and until when that counts
	polled map[feed.URL]bool        // those of which polls judge claims
}

// A Claim is an entry that a neighbor brought first.
type Claim struct {
	Feed  feed.URL
	Entry feed.EntryID
	Via   []protocol.NodeID // the nodes that it came through, the neighbor last; nobody may write to it
	At    time.Time
	// Account is whose account answers for the claim, as the caller names accounts: another node may be at the
	// neighbor's address by the time that it is judged.
	Account string
	// Credit that hangs on it, as the node's accounts count: the worth of the entry to us, the part of it that was
	// booked, and the part that was not, because so many entries of the feed earn in a day, and none without a date;
	// that is owed once an own poll shows the entry.
	Value, Earned, Held int32
}

// Neighbor is the node that brought it.
func (c *Claim) Neighbor() protocol.NodeID { return c.Via[len(c.Via)-1] }

// Origin is the node that polled it, by the word of the others.
func (c *Claim) Origin() protocol.NodeID { return c.Via[0] }

// FirstHand reports whether the neighbor claims to have polled the entry itself.
func (c *Claim) FirstHand() bool { return len(c.Via) == 1 }

// A claim is a Claim as it is remembered: there are thousands. Times are in Unix seconds.
type claim struct {
	feed                feed.URL
	via                 []protocol.NodeID
	account             string
	listed              int64 // when the publisher listed the entry, if it did
	entry               feed.EntryID
	at                  uint32
	value, earned, held int32
	title, link         uint32
	ended               bool
}

// made is the Claim that is remembered.
func (c *claim) made() Claim {
	return Claim{Feed: c.feed, Entry: c.entry, Via: c.via, At: time.Unix(int64(c.at), 0).UTC(), Account: c.account,
		Value: c.value, Earned: c.earned, Held: c.held}
}

// maker is the network of the neighbor that made it.
func (c *claim) maker() protocol.Network { return c.via[len(c.via)-1].Network() }

// newClaims returns Claims that remember nothing.
func newClaims(w *Witnesses) *Claims {
	return &Claims{witnesses: w, open: make(map[feed.EntryID]*claim), feeds: make(map[feed.URL]int),
		makers: make(map[protocol.Network]int), uneven: make(map[feed.URL]time.Time), polled: make(map[feed.URL]bool)}
}

// Add remembers that a neighbor brought the entry first, for 48 hours at most. Where there is no more room, the network
// with most claims loses one: a flood pushes out nobody else's.
func (c *Claims) Add(e *feed.Entry, made Claim) {
	if c.open[made.Entry] != nil {
		return
	}
	made.At = time.Unix(max(made.At.Unix(), 0), 0).UTC()
	at := made.At.Unix()
	for len(c.order) > 0 && (c.order[0].ended || at-int64(c.order[0].at) > int64(claimedFor/time.Second)) {
		c.end(c.order[0])
		c.order = c.order[1:]
	}
	if len(c.open) >= maxClaims {
		c.evict()
	}
	if len(c.order) > 2*len(c.open) {
		c.order = slices.DeleteFunc(c.order, func(open *claim) bool { return open.ended })
	}
	open := &claim{
		feed: made.Feed, via: made.Via, account: made.Account, listed: listedSince(e, made.At).Unix(),
		entry: made.Entry, at: uint32(at), value: made.Value, earned: made.Earned, held: made.Held,
		title: hash(e.Title), link: hash(e.Link),
	}
	c.open[made.Entry], c.order = open, append(c.order, open)
	c.count(open, 1)
}

// count counts claims as one more of what they are of, or as one less.
func (c *Claims) count(open *claim, by int) {
	u, maker := open.feed, open.maker()
	if c.feeds[u] += by; c.feeds[u] == 0 {
		delete(c.feeds, u)
	}
	if c.makers[maker] += by; c.makers[maker] == 0 {
		delete(c.makers, maker)
	}
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

// evict drops a claim of the network that has most of them, of several the least: the oldest by which no poll can
// convict anybody, or a forger would flood until what he forged is forgotten, and else the oldest.
func (c *Claims) evict() {
	var most protocol.Network
	for maker, n := range c.makers {
		if n > c.makers[most] || n == c.makers[most] && maker.Compare(most) < 0 {
			most = maker
		}
	}
	var out *claim
	for _, open := range c.order {
		if open.ended || open.maker() != most {
			continue
		}
		harmless := len(open.via) > 1 || !c.polled[open.feed]
		if out == nil || harmless {
			out = open
		}
		if harmless {
			break
		}
	}
	c.end(out)
}

// end forgets a claim.
func (c *Claims) end(open *claim) {
	if !open.ended {
		open.ended = true
		c.count(open, -1)
		delete(c.open, open.entry)
	}
}

// Of returns the open claim of the entry, and whether there is one.
func (c *Claims) Of(id feed.EntryID) (made Claim, is bool) {
	if open := c.open[id]; open != nil {
		return open.made(), true
	}
	return Claim{}, false
}

// End drops the claim of an entry, if there is one.
func (c *Claims) End(id feed.EntryID) {
	if open := c.open[id]; open != nil {
		c.end(open)
	}
}

// of are the open claims of a feed, the oldest first.
func (c *Claims) of(u feed.URL) (list []*claim) {
	if c.feeds[u] == 0 {
		return nil
	}
	for _, open := range c.order {
		if !open.ended && open.feed == u {
			list = append(list, open)
		}
	}
	return list
}

// Forget drops all claims of a feed that is not polled any more.
func (c *Claims) Forget(u feed.URL) {
	delete(c.uneven, u)
	delete(c.polled, u)
	for _, open := range c.of(u) {
		c.end(open)
	}
}
