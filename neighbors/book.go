package neighbors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// An Origin is where an address came from. Lower ones are tried first.
type Origin uint8

// The three sources of Paper §3.1, those of the host (node.Discovered), neighbors' neighbors, and nodes that came to
// us, in the order in which they are tried.
const (
	Remembered Origin = iota // a neighbor of earlier that we chose: trust needs time, and there was some
	Near                     // on the network of this machine
	Listed                   // named in a feed document
	Tracked                  // named by a tracker
	Told                     // named by a neighbor
	Announced                // named by a rendezvous at which everybody may announce anything
	// a neighbor of earlier that came by itself: an attacker that wants our places must not be the first to get them
	Came
	// polls feeds of ours, by the word of neighbors: such an address is tried by Best alone, and for no free place
	Overheard
	sources
)

const (
	// maxAddresses bounds the Book.
	maxAddresses = 1000
	// maxOfSource bounds what one source may fill of it.
	maxOfSource = maxAddresses / 4
)

// A Book remembers addresses of nodes that may become neighbors. It does not link or call; it says which to try next.
type Book struct {
	rng   *rand.Rand
	local bool // addresses that are not public may share a network
	byID  map[protocol.NodeID]*address
	list  []*address // in the order in which they came
	// failing are networks of which addresses failed: a victim that is named under ever new ports is
	// not called each time anew.
	failing map[packedNetwork]failing
}

// failing is how often addresses of a network failed in a row, and until when it is left alone.
type failing struct {
	count int
	after time.Time
}

// An address is the Book's knowledge of one node, of which most never become neighbors.
type address struct {
	id       protocol.NodeID
	source   Origin
	trying   bool
	linked   bool   // it is a neighbor now
	failures uint32 // failed connects since the last link
	network  packedNetwork
	added    unixNano
	heard    unixNano // when it last answered us
	after    unixNano // not to be tried before
	past     *past    // what there was with it as a neighbor, nil for nothing
}

// past is the Book's knowledge of a neighbor of earlier.
type past struct {
	firstMet, lastMet unixNano
	together          time.Duration
	searchAt          unixNano // when it is to be tried again because it was lost; never if it was not, or is back
	searches          int      // times that this was put off
}

// A unixNano is a time in Unix nanoseconds, and 0 never: there are many, and a time.Time is three words.
type unixNano int64

func unixNanoOf(t time.Time) unixNano {
	if t.IsZero() {
		return 0
	}
	return unixNano(t.UnixNano())
}

func (m unixNano) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// peer returns the facts to remember of the node.
func (a *address) peer() protocol.FormerNeighbor {
	p := protocol.FormerNeighbor{ID: a.id, Failures: int(a.failures)}
	if a.past != nil {
		p.FirstMet, p.LastMet, p.Together = a.past.firstMet.time(), a.past.lastMet.time(), a.past.together
	}
	return p
}

// met reports whether it was a neighbor once.
func (a *address) met() bool { return a.past != nil && a.past.lastMet != 0 }

// together is for how long it was a neighbor by our choice.
func (a *address) together() time.Duration {
	if a.past == nil {
		return 0
	}
	return a.past.together
}

// acquaintance is for how long we have known a neighbor of earlier.
func (a *address) acquaintance() time.Duration {
	if a.past == nil {
		return 0
	}
	return time.Duration(a.past.lastMet - a.past.firstMet)
}

// NewBook returns a Book that remembers peers, those that we were linked with longest if there are too
// many. allowLocal lifts the bound on addresses of one network where they are not public.
func NewBook(now time.Time, rng *rand.Rand, allowLocal bool, peers []protocol.FormerNeighbor) *Book {
	b := &Book{rng: rng, local: allowLocal, byID: make(map[protocol.NodeID]*address),
		failing: make(map[packedNetwork]failing)}
	peers = slices.Clone(peers)
	slices.SortStableFunc(peers, func(x, y protocol.FormerNeighbor) int {
		return cmp.Or(cmp.Compare(y.Together, x.Together),
			cmp.Compare(y.LastMet.Sub(y.FirstMet), x.LastMet.Sub(x.FirstMet)))
	})
	came := 0
	for _, p := range peers[:min(len(peers), maxAddresses)] {
		a := &address{ // after a restart everyone gets a new chance
			id: p.ID, source: Remembered, added: unixNanoOf(now), heard: unixNanoOf(p.LastMet),
			past: &past{firstMet: unixNanoOf(p.FirstMet), lastMet: unixNanoOf(p.LastMet), together: p.Together},
		}
		if p.Together <= 0 {
			if came++; came > maxOfSource {
				continue
			}
			a.source = Came
		}
		b.insert(a)
	}
	return b
}

// Add notes ids that a source named. One that is known already stays as it is. At most two of one network are taken: an
// attacker that lists a victim under many ports, or a network of its own, must not fill the Book; how many are Near the
// host bounds. Where it is full, or the source has filled its part, a newcomer takes the place of one of the same
// source that failed, or none.
func (b *Book) Add(now time.Time, source Origin, ids []protocol.NodeID) {
	for _, id := range ids {
		if a := b.byID[id]; a != nil {
			a.named(source)
			continue
		}
		if source != Near && b.crowded(id) {
			continue
		}
		if len(b.list) >= maxAddresses || b.count(source) >= maxOfSource {
			if !b.evictFailed(source) {
				return
			}
		}
		b.insert(&address{id: id, source: source, added: unixNanoOf(now)})
	}
}

// named notes that a source named the address, too. That matters where it was Overheard alone.
func (a *address) named(source Origin) {
	if a.source == Overheard {
		a.source = source
	}
}

// count is how many addresses a source named.
func (b *Book) count(source Origin) (n int) {
	for _, a := range b.list {
		if a.source == source {
			n++
		}
	}
	return n
}

// evictFailed makes room for one address of a source among its own: the most often failed goes.
func (b *Book) evictFailed(source Origin) bool {
	worst := -1
	for i, a := range b.list {
		if a.source == source && !a.trying && !a.met() && a.failures > 0 &&
			(worst < 0 || a.failures > b.list[worst].failures) {
			worst = i
		}
	}
	if worst < 0 {
		return false
	}
	b.Forget(b.list[worst].id)
	return true
}

// crowded reports whether the Book holds two addresses on the network of id already.
func (b *Book) crowded(id protocol.NodeID) bool {
	if b.local && !feed.PublicAddr(id.Addr()) {
		return false
	}
	same, network := 0, networkOf(id)
	for _, a := range b.list {
		if a.network == network {
			same++
		}
	}
	return same >= maxPerNetwork
}

func (b *Book) insert(a *address) {
	a.network = networkOf(a.id)
	b.byID[a.id] = a
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
		gone = worst.id
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
		cmp.Compare(a.together(), other.together()),
		cmp.Compare(a.acquaintance(), other.acquaintance()),
		cmp.Compare(other.failures, a.failures),
	) < 0
}

// Forget removes id: it is ourselves, or no node at all.
func (b *Book) Forget(id protocol.NodeID) {
	if b.byID[id] == nil {
		return
	}
	delete(b.byID, id)
	b.list = slices.DeleteFunc(b.list, func(a *address) bool { return a.id == id })
}

// ForgetStranger removes id, unless it was a neighbor once.
func (b *Book) ForgetStranger(id protocol.NodeID) {
	if a := b.byID[id]; a != nil && !a.met() {
		b.Forget(id)
	}
}

// Len is the number of addresses.
func (b *Book) Len() int { return len(b.list) }
