package poller

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
	"feedex/trust"
)

// keepDates gives the entries of a document that are kept already the dates that count, so that dates which
// move make no revisions: some publishers write the time of the fetch (Paper §3.3), or count in another time
// zone every other time.
//
// The earliest date of publication that the publisher gave stays, and a version that differs in its
// dates alone is the one that is kept, unless its date of publication is an earlier one, or the first. Of
// what no own poll has shown the publisher's dates are taken as they are.
func keepDates(items []listedEntry, known []archive.Version) {
	for i := range items {
		v := &known[i]
		if !v.Kept() || v.Digest == items[i].Digest || !v.Polled {
			continue
		}
		e := *items[i].entry // the document stays as it is
		if first := v.Published.IsZero(); first && e.Published.After(v.Seen.Add(feed.Ahead)) ||
			!first && (e.Published.IsZero() || e.Published.After(v.Published)) {
			e.Published = v.Published
		}
		if e.Published.Equal(v.Published) && sameButDates(&e, v) {
			e.Updated = v.Updated
		}
		items[i].entry, items[i].Digest = &e, e.Digest()
	}
}

// sameButDates reports whether the entry differs from the version that is kept in its dates alone.
func sameButDates(e *feed.Entry, v *archive.Version) bool {
	return e.SameButDates(v.Digest, v.Published, v.Updated)
}

const (
	// PortionWeight is how much of a document is stored in one step: a feed may list ten thousand entries, and a step
	// must not keep neighbors waiting. It counts bytes of text, and for each entry rowWeight and filterWeight for each
	// filter that may catch it.
	PortionWeight = 1 << 20
	rowWeight     = 4 << 10
	filterWeight  = 32
	// portionPause is the time between two of these steps.
	portionPause = time.Millisecond
	// readdressEvery is how long addresses of extras stay as they are where their queries alone change: many publishers
	// sign them anew for each poll, and all that they list would be stored and indexed again.
	readdressEvery = 24 * time.Hour
)

// taken holds the items of a poll while they are taken in.
type taken struct {
	core.Fetched
	first bool      // the feed's first poll
	since time.Time // when the poll before was, the zero time if there was none
	// when the feed would have fallen due, where its owner had it polled now
	regular time.Time
	poll    polling.Poll

	met     []feed.EntryID   // brought by somebody else, and not shown by a poll as they are, or to the owner alone
	fresh   []archive.Record // not known before
	revised []feed.Entry     // those that the publisher edited and dated so
	unkept  []archive.Record // edited and fresh ones that are still to be stored
	before  []trust.Listed   // what the document before listed; nil where this one does not take its place
	listed  []trust.Listed
	newest  time.Time   // see newestKnown
	all     int         // entries of the document
	brought []time.Time // when neighbors brought what came since the poll before
	reaches bool        // it lists what was here then, or is about the time since alone
	waits   []entryWait // of entries that came since the poll before
}

// take compares the document of a poll with what is kept. Nothing of it is stored yet.
func (m *Machine) take(s *Subscription, d *taken) {
	doc := d.Document
	s.Title, s.Link, s.Icon = doc.Title, doc.Link, doc.Icon
	s.About, s.Language, s.Format = doc.Description, doc.Language, doc.Format
	if !s.Discreet && s.kept == "" && !s.volunteered() { // a node that is called knows by which feed
		m.noteClients(doc.Clients)
	}
	items := oldestFirst(doc)
	known := m.Store.Known(idsOf(items))
	for i := range known {
		// what filled the archive is no reason to go without: see Version.Admits
		if v := &known[i]; v.Purged && !v.Polled {
			*v = archive.Version{}
		}
	}
	d.all, d.reaches = len(items), d.Partial
	if !d.Partial {
		if again := s.renamed(items, known); again != nil {
			items, known = without(items, again), without(known, again)
		}
	}
	others := known
	if !s.Discreet { // they may have missed what polls showed while it was followed discreetly
		others = m.Shared.Known(idsOf(items))
	}
	keepDates(items, known)
	d.listed = make([]trust.Listed, len(items))
	var edited []archive.Record
	d.newest = m.newestKnown(s, d.since)
	m.dateEntries(s, items, known, d.since, d.Partial)
	readdress := m.Now.Sub(s.readdressed) >= readdressEvery
	for i := range items {
		it, v := &items[i], &known[i]
		switch {
		case v.New():
		case v.Seen.After(d.since):
			d.brought = append(d.brought, v.Seen)
		default:
			d.reaches = true
		}
		altered := false
		switch {
		case v.New():
			d.fresh = append(d.fresh, m.recordOf(it))
			v.Seen = m.Now
		case v.Purged: // as if it were here
		case v.Digest == it.Digest:
			if !v.Polled || others[i].Kept() && !others[i].Polled {
				d.met = append(d.met, it.ID)
			}
			if v.Extras != it.Extras && (readdress || !v.Polled || !v.Extras.Resembles(it.Extras)) {
				edited = append(edited, m.recordOf(it)) // they are the owner's: nobody else is told
				if readdress {
					s.readdressed = m.Now
				}
			}
		default:
			edited = append(edited, m.recordOf(it)) // the publisher's own revision replaces ours
			if altered = !sameButDates(it.entry, v); altered && m.Moved(v.Updated, it.entry.Updated) {
				d.revised = append(d.revised, *it.entry)
			}
		}
		if out := it.entry.Published; !out.IsZero() && v.Seen.After(d.since) {
			d.waits = append(d.waits, entryWait{out, v.Seen})
		}
		d.listed[i] = trust.NewListed(it.entry, it.ID, it.Digest, v.Seen, altered)
	}
	d.unkept = append(edited, d.fresh...)
}

// keepTaken stores the next portion of a document, and the others in steps of their own: neighbors are answered between
// them. The poll ends with the last. Until then it counts as under way, and the document as one that is not here:
// whatever happens meanwhile, it is asked for again.
func (m *Machine) keepTaken(s *Subscription, d *taken) {
	s.Polling = !m.keepPortion(d)
	if s.Polling {
		s.ETag, s.LastModified, s.Body = "", "", feed.Digest{}
		m.After(portionPause, func() {
			if m.Feeds[s.URL] == s {
				m.keepTaken(s, d)
			}
		})
		return
	}
	s.ETag, s.LastModified, s.Body = d.ETag, d.LastModified, d.Body
	m.pollEnded(s, d)
}

// keepPortion stores as much of a document as a step may take, and reports whether that was the rest.
func (m *Machine) keepPortion(d *taken) (last bool) {
	most := min(len(d.met), PortionWeight/rowWeight)
	m.exchange.ShownOf(m.Store.MarkPolled(m.Now, d.met[:most]))
	d.met = d.met[most:]
	k, weight := 0, rowWeight+filterWeight*m.Store.Looking()
	for room := PortionWeight - most*rowWeight; k < len(d.unkept) && room > 0; k++ {
		room -= weight + int(archive.TextBytes(&d.unkept[k].Entry))
	}
	m.Store.Keep(d.unkept[:k])
	d.unkept = d.unkept[k:]
	return len(d.met) == 0 && len(d.unkept) == 0
}

// listedBy notes what a document that is stored lists of its feed.
func (m *Machine) listedBy(s *Subscription, d *taken) {
	s.noteVolume(d.Document)
	if d.Partial {
		s.LastListed = listedOn(s.LastListed, d.listed)
	} else {
		d.before, s.LastListed = s.LastListed, d.listed
	}
	if !d.since.IsZero() {
		s.Helped = float64(polling.Help(s.Helped).After(len(d.fresh), len(d.brought), m.pollersForPolicy(s)))
	}
	if d.Partial {
		m.fill(s, d.fresh) // it lists nothing that was known before, as is its nature
	} else {
		m.watchWindow(s, d.newest, d.fresh, d.all)
	}
	s.polled += int64(len(d.fresh))
	m.Counters.Polled += int64(len(d.fresh))
	if d.since.IsZero() {
		m.Counters.Backlog += int64(len(d.fresh))
	}
}

// A listedEntry is an entry as a document lists it.
type listedEntry struct {
	feed.Identity
	entry *feed.Entry // nobody may write to it
}

// recordOf is the record to keep of an item that this poll brought.
func (m *Machine) recordOf(it *listedEntry) archive.Record {
	return archive.RecordOf(*it.entry, it.Identity, m.Now, protocol.NodeID{})
}

// oldestFirst are the items of a document in the order in which they came out, as far as one can tell:
// most publishers list the newest first. It becomes the order of arrival.
func oldestFirst(doc *feed.Document) []listedEntry {
	identities, last := doc.Identities(), len(doc.Entries)-1
	at := func(i int) int { return last - i }
	if last > 0 && doc.Entries[0].Published.Before(doc.Entries[last].Published) && !doc.Entries[0].Published.IsZero() {
		at = func(i int) int { return i }
	}
	items := make([]listedEntry, len(doc.Entries))
	for i := range items {
		items[i] = listedEntry{identities[at(i)], &doc.Entries[at(i)]}
	}
	return items
}

func idsOf(items []listedEntry) []feed.EntryID {
	ids := make([]feed.EntryID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return ids
}

// noteVolume notes how much a poll has shown that the feed brings.
func (s *Subscription) noteVolume(doc *feed.Document) {
	if len(doc.Entries) == 0 {
		return
	}
	var text int64
	for i := range doc.Entries {
		text += archive.TextBytes(&doc.Entries[i])
	}
	s.Volume = archive.Volume{Daily: int64(polling.Busiest(s.History.Times, 24*time.Hour)),
		Text: max(1, text/int64(len(doc.Entries)))}
}

// renamed tells which entries of a document are those of the last one under other ids: some publishers make up new
// ones for each fetch, and all of it would be new each time. It is believed where no id of the document is known,
// and half of it says what the last document of this run did. Two entries of one document that say the same are what
// they are.
func (s *Subscription) renamed(items []listedEntry, known []archive.Version) (again []bool) {
	if !slices.ContainsFunc(known, func(v archive.Version) bool { return !v.New() }) {
		again = s.repeated(items)
	}
	if s.said = s.said[:0]; cap(s.said) < len(items) {
		s.said = make([]uint64, 0, len(items)) // no more than it takes: there are as many as feeds
	}
	for i := range items {
		s.said = append(s.said, items[i].Bare)
	}
	return again
}

// repeated tells which items say what the last document did, nil where it is less than half of them.
func (s *Subscription) repeated(items []listedEntry) []bool {
	before := make(map[uint64]bool, len(s.said))
	for _, bare := range s.said {
		before[bare] = true
	}
	again, count := make([]bool, len(items)), 0
	for i := range items {
		if again[i] = before[items[i].Bare]; again[i] {
			count++
		}
	}
	if 2*count < len(items) {
		return nil
	}
	return again
}

// without is the list without the items that are marked.
func without[T any](list []T, marked []bool) []T {
	kept := list[:0]
	for i := range list {
		if !marked[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}
