package node

import (
	"slices"

	"feedex/incentive"
	"feedex/protocol"
)

// What is outstanding between us and a neighbor outlives the link: on a bad network links end while an answer is on its
// way, and to hang up must be no way out of an audit.
type outstanding struct {
	link *link // the latest

	offers []*offer // that it may wait for, oldest first

	owed      []owed  // bundles we asked it for, earliest due first
	watching  timerID // what asks for the first when it is due
	demanding bool    // that is under way
	inVain    int     // such calls that failed in a row
	// pending is what it earned with other offers while it had yet to show that one was true.
	pending incentive.Credit
}

const (
	// outlives is for how long what is outstanding is kept after a link: until a neighbor that waits for a bundle has
	// asked for it as often as it does.
	outlives = protocol.PromiseTimeout + maxInVain*(maxPutTimeout+2*probeIn)
	// maxParted is with how many nodes.
	maxParted = 64
)

// leaveOpen keeps what is outstanding with a neighbor whose link ended.
func (n *Node) leaveOpen(l *link) {
	out := l.outstanding
	if len(out.offers)+len(out.owed) == 0 {
		return
	}
	if len(n.parted) == maxParted {
		n.parted = slices.Delete(n.parted, 0, 1)
	}
	n.parted = append(n.parted, out)
	n.after(outlives, func() {
		if out.link == l {
			n.parted = slices.DeleteFunc(n.parted, func(other *outstanding) bool { return other == out })
		}
	})
}

// takeUp goes on, over a new link, with what is outstanding with the neighbor. What it was offered it is offered again:
// nobody knows what of it arrived.
func (n *Node) takeUp(l *link) {
	l.outstanding = n.openWith(l.id())
	if l.outstanding == nil {
		l.outstanding = &outstanding{}
	}
	n.parted = slices.DeleteFunc(n.parted, func(out *outstanding) bool { return out == l.outstanding })
	l.outstanding.link = l
	for _, o := range l.offers {
		o.stage = due
	}
}

// openWith is what is outstanding with a node whose link ended a moment ago, nil for nothing.
func (n *Node) openWith(id protocol.NodeID) *outstanding {
	for _, out := range n.parted {
		if out.link.id() == id {
			return out
		}
	}
	return nil
}
