package tracker

import (
	"cmp"
	"container/list"
	"slices"
	"time"

	"feedex/protocol"
)

// A KnownNode is a Registry's memory of a node between two runs.
type KnownNode struct {
	ID        protocol.NodeID `json:"id"`
	Heard     time.Time       `json:"heard"`     // its latest call
	Asked     time.Time       `json:"asked"`     // when it was called back
	Confirmed bool            `json:"confirmed"` // whether it answered then
}

// Snapshot returns what Load needs to go on after a restart, first to be forgotten first. Call backs under
// way are left out: they begin anew with the node's next call.
func (r *Registry) Snapshot(now time.Time) []KnownNode {
	r.expire(now)
	entries := make([]KnownNode, 0, len(r.known))
	for _, queue := range []*list.List{&r.old, &r.live} {
		for e := queue.Front(); e != nil; e = e.Next() {
			if rec := e.Value.(*record); rec.state != pending {
				entries = append(entries, KnownNode{rec.id, rec.heard, rec.asked, rec.state == confirmed})
			}
		}
	}
	return entries
}

// Load fills an empty Registry with the entries of a Snapshot, and returns how many it took. Entries
// that have lapsed since, that are not allowed now, or for which there is no room are left out; times
// after now, from a clock that was wrong, count as now.
func (r *Registry) Load(now time.Time, entries []KnownNode) (loaded int) {
	entries = slices.Clone(entries)
	for i := range entries {
		e := &entries[i]
		if e.Heard.After(now) {
			e.Heard = now
		}
		if e.Asked.After(e.Heard) {
			e.Asked = e.Heard
		}
	}
	slices.SortStableFunc(entries,
		func(a, b KnownNode) int { return cmp.Or(a.left().Compare(b.left()), a.ID.Compare(b.ID)) })
	for _, e := range entries {
		if r.known[e.ID] != nil || !r.mayList(e.ID) || now.Sub(e.left()) >= callBackEvery || !r.hasRoom(e.ID) {
			continue
		}
		rec := r.admit(e.ID)
		rec.heard, rec.asked = e.Heard, e.Asked
		rec.state = refused
		if e.Confirmed {
			rec.state = confirmed
		}
		if e.Confirmed && now.Sub(e.Heard) < expiry {
			r.list(rec)
			r.enqueue(rec, &r.live)
		} else if left := e.left(); left.Before(now) {
			r.retire(rec, left)
		} else {
			r.retire(rec, now)
		}
		loaded++
	}
	return loaded
}

// left is the latest time at which the entry's node can have gone off the list.
func (e KnownNode) left() time.Time { return e.Heard.Add(expiry) }
