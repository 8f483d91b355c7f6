package node

import (
	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// A feed that is followed discreetly is polled, and to the neighbors it is one that only some other neighbor
// of ours follows: it is advertised at hop count 1, and what the own polls bring leaves no trace. A bundle
// with an empty path would tell for sure who polled; a path that names another would be a lie about that
// one. So such entries are neither offered nor served to queries, and offers of them are answered "unseen".
// Once a neighbor brings them they go on with its path, as if they had come by it alone.

// Discreet reports whether neighbors are not to learn that the node follows the feed. What its publisher sends is then
// to be hidden from others (archive.Entries.Hide), also where the host stores it.
func (n *Node) Discreet(u feed.URL) bool {
	s := n.feeds[u]
	return s != nil && s.Discreet
}

// betrays reports whether the bundle would show that we poll a feed that is followed discreetly.
func (n *Node) betrays(b *protocol.Bundle) bool { return len(b.Path) == 0 && n.Discreet(b.Feed) }

// hide keeps what an own poll brought from everyone else.
func (n *Node) hide(fresh []archive.Record) {
	ids := make([]feed.EntryID, len(fresh))
	for i := range fresh {
		ids[i] = fresh[i].ID
	}
	n.store.Hide(ids)
}

// reveal notes that a neighbor brought records of which known are the versions that are kept, and returns those
// that until now only we knew of. A version other than ours is not what we hid.
func (n *Node) reveal(records []archive.Record, known []archive.Version) map[feed.EntryID]bool {
	var ids []feed.EntryID
	for i := range known {
		if known[i].Digest == records[i].Digest {
			ids = append(ids, records[i].ID)
		}
	}
	revealed := make(map[feed.EntryID]bool)
	for i, hidden := range n.store.Reveal(ids) {
		if hidden {
			revealed[ids[i]] = true
		}
	}
	return revealed
}
