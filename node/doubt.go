package node

import (
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

var errForgedSource = protocol.Faultf(protocol.ForgedSource,
	"it came by way of a node that forged entries here; others may bring it")

// byForger reports whether a bundle came by way of a node that forged entries, by what our own polls showed. It is not
// taken from relays either, nor passed on: a node that knows a forger must not depend on all others knowing it too.
// What is true in the bundle other neighbors bring, and nobody can keep them from that: a bundle that is refused is not
// seen.
func (n *Node) byForger(b *protocol.Bundle) bool {
	return n.accounts.ledger.ForgedAmong(n.now, b.Path)
}

// warned takes in that l refused a bundle because it came by way of a forger. Which node is meant is clear only where
// none but one neighbor, which says that it polled the entries, had it before us.
func (n *Node) warned(l *link, b *protocol.Bundle) {
	if len(b.Path) != 1 {
		return
	}
	if n.hearsay.witnesses.Doubt(n.now, b.Path[0], l.id()) || n.doubted(b) {
		n.spotPoll(b.Feed)
	}
}

// doubted reports whether the node is doubted that says that it polled what a bundle holds, or is said to by a relay.
// The bundle has come, so its path is not empty.
func (n *Node) doubted(b *protocol.Bundle) bool {
	return n.hearsay.witnesses.Doubted(n.now, b.Path[0], b.Feed)
}

// maxHeldBack bounds the bundles that are held back, the latest of them.
const maxHeldBack = 64

// holdBack keeps a bundle that is stored from going on, as a doubted node says that it polled it. What is true of it
// others pass on, and we do once an own poll has shown it.
func (n *Node) holdBack(b *protocol.Bundle) {
	n.gossip.seen.add(b.DID)
	n.fulfil(b.DID)
	if len(n.hearsay.held) >= maxHeldBack {
		n.hearsay.held = slices.Delete(n.hearsay.held, 0, 1)
	}
	n.hearsay.held = append(n.hearsay.held, b)
}

// releaseShown passes on what was held back of a feed and an own poll has shown since. What a poll has shown otherwise
// it has refuted: that goes no further.
func (n *Node) releaseShown(u feed.URL) {
	var shown []*protocol.Bundle
	n.hearsay.held = slices.DeleteFunc(n.hearsay.held, func(b *protocol.Bundle) bool {
		if b.Feed != u {
			return false
		}
		identities := b.Identities()
		ids := make([]feed.EntryID, len(identities))
		for i := range identities {
			ids[i] = identities[i].ID
		}
		var same []feed.Entry
		for i, v := range n.shared.Known(ids) {
			if !v.Polled {
				return false
			} else if v.Digest == identities[i].Digest {
				same = append(same, b.Entries[i])
			}
		}
		if part := partOf(b, same); part != nil {
			shown = append(shown, part)
		}
		return true
	})
	for _, b := range shown {
		n.spread(b, b.Path[len(b.Path)-1])
	}
}
