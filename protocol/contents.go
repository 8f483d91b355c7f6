package protocol

import "feedex/feed"

// contents is what was found out about the entries of a bundle. All copies of the bundle share it, whatever paths
// they went: entries are hashed once, and not by everybody who looks at them.
type contents struct {
	first      *feed.Entry // where those entries are: it says nothing about others that a copy was given
	count      int
	identities []feed.Identity
	bytes      int // that they take on the wire, at most
}

// contents is that of the bundle, which must hold an entry.
func (b *Bundle) contents() *contents {
	if b.known == nil || b.known.first != &b.Entries[0] || b.known.count != len(b.Entries) {
		c := &contents{first: &b.Entries[0], count: len(b.Entries), identities: make([]feed.Identity, len(b.Entries))}
		for i := range b.Entries {
			c.identities[i] = b.Entries[i].Identity()
			c.bytes += wireBytes(&b.Entries[i])
		}
		b.known = c
	}
	return b.known
}

// Identities are those of the entries, in their order. Nobody may write to the list.
func (b *Bundle) Identities() []feed.Identity {
	if len(b.Entries) == 0 {
		return nil
	}
	return b.contents().identities
}
