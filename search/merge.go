package search

import (
	"cmp"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/protocol"
)

// A Hit is one version of an entry, and the nodes that have it.
type Hit struct {
	protocol.Found
	// Here says that our own archive keeps the entry, be it in another version or beyond the limit of a search of it.
	Here bool
	// Score is how well it fits, where those that fit best go first. It is computed where the hit is added, from what
	// is listed: what others say about it can be made up.
	Score  int
	firsts []protocol.NodeID // the neighbors that told of it
}

// Told is how many of our neighbors told of the hit, each by ways of its own. Our own archive counts as well.
func (h *Hit) Told() int { return len(h.firsts) }

// Copy is the hit as it is now.
func (h *Hit) Copy() Hit {
	c := *h
	c.Holders, c.firsts = slices.Clone(h.Holders), slices.Clone(h.firsts)
	return c
}

// version is the key that tells hits apart: versions of an entry that differ are kept side by side. So is what is said
// otherwise of one, as the digest shows only to who has the entry which words and dates are true.
type version struct {
	id                 feed.EntryID
	digest             feed.Digest
	feed               feed.URL
	title, link        string
	published, updated int64
}

func versionOf(f *protocol.Found) version {
	return version{f.ID, f.Digest, f.Feed, f.Title, f.Link, f.Published.Unix(), f.Updated.Unix()}
}

// Results puts answers together. Make one with NewResults.
type Results struct {
	limit     int
	relevance bool
	hits      []*Hit
	known     map[version]*Hit
	cut       bool
	left      time.Time // the latest time of those that were forgotten
}

// NewResults returns Results that keep so many hits, the best by Score or the newest.
func NewResults(limit int, relevance bool) *Results {
	return &Results{limit: limit, relevance: relevance, known: make(map[version]*Hit)}
}

// Add takes in what from told of, the zero id being ourselves, and returns the hit that it is part of, and
// whether that is new. Holders that make no sense must have been left out; where they are missing, from is
// the holder.
func (r *Results) Add(from protocol.NodeID, found protocol.Found, score int) (h *Hit, fresh bool) {
	v := versionOf(&found)
	h = r.known[v]
	fresh = h == nil
	if fresh {
		h = &Hit{Found: found, Score: score}
		h.Holders = nil
		r.known[v] = h
		r.hits = append(r.hits, h)
	}
	if !slices.Contains(h.firsts, from) {
		h.firsts = append(h.firsts, from)
	}
	for _, id := range found.Holders {
		if id.IsZero() {
			id = from
		}
		h.hold(id)
	}
	if len(found.Holders) == 0 {
		h.hold(from)
	}
	return h, fresh
}

// hold notes that a node has the hit. We ourselves stand first.
func (h *Hit) hold(id protocol.NodeID) {
	switch {
	case slices.Contains(h.Holders, id):
	case id.IsZero():
		h.Holders = slices.Insert(h.Holders, 0, id)[:min(len(h.Holders)+1, protocol.MaxHolders)]
	case len(h.Holders) < protocol.MaxHolders:
		h.Holders = append(h.Holders, id)
	}
}

// Trim forgets what is beyond the limit, so that no more is held than is answered. The hits that go are the last by
// rank, but not of neighbors that told of no more than their share: none crowds the others out by what it makes up.
func (r *Results) Trim(now time.Time) {
	r.rank(now)
	if len(r.hits) <= r.limit {
		return
	}
	r.cut = true
	kept := r.shared()
	r.hits = slices.DeleteFunc(r.hits, func(h *Hit) bool {
		if !kept[h] {
			delete(r.known, versionOf(&h.Found))
			r.left = when.Later(r.left, Time(&h.Found))
		}
		return !kept[h]
	})
}

// shared are the hits that stay, as many as the limit allows: of each teller the best up to an equal share, each hit
// counted to that of its tellers who has most room, and then those of the most tellers.
func (r *Results) shared() map[*Hit]bool {
	room := make(map[protocol.NodeID]int)
	for _, h := range r.hits {
		for _, id := range h.firsts {
			room[id] = 0
		}
	}
	for id := range room {
		room[id] = r.limit / len(room)
	}
	kept := make(map[*Hit]bool, r.limit)
	var rest []*Hit
	for _, h := range r.hits {
		most := slices.MaxFunc(h.firsts, func(a, b protocol.NodeID) int { return cmp.Compare(room[a], room[b]) })
		if room[most] == 0 {
			rest = append(rest, h)
			continue
		}
		room[most]--
		kept[h] = true
	}
	slices.SortStableFunc(rest, func(a, b *Hit) int { return cmp.Compare(b.Told(), a.Told()) })
	for _, h := range rest[:min(len(rest), r.limit-len(kept))] {
		kept[h] = true
	}
	return kept
}

// CompleteSince is since when, in whole seconds, no hit was forgotten; the zero time where none was at all.
func (r *Results) CompleteSince() time.Time {
	if !r.cut {
		return time.Time{}
	}
	return After(r.left)
}

// After is the first whole second after t: of the one that t is in, others may have been left out.
func After(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }

// Keeps reports whether the hit is still among the best.
func (r *Results) Keeps(h *Hit) bool { return r.known[versionOf(&h.Found)] == h }

// Hits are the hits, the best first, and whether there were more.
func (r *Results) Hits(now time.Time) (hits []*Hit, cut bool) {
	r.Trim(now)
	return r.hits, r.cut
}

// rank orders the hits: by Score where that was asked for, then the newest first, then by how many told of
// it. A date in the future is none.
func (r *Results) rank(now time.Time) {
	slices.SortStableFunc(r.hits, func(a, b *Hit) int {
		if r.relevance && a.Score != b.Score {
			return cmp.Compare(b.Score, a.Score)
		}
		return cmp.Or(
			when.Earlier(Time(&b.Found), now).Compare(when.Earlier(Time(&a.Found), now)),
			cmp.Compare(b.Told(), a.Told()),
			a.ID.Compare(b.ID),
			slices.Compare(a.Digest[:], b.Digest[:]),
		)
	})
}
