package protocol

import "feedex/feed"

// contents is the set of facts found out about the entries of a bundle. All copies of the bundle share it, whatever
// paths they went: entries are hashed once, and not by everybody who looks at them.
type contents struct {
	did        DID
	feed       feed.URL
	entries    []feed.Entry // where those of the bundle are: it says nothing about others that a copy was given
	identities []feed.Identity
	bytes      int   // that they take on the wire, at most, but for their extras
	extras     int   // that these take
	verified   bool  // whether they are the bundle of that did and feed
	flaw       error // why they are not
}

// contents is that of the bundle, which must hold an entry.
func (b *Bundle) contents() *contents {
	if b.known == nil || &b.known.entries[0] != &b.Entries[0] || len(b.known.entries) != len(b.Entries) {
		c := &contents{entries: b.Entries, identities: make([]feed.Identity, len(b.Entries))}
		for i := range b.Entries {
			c.identities[i] = b.Entries[i].Identity()
			c.bytes += wireBytes(&b.Entries[i])
			c.extras += extrasBytes(&b.Entries[i].Extras)
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

// named is the contents under the name of the bundle.
func (b *Bundle) named() *contents {
	c := b.contents()
	if c.did != b.DID || c.feed != b.Feed {
		if c.feed != "" { // of a bundle that goes by another name
			other := *c
			c = &other
			b.known = c
		}
		c.did, c.feed, c.verified, c.flaw = b.DID, b.Feed, false, nil
	}
	return c
}
