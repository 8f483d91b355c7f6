package archive

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A Pool is what several Memories keep in common: every version of an entry once, however many of them have
// it. Thousands of simulated nodes that read the same feeds fit into one machine so. A Pool and its Memories
// belong to one goroutine. It forgets nothing. Make one with NewPool.
type Pool struct{ contents map[contentKey]*content }

type contentKey struct {
	id     feed.EntryID
	digest feed.Digest
}

// content is one version of an entry.
type content struct {
	id     feed.EntryID
	digest feed.Digest
	entry  feed.Entry
}

// kept is a record as a Memory keeps it.
type kept struct {
	*content
	unix      int64 // when it arrived
	source    protocol.NodeID
	confirmed bool
}

func (k *kept) seen() time.Time { return time.Unix(k.unix, 0).UTC() }

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{contents: make(map[contentKey]*content)} }

// content is the version of the entry that r holds.
func (p *Pool) content(r *Record) *content {
	key := contentKey{r.ID, r.Digest}
	c := p.contents[key]
	if c == nil {
		c = &content{r.ID, r.Digest, r.Entry}
		p.contents[key] = c
	}
	return c
}
