package node

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/polling"
	"feedex/protocol"
	"feedex/trust"
)

const (
	// portionWeight is how much of a document is stored in one step: a feed may list ten thousand entries, and a step
	// must not keep neighbors waiting. It counts bytes of text, and rowWeight for each entry.
	portionWeight = 1 << 20
	rowWeight     = 4 << 10
	// portionPause is the time between two of these steps.
	portionPause = time.Millisecond
)

// taken is what a poll brought, while it is taken in.
type taken struct {
	Fetched
	first bool      // the feed's first poll
	since time.Time // when the poll before was, the zero time if there was none
	poll  polling.Poll

	met     []feed.EntryID   // brought by somebody else, and not shown by a poll as they are, or to the owner alone
	fresh   []archive.Record // not known before
	revised []feed.Entry     // those that the publisher edited and dated so
	unkept  []archive.Record // edited and fresh ones that are still to be stored
	listed  []trust.Listed
	newest  time.Time // see newestKnown
	all     int       // entries of the document
	brought int       // by neighbors, since the poll before
}

// take compares the document of a poll with what is kept. Nothing of it is stored yet.
func (n *Node) take(s *subscription, d *taken) {
	doc := d.Document
	s.Title, s.Link = doc.Title, doc.Link
	if !s.Discreet && s.kept == "" { // a node that is called knows by which feed
		n.noteClients(doc.Clients)
	}
	items := oldestFirst(doc)
	known := n.store.Known(idsOf(items))
	for i := range known {
		// what filled the archive is no reason to go without: see Version.Admits
		if v := &known[i]; v.Purged && !v.Polled {
			*v = archive.Version{}
		}
	}
	d.all = len(items)
	if !d.Partial {
		if again := s.renamed(items, known); again != nil {
			items, known = without(items, again), without(known, again)
		}
	}
	others := known
	if !s.Discreet { // they may have missed what polls showed while it was followed discreetly
		others = n.shared.Known(idsOf(items))
	}
	keepDates(items, known)
	d.listed = make([]trust.Listed, len(items))
	var edited []archive.Record
	d.newest = n.newestKnown(s, d.since)
	n.dateEntries(s, items, known, d.since, d.Partial)
	for i := range items {
		it, v := &items[i], &known[i]
		if v.Seen.After(d.since) {
			d.brought++
		}
		altered := false
		switch {
		case v.New():
			d.fresh = append(d.fresh, n.recordOf(it))
			v.Seen = n.now
		case v.Purged: // as if it were here
		case v.Digest == it.Digest:
			if !v.Polled || others[i].Kept() && !others[i].Polled {
				d.met = append(d.met, it.ID)
			}
		default:
			edited = append(edited, n.recordOf(it)) // the publisher's own revision replaces ours
			if altered = !sameButDates(it.entry, v); altered && n.moved(v.Updated, it.entry.Updated) {
				d.revised = append(d.revised, *it.entry)
			}
		}
		d.listed[i] = trust.NewListed(it.entry, it.ID, it.Digest, v.Seen, altered)
	}
	d.unkept = append(edited, d.fresh...)
}

// keepTaken stores the next portion of a document, and the others in steps of their own: neighbors are answered between
// them. The poll ends with the last. Until then it counts as under way, and the document as one that is not here:
// whatever happens meanwhile, it is asked for again.
func (n *Node) keepTaken(s *subscription, d *taken) {
	s.polling = !n.keepPortion(d)
	if s.polling {
		s.ETag, s.LastModified, s.Body = "", "", feed.Digest{}
		n.after(portionPause, func() {
			if n.feeds[s.URL] == s {
				n.keepTaken(s, d)
			}
		})
		return
	}
	s.ETag, s.LastModified, s.Body = d.ETag, d.LastModified, d.Body
	n.pollEnded(s, d)
}

// keepPortion stores as much of a document as a step may take, and reports whether that was the rest.
func (n *Node) keepPortion(d *taken) (last bool) {
	most := min(len(d.met), portionWeight/rowWeight)
	n.shownOf(n.store.MarkPolled(n.now, d.met[:most]))
	d.met = d.met[most:]
	k := 0
	for room := portionWeight - most*rowWeight; k < len(d.unkept) && room > 0; k++ {
		room -= rowWeight + int(archive.TextBytes(&d.unkept[k].Entry))
	}
	n.store.Keep(d.unkept[:k])
	d.unkept = d.unkept[k:]
	return len(d.met) == 0 && len(d.unkept) == 0
}

// listedBy notes what a document that is stored lists of its feed.
func (n *Node) listedBy(s *subscription, d *taken) {
	s.noteVolume(d.Document)
	if d.Partial {
		s.listed = listedOn(s.listed, d.listed)
	} else {
		if !s.Discreet {
			n.hearsay.claims.Compare(n.now, s.URL, s.listed, d.listed)
		}
		s.listed = d.listed
	}
	if !d.since.IsZero() {
		s.Helped = float64(polling.Help(s.Helped).After(len(d.fresh), d.brought))
	}
	if d.Partial {
		n.fill(s, d.fresh) // it lists nothing that was known before, as is its nature
	} else {
		n.watchWindow(s, d.newest, d.fresh, d.all)
	}
	s.polled += int64(len(d.fresh))
	n.status.Counters.Polled += int64(len(d.fresh))
}

// An item is an entry as a document lists it.
type item struct {
	feed.Identity
	entry *feed.Entry // nobody may write to it
}

// recordOf is what is kept of an item that this poll brought.
func (n *Node) recordOf(it *item) archive.Record {
	return archive.RecordOf(*it.entry, it.Identity, n.now, protocol.NodeID{})
}

// oldestFirst are the items of a document in the order in which they came out, as far as one can tell:
// most publishers list the newest first. It becomes the order of arrival.
func oldestFirst(doc *feed.Document) []item {
	identities, last := doc.Identities(), len(doc.Entries)-1
	at := func(i int) int { return last - i }
	if last > 0 && doc.Entries[0].Published.Before(doc.Entries[last].Published) && !doc.Entries[0].Published.IsZero() {
		at = func(i int) int { return i }
	}
	items := make([]item, len(doc.Entries))
	for i := range items {
		items[i] = item{identities[at(i)], &doc.Entries[at(i)]}
	}
	return items
}

func idsOf(items []item) []feed.EntryID {
	ids := make([]feed.EntryID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return ids
}
