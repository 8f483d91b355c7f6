package neighbors

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A Source is where an address came from. Lower ones are tried first.
type Source int

// The three sources of Paper §3.1, and neighbors' neighbors, in the order in which they are tried.
const (
	Remembered Source = iota // a neighbor of earlier: trust needs time, and there was some
	Listed                   // named in a feed document
	Tracked                  // named by a tracker
	Told                     // named by a neighbor
	sources
)

const (
	// maxAddresses bounds the Book.
	maxAddresses = 1000
	// maxOfSource bounds what one source may fill of it.
	maxOfSource = maxAddresses / 4
	// maxPerSource is how many addresses of one source are called at a time: whoever lists a victim
	// many times must not make us an attacker.
	maxPerSource = 2
	// firstWait and longestWait bound the time until an address that did not answer is tried again;
	// it doubles with each failure.
	firstWait   = 15 * time.Second
	longestWait = 6 * time.Hour
)

// A Peer is a node that was a neighbor once, as the Book remembers it. The archive keeps it.
type Peer struct {
	ID       protocol.NodeID
	FirstMet time.Time
	LastMet  time.Time     // end of the last link, or its last sign of life
	Together time.Duration // time linked, over all links
	Failures int           // failed connects since the last link
}

// A Book remembers addresses of nodes that may become neighbors. It does not link or call; it says
// whom to try next.
type Book struct {
	rng   *rand.Rand
	local bool // addresses that are not public may share a network
	byID  map[protocol.NodeID]*address
	list  []*address // in the order in which they came
	// failing are networks of which addresses failed: a victim that is named under ever new ports is
	// not called each time anew.
	failing map[netip.Prefix]failing
}

// failing is how often addresses of a network failed in a row, and until when it is left alone.
type failing struct {
	count int
	after time.Time
}

// An address is what the Book knows of one node.
type address struct {
	peer   Peer
	source Source
	added  time.Time
	after  time.Time // not to be tried before
	trying bool
	linked bool // it is a neighbor now
}

// NewBook returns a Book that remembers peers, those that we were linked with longest if there are too
// many. allowLocal lifts the bound on addresses of one network where they are not public.
func NewBook(now time.Time, rng *rand.Rand, allowLocal bool, peers []Peer) *Book {
	b := &Book{rng: rng, local: allowLocal, byID: make(map[protocol.NodeID]*address), failing: make(map[netip.Prefix]failing)}
	peers = slices.Clone(peers)
	slices.SortStableFunc(peers, func(x, y Peer) int { return cmp.Compare(y.Together, x.Together) })
	for _, p := range peers[:min(len(peers), maxAddresses)] {
		p.Failures = 0 // after a restart everyone gets a new chance
		b.insert(&address{peer: p, source: Remembered, added: now})
	}
	return b
}

// Add notes ids that a source named. One that is known already stays as it is. At most two of one network
// are taken: whoever lists a victim under many ports, or a network of their own, must not fill the Book.
// Where it is full, or the source has filled its part, a newcomer takes the place of one of the same source
// that failed, or none.
func (b *Book) Add(now time.Time, source Source, ids []protocol.NodeID) {
	for _, id := range ids {
		if b.byID[id] != nil || b.crowded(id) {
			continue
		}
		if len(b.list) >= maxAddresses || b.count(source) >= maxOfSource {
			if !b.evictFailed(source) {
				return
			}
		}
		b.insert(&address{peer: Peer{ID: id}, source: source, added: now})
	}
}

// count is how many addresses a source named.
func (b *Book) count(source Source) (n int) {
	for _, a := range b.list {
		if a.source == source {
			n++
		}
	}
	return n
}

// evictFailed makes room for one address of a source among its own: the most often failed goes.
func (b *Book) evictFailed(source Source) bool {
	worst := -1
	for i, a := range b.list {
		if a.source == source && !a.trying && a.peer.Failures > 0 && (worst < 0 || a.peer.Failures > b.list[worst].peer.Failures) {
			worst = i
		}
	}
	if worst < 0 {
		return false
	}
	b.Forget(b.list[worst].peer.ID)
	return true
}

// crowded reports whether the Book holds two addresses on the network of id already.
func (b *Book) crowded(id protocol.NodeID) bool {
	if b.local && !feed.PublicAddr(id.Addr()) {
		return false
	}
	same := 0
	for _, a := range b.list {
		if Network(a.peer.ID.Addr()) == Network(id.Addr()) {
			same++
		}
	}
	return same >= maxPerNetwork
}

func (b *Book) insert(a *address) {
	b.byID[a.peer.ID] = a
	b.list = append(b.list, a)
}

// evict makes room for one address: of those that were never neighbors the most often failed or, if there
// are none, the remembered one that we were linked with least.
func (b *Book) evict() (gone protocol.NodeID, ok bool) {
	worst := -1
	for i, a := range b.list {
		if a.trying || a.linked {
			continue
		}
		if worst < 0 || worse(a, b.list[worst]) {
			worst = i
		}
	}
	if worst < 0 {
		return protocol.NodeID{}, false
	}
	gone = b.list[worst].peer.ID
	delete(b.byID, gone)
	b.list = slices.Delete(b.list, worst, worst+1)
	return gone, true
}

// worse reports whether a is the better one to forget.
func worse(a, other *address) bool {
	if (a.source == Remembered) != (other.source == Remembered) {
		return other.source == Remembered
	}
	return cmp.Or(cmp.Compare(other.peer.Failures, a.peer.Failures), cmp.Compare(a.peer.Together, other.peer.Together)) < 0
}

// Candidates picks at most n addresses to try now and marks them as being tried: remembered neighbors
// first, those we were linked with longest at their head, then the other sources in random order.
// skip tells which not to take.
func (b *Book) Candidates(now time.Time, n int, skip func(protocol.NodeID) bool) []protocol.NodeID {
	var trying [sources]int
	var ready []*address
	for _, a := range b.list {
		switch {
		case a.trying:
			trying[a.source]++
		case !now.Before(a.after) && !b.resting(now, a) && !skip(a.peer.ID):
			ready = append(ready, a)
		}
	}
	b.rng.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	slices.SortStableFunc(ready, func(x, y *address) int {
		return cmp.Or(
			cmp.Compare(x.source, y.source),
			cmp.Compare(x.peer.Failures, y.peer.Failures),
			cmp.Compare(y.peer.Together, x.peer.Together),
		)
	})
	var picked []protocol.NodeID
	for _, a := range ready {
		if len(picked) == n {
			break
		}
		if trying[a.source] == maxPerSource {
			continue
		}
		trying[a.source]++
		a.trying = true
		picked = append(picked, a.peer.ID)
	}
	return picked
}

// Ready reports whether there is an address to try now. skip tells which do not count.
func (b *Book) Ready(now time.Time, skip func(protocol.NodeID) bool) bool {
	return slices.ContainsFunc(b.list, func(a *address) bool {
		return !a.trying && !now.Before(a.after) && !b.resting(now, a) && !skip(a.peer.ID)
	})
}

// Next is when the first of the addresses that wait after a failure may be tried again; the zero time
// where none waits. skip tells which do not count.
func (b *Book) Next(now time.Time, skip func(protocol.NodeID) bool) time.Time {
	var next time.Time
	for _, a := range b.list {
		if a.trying || !a.after.After(now) || skip(a.peer.ID) {
			continue
		}
		if next.IsZero() || a.after.Before(next) {
			next = a.after
		}
	}
	return next
}

// Failed notes that id did not answer, or declined: it is tried again after a growing while.
func (b *Book) Failed(now time.Time, id protocol.NodeID) {
	a := b.byID[id]
	if a == nil {
		return
	}
	a.trying = false
	b.rest(now, a)
	wait := min(longestWait, firstWait<<min(a.peer.Failures, 12))
	a.peer.Failures++
	a.after = now.Add(wait + time.Duration(b.rng.Int64N(int64(wait/4)+1)))
}

// maxFailing bounds the networks that are left alone.
const maxFailing = 4096

// rest leaves the network of an address that was never a neighbor alone for a while.
func (b *Book) rest(now time.Time, a *address) {
	if a.source == Remembered || b.local && !feed.PublicAddr(a.peer.ID.Addr()) {
		return
	}
	if len(b.failing) >= maxFailing {
		clear(b.failing)
	}
	network := Network(a.peer.ID.Addr())
	f := b.failing[network]
	f.after = now.Add(min(longestWait, firstWait<<min(f.count, 12)))
	f.count++
	b.failing[network] = f
}

// resting reports whether the network of an address is left alone.
func (b *Book) resting(now time.Time, a *address) bool {
	return a.source != Remembered && now.Before(b.failing[Network(a.peer.ID.Addr())].after)
}

// Met notes that id became a neighbor now, or still is one, and returns what to remember of it. forgotten
// is whom the Book had no room for any more, zero for nobody.
func (b *Book) Met(now time.Time, id protocol.NodeID) (p Peer, forgotten protocol.NodeID) {
	a := b.byID[id]
	if a == nil {
		if len(b.list) >= maxAddresses {
			forgotten, _ = b.evict()
		}
		a = &address{peer: Peer{ID: id}, added: now}
		b.insert(a)
	}
	a.trying, a.linked, a.source, a.peer.Failures = false, true, Remembered, 0
	delete(b.failing, Network(id.Addr()))
	if a.peer.FirstMet.IsZero() {
		a.peer.FirstMet = now
	}
	a.peer.LastMet = now
	return a.peer, forgotten
}

// Parted notes that the link to id, which began at since, is over, and returns what to remember of it.
// It is tried again after a while.
func (b *Book) Parted(now time.Time, id protocol.NodeID, since time.Time) Peer {
	a := b.byID[id]
	if a == nil {
		b.Met(now, id)
		a = b.byID[id]
	}
	a.linked, a.peer.LastMet = false, now
	a.peer.Together += now.Sub(since)
	a.after = now.Add(firstWait/3 + time.Duration(b.rng.Int64N(int64(firstWait))))
	return a.peer
}

// Remembered is what to remember of a neighbor whose link, which began at since, goes on: should the host
// crash, the time together so far is not lost.
func (b *Book) Remembered(now time.Time, id protocol.NodeID, since time.Time) Peer {
	p, _ := b.Met(now, id)
	p.Together += now.Sub(since)
	return p
}

// Forget removes id: it is ourselves, or no node at all.
func (b *Book) Forget(id protocol.NodeID) {
	if b.byID[id] == nil {
		return
	}
	delete(b.byID, id)
	b.list = slices.DeleteFunc(b.list, func(a *address) bool { return a.peer.ID == id })
}

// Len is the number of addresses.
func (b *Book) Len() int { return len(b.list) }
