package lab

import (
	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/search"
)

// Plant puts entries into the member's archive, as if they had been there since they were published.
func (h *Host) Plant(entries ...feed.Entry) {
	records := make([]archive.Record, len(entries))
	for i, e := range entries {
		records[i] = archive.NewRecord(e, e.Published, protocol.NodeID{})
	}
	h.store.Keep(records)
}

// Holds is how many of these entries the member's archive has.
func (h *Host) Holds(ids []feed.EntryID) (count int) {
	for _, v := range h.store.Known(ids) {
		if !v.New() {
			count++
		}
	}
	return count
}

// Query has the member's owner search the network. result is called with what comes of it, the last time with
// Done set, unless the member ends before.
func (h *Host) Query(q protocol.Query, result func(node.QueryResults)) {
	if h.queries == nil {
		h.queries = make(map[uint64]func(node.QueryResults))
	}
	h.lastQuery++
	h.queries[h.lastQuery] = result
	h.Tell(node.OwnerQuery{Tag: h.lastQuery, Query: q, Explicit: true})
}

// told passes QueryResults on, once the step is over.
func (h *Host) told(r node.QueryResults) {
	result := h.queries[r.Tag]
	if r.Done {
		delete(h.queries, r.Tag)
	}
	if result != nil {
		h.world.At(h.world.Now(), func() { result(r) })
	}
}

// Pull has the member's owner download what a query found. What comes of it, Holds tells.
func (h *Host) Pull(wishes []search.Wish) {
	h.lastQuery++
	h.Tell(node.Pull{Tag: h.lastQuery, Wishes: wishes})
}
