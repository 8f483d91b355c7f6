package archive

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A Pool is the store that several Memories keep in common: every version of an entry once, however many of them have
// it, and a number for each entry, did and node, which takes a fifth of the room. Thousands of simulated nodes that
// read the same feeds fit into one machine so. A Pool and its Memories belong to one goroutine. It forgets nothing.
// Make one with NewPool.
type Pool struct {
	versions map[contentKey]int32 // indices into contents
	contents []content
	entries  map[feed.EntryID]int32 // numbers
	dids     numbered[protocol.DID]
	nodes    numbered[protocol.NodeID]
}

// numbered are values with a number each.
type numbered[T comparable] struct {
	list    []T
	numbers map[T]int32 // indices into list
}

// number is that of a value, which may be new.
func (n *numbered[T]) number(value T) int32 {
	number, known := n.numbers[value]
	if !known {
		if n.numbers == nil {
			n.numbers = make(map[T]int32)
		}
		number = int32(len(n.list))
		n.numbers[value] = number
		n.list = append(n.list, value)
	}
	return number
}

type contentKey struct {
	id     feed.EntryID
	digest feed.Digest
	extras feed.ExtrasSum
}

// content is one version of an entry.
type content struct {
	id     feed.EntryID
	digest feed.Digest
	entry  feed.Entry
	number int32 // of the entry
}

// keptRecord is a record as a Memory keeps it.
type keptRecord struct {
	version   int32  // among the pool's contents
	source    int32  // among the pool's nodes
	unix      uint32 // when it arrived
	confirmed bool
	polled    bool // an own poll has shown this version
	owners    bool // one has, and others must not know
	purged    bool // there is nothing any more
	apart     bool // as others know it (see Shared)
}

func (k *keptRecord) seen() time.Time { return time.Unix(int64(k.unix), 0).UTC() }

// seconds is t as a keptRecord has it.
func seconds(t time.Time) uint32 { return uint32(max(t.Unix(), 0)) }

// NewPool returns an empty pool.
func NewPool() *Pool {
	return &Pool{versions: make(map[contentKey]int32), entries: make(map[feed.EntryID]int32)}
}

// version is which of the contents r holds.
func (p *Pool) version(r *Record) int32 {
	key := contentKey{r.ID, r.Digest, r.Entry.Extras.Sum()}
	version, known := p.versions[key]
	if !known {
		number, known := p.entries[r.ID]
		if !known {
			number = int32(len(p.entries))
			p.entries[r.ID] = number
		}
		version = int32(len(p.contents))
		p.contents = append(p.contents, content{r.ID, r.Digest, r.Entry, number})
		p.versions[key] = version
	}
	return version
}
