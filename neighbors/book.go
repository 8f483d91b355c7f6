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

// The three sources of Paper §3.1, neighbors' neighbors, and those who came to us, in the order in which
// they are tried.
const (
	Remembered Source = iota // a neighbor of earlier that we chose: trust needs time, and there was some
	Listed                   // named in a feed document
	Tracked                  // named by a tracker
	Told                     // named by a neighbor
	Came                     // a neighbor of earlier that came by itself: who wants our places must not be the first to get them
	sources
)

const (
	// maxAddresses bounds the Book.
	maxAddresses = 1000
	// maxOfSource bounds what one source may fill of it.
	maxOfSource = maxAddresses / 4
	// maxAnchors is how many neighbors of the last run are tried before everyone else, and lastWord how
	// long before its end a neighbor may have been noted last.
	maxAnchors = 2
	lastWord   = 10 * time.Minute
)

// A Peer is a node that was a neighbor once, as the Book remembers it. The archive keeps it.
type Peer struct {
	ID       protocol.NodeID
	FirstMet time.Time
	LastMet  time.Time     // end of the last link, or its last sign of life
	Together time.Duration // time linked, over all links that we asked for
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
	peer    Peer
	network netip.Prefix // that it is on
	source  Source
	added   time.Time
	heard   time.Time // when it last answered us; zero for never
	after   time.Time // not to be tried before
	trying  bool
	linked  bool // it is a neighbor now
	anchor  bool // it was one when the last run ended, by our choice and for longest

	searchAt time.Time // when it is to be tried again because it was lost; zero if it was not, or is back
	searches int       // times that this was put off
}

// met reports whether it was a neighbor once.
func (a *address) met() bool { return !a.peer.LastMet.IsZero() }

// acquaintance is for how long we have known a neighbor of earlier.
func (p Peer) acquaintance() time.Duration { return p.LastMet.Sub(p.FirstMet) }

// NewBook returns a Book that remembers peers, those that we were linked with longest if there are too
// many. allowLocal lifts the bound on addresses of one network where they are not public.
func NewBook(now time.Time, rng *rand.Rand, allowLocal bool, peers []Peer) *Book {
	b := &Book{rng: rng, local: allowLocal, byID: make(map[protocol.NodeID]*address), failing: make(map[netip.Prefix]failing)}
	peers = slices.Clone(peers)
	slices.SortStableFunc(peers, func(x, y Peer) int {
		return cmp.Or(cmp.Compare(y.Together, x.Together), cmp.Compare(y.acquaintance(), x.acquaintance()))
	})
	ended := lastRun(peers)
	came, anchors := 0, 0
	for _, p := range peers[:min(len(peers), maxAddresses)] {
		p.Failures = 0 // after a restart everyone gets a new chance
		a := &address{peer: p, source: Remembered, added: now, heard: p.LastMet}
		switch {
		case p.Together <= 0:
			if came++; came > maxOfSource {
				continue
			}
			a.source = Came
		case anchors < maxAnchors && a.met() && ended.Sub(p.LastMet) <= lastWord:
			a.anchor = true
			anchors++
		}
		b.insert(a)
	}
	return b
}

// lastRun is when the run ended that left these peers behind.
func lastRun(peers []Peer) (ended time.Time) {
	for _, p := range peers {
		if p.LastMet.After(ended) {
			ended = p.LastMet
		}
	}
	return ended
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
		if a.source == source && !a.trying && !a.met() && a.peer.Failures > 0 && (worst < 0 || a.peer.Failures > b.list[worst].peer.Failures) {
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
	same, network := 0, Network(id.Addr())
	for _, a := range b.list {
		if a.network == network {
			same++
		}
	}
	return same >= maxPerNetwork
}

func (b *Book) insert(a *address) {
	a.network = Network(a.peer.ID.Addr())
	b.byID[a.peer.ID] = a
	b.list = append(b.list, a)
}

// evict makes room for one address among those that may go: first what was never a neighbor, the most
// often failed at its head, then the one that we were linked with least by our own choice, or have known for
// the shortest time.
func (b *Book) evict(may func(*address) bool) (gone protocol.NodeID) {
	var worst *address
	for _, a := range b.list {
		if !a.trying && !a.linked && may(a) && (worst == nil || worse(a, worst)) {
			worst = a
		}
	}
	if worst != nil {
		gone = worst.peer.ID
		b.Forget(gone)
	}
	return gone
}

// worse reports whether a is the better one to forget.
func worse(a, other *address) bool {
	if a.met() != other.met() {
		return other.met()
	}
	return cmp.Or(
		cmp.Compare(a.peer.Together, other.peer.Together),
		cmp.Compare(a.peer.acquaintance(), other.peer.acquaintance()),
		cmp.Compare(other.peer.Failures, a.peer.Failures),
	) < 0
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
