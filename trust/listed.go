package trust

import (
	"hash/fnv"
	"slices"
	"time"

	"feedex/feed"
)

// Listed is an entry of a document. The last document of every feed is kept.
type Listed struct {
	Entry       feed.EntryID
	Digest      feed.Digest
	seen        uint32 // when it came here first, in Unix seconds
	title, link uint32 // hashes, 0 for none
	altered     bool   // what was kept of it before says something else
}

// NewListed notes an entry of a document that came here first at seen, and whether what was kept of it before says
// something else.
func NewListed(e *feed.Entry, id feed.EntryID, digest feed.Digest, seen time.Time, altered bool) Listed {
	return Listed{
		Entry: id, Digest: digest, seen: uint32(max(seen.Unix(), 0)), title: hash(e.Title), link: hash(e.Link),
		altered: altered,
	}
}

// hash only ever excuses a neighbor that copied the text itself, so it need not resist anybody.
func hash(s string) uint32 {
	if s == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return uint32(h.Sum64()>>32) | 1
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
