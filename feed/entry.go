package feed

import "time"

// An Entry is one item of a feed as its publisher wrote it. All strings are clean (see Clean); times
// are whole seconds in UTC, the zero time where the publisher said nothing.
//
// Paper §1.1: "Each entry in turn contains a list of elements including the title of the entry, the
// link from which detailed information can be obtained, and the summary."
type Entry struct {
	Feed       URL         // the feed that published it
	ID         string      // id or guid as published; "" where there is none
	Title      string      // as published, may hold markup
	Link       string      // absolute URL of the page, "" where there is none
	Authors    []string    // names, in the publisher's order
	Published  time.Time   // when it was first published
	Updated    time.Time   // when it was last changed
	Summary    string      // HTML as published
	Content    string      // HTML as published
	Categories []string    // in the publisher's order
	Enclosures []Enclosure // in the publisher's order
	// Rights are the publisher's statements about who may do what with this entry, in their order: a text (Atom rights,
	// dc:rights), the address of a license (Creative Commons, Atom's link), or an element of RSL as it was published,
	// with the declaration of its namespace (see RSL). What is said of the whole feed is not among them.
	Rights     []string
	CopiedFrom Original // the feed that it was copied from, if any
	Extras     Extras   // outside of the digest
}

// An Enclosure is a media file that belongs to an entry (RSS 2.0 enclosure, Atom rel=enclosure).
type Enclosure struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`   // media type, "" where unknown
	Length int64  `json:"length,omitempty"` // bytes, 0 where unknown
}

// A Document is the result of one fetch of a feed, after parsing.
type Document struct {
	Feed        URL
	Title       string  // the feed's own title
	Link        string  // the site the feed belongs to
	Description string  // subtitle or description, MaxDescriptionBytes at most
	Language    string  // the language that it is in, a tag of BCP 47; "" where it does not say
	Format      string  // what it is written in, with the version that it says: "RSS 2.0", "Atom 1.0", "JSON Feed 1.1"
	Icon        URL     // the picture that stands for the feed, small if the publisher has a small one; "" for none
	Entries     []Entry // newest first where the publisher keeps to that; one for each EntryID
	// Clients are nodes that lately retrieved this feed, as the publisher lists them, "ip:port"
	// each (Paper §3.1, second source of bootstrapping). docs/PROTOCOL.md specifies the element.
	Clients []string
	// Private is set where the publisher asks that the document not be passed on or archived.
	Private bool
	// PrevArchive is the publisher's archive document with the entries that came before those listed here (RFC 5005 §4,
	// "prev-archive"), "" where there is none or it has no URL that can be asked for.
	PrevArchive URL
	// Pace is when the publisher thinks that it is worth coming again.
	Pace PollingHints

	identities []Identity // nil before somebody asked
	identified *Entry     // the first of the entries that they are of
}

// MaxDescriptionBytes is how much of a feed's description stays.
const MaxDescriptionBytes = 4096

// Identities are those of the entries, in their order. They are computed once, also for copies of the document
// that have the same entries: nobody may change those where they are, nor write to the list.
func (d *Document) Identities() []Identity {
	if len(d.Entries) > 0 && (d.identified != &d.Entries[0] || len(d.identities) != len(d.Entries)) {
		d.identified, d.identities = &d.Entries[0], make([]Identity, len(d.Entries))
		for i := range d.Entries {
			d.identities[i] = d.Entries[i].Identity()
		}
	}
	return d.identities[:len(d.Entries)]
}

// Ahead is how far a date may lie in the future: clocks differ. One further ahead counts as none, or an
// entry dated next year would stand first until then.
const Ahead = time.Hour

// TimeOf is when an entry was published or, where that is not known, when it was last changed or, without a date that
// can be, when it was seen.
func TimeOf(published, updated, seen time.Time) time.Time {
	for _, t := range []time.Time{published, updated} {
		if !t.IsZero() && !t.After(seen.Add(Ahead)) {
			return t
		}
	}
	return seen
}
