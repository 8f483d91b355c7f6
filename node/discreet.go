package node

import (
	"feedex/archive"
	"feedex/feed"
)

// A feed that is followed discreetly is polled for the owner, and to everybody else the node does not follow it:
// whatever it says and does, it would say and do as well without. Its neighbors may relay the feed to it, as to any
// node, and it to them; what they bring the owner gets, too. What own polls show stays with the owner, who cannot have
// both: others to learn of it, and nobody to learn which node it came from.
//
// So what neighbors are told is looked up in Node.shared, and in openly, where nothing of the feed is found; and what
// polls of it draw by chance they draw apart.

// openly is the subscription of a feed that neighbors may know of, nil where it is followed discreetly, or not at all.
func (n *Node) openly(u feed.URL) *subscription {
	if s := n.feeds[u]; s != nil && !s.Discreet {
		return s
	}
	return nil
}

// discreetly is the subscription of a feed that is followed discreetly, nil for any other.
func (n *Node) discreetly(u feed.URL) *subscription {
	if s := n.feeds[u]; s != nil && s.Discreet {
		return s
	}
	return nil
}

// newToOwner are those of the entries that others bring which are new to the owner, too.
func (n *Node) newToOwner(records []archive.Record) (fresh []archive.Record) {
	known := n.store.Known(idsOfRecords(records))
	for i := range records {
		if known[i].New() || known[i].Admits(&records[i]) {
			fresh = append(fresh, records[i])
		}
	}
	return fresh
}

// confirmForOwner notes for the owner, too, that others have shown these versions of entries.
func (n *Node) confirmForOwner(records []archive.Record) {
	ids := idsOfRecords(records)
	var same []feed.EntryID
	for i, v := range n.store.Known(ids) {
		if v.Digest == records[i].Digest {
			same = append(same, ids[i])
		}
	}
	n.store.Confirm(n.now, same)
}

func idsOfRecords(records []archive.Record) []feed.EntryID {
	ids := make([]feed.EntryID, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return ids
}
