package reader

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/safehtml"
)

// Elements of Atom (RFC 4287), in the order in which they are written.
type (
	atomText struct {
		Type string `xml:"type,attr"`
		Body string `xml:",chardata"`
	}
	atomLink struct {
		Rel    string `xml:"rel,attr"`
		Href   string `xml:"href,attr"`
		Type   string `xml:"type,attr,omitempty"`
		Length int64  `xml:"length,attr,omitempty"`
	}
	atomPerson struct {
		Name string `xml:"name"`
	}
	atomCategory struct {
		Term   string `xml:"term,attr"`
		Scheme string `xml:"scheme,attr,omitempty"`
	}
	atomGenerator struct {
		Version string `xml:"version,attr,omitempty"`
		Name    string `xml:",chardata"`
	}
	atomSource struct {
		ID      string     `xml:"id,omitempty"`
		Title   string     `xml:"title,omitempty"`
		Updated string     `xml:"updated,omitempty"`
		Links   []atomLink `xml:"link"`
	}
	atomEntry struct {
		Language   string         `xml:"xml:lang,attr,omitempty"`
		ID         string         `xml:"id"`
		Title      string         `xml:"title"` // without a type it is text (RFC 4287 §3.1.1)
		Published  string         `xml:"published,omitempty"`
		Updated    string         `xml:"updated"`
		Authors    []atomPerson   `xml:"author"`
		Links      []atomLink     `xml:"link"`
		Categories []atomCategory `xml:"category"`
		Summary    *atomText      `xml:"summary"`
		Content    *atomText      `xml:"content"`
		Source     *atomSource    `xml:"source"` // the feed that it was copied from, also into a document of several
		Rights     string         `xml:"rights,omitempty"`
		More       []string       `xml:"dc:rights"` // Atom has one text
		xmlExtras
		RSL string `xml:",innerxml"` // elements
	}
)

// unconfirmed marks an entry of which there is one neighbor's word and no more. It is a category, which
// every feed reader shows or passes over, and many can filter by; its scheme (RFC 4287 §4.2.2.2) tells it
// from the publisher's own categories, which are written without one.
var unconfirmed = atomCategory{Term: "unconfirmed", Scheme: "urn:feedex:state"}

// newEntry is the entry as Atom has it, its HTML as safe lets it be. changed is when any entry of the document
// did so last.
func newEntry(r *archive.Record, safe *safehtml.Sanitizer, changed time.Time) *atomEntry {
	e := &r.Entry
	a := &atomEntry{Language: e.Extras.Language, ID: entryID(r), Title: called(e, safe),
		Updated: timestamp(updated(r, changed)), xmlExtras: xmlExtrasOf(e)}
	if p := published(r); !p.IsZero() {
		a.Published = timestamp(p)
	}
	for _, name := range e.Authors {
		a.Authors = append(a.Authors, atomPerson{name})
	}
	if e.Link != "" {
		a.Links = append(a.Links, atomLink{Rel: "alternate", Href: e.Link})
	}
	for _, enc := range e.Enclosures {
		a.Links = append(a.Links, atomLink{Rel: "enclosure", Href: enc.URL, Type: enc.Type, Length: max(enc.Length, 0)})
	}
	for _, term := range e.Categories {
		a.Categories = append(a.Categories, atomCategory{Term: term})
	}
	stated := rightsOf(e)
	for _, address := range stated.licenses {
		a.Links = append(a.Links, atomLink{Rel: "license", Href: address}) // RFC 4946
	}
	if a.RSL = stated.rsl; len(stated.texts) > 0 {
		a.Rights, a.More = stated.texts[0], stated.texts[1:]
	}
	if from := e.CopiedFrom; from != (feed.Original{}) {
		a.Source = &atomSource{ID: from.ID, Title: from.Title}
		if from.URL != "" {
			a.Source.Links = []atomLink{{Rel: "self", Href: from.URL}}
		}
	}
	if !r.Confirmed {
		a.Categories = append(a.Categories, unconfirmed)
	}
	summary, content := safe.Whole(e.Summary, base(e)), safe.Whole(e.Content, base(e))
	if content == "" && e.Link == "" { // RFC 4287 §4.1.2: one of the two there must be
		summary, content = "", summary
	}
	if summary != "" {
		a.Summary = &atomText{"html", summary}
	}
	if content != "" || e.Link == "" {
		a.Content = &atomText{"html", content}
	}
	return a
}

// called is the title of an entry or, as readers show its address else, the beginning of its text.
func called(e *feed.Entry, safe *safehtml.Sanitizer) string {
	if e.Title != "" {
		return e.Title
	}
	return safehtml.Inert(safe.Opener(e))
}

// updated is the time of an entry that Atom demands: the best that there is. A change cannot be newer than
// the last of the document; one dated in the future would stand first in feed readers until then.
func updated(r *archive.Record, changed time.Time) time.Time {
	if u := r.Entry.Updated; !u.IsZero() && !u.After(changed.Add(feed.Ahead)) {
		return u
	}
	return r.Time()
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// entryID is the entry's id in the document. Readers take it to be unique in the whole world, so a
// published id stands only if it is an IRI of a kind that is; "17" or "post:17" becomes a UUID of
// version 8 made from the EntryID (RFC 9562 §5.8), the first that it had.
func entryID(r *archive.Record) string {
	if worldwide(r.Entry.ID) {
		return r.Entry.ID
	}
	u := cmp.Or(r.Was, r.ID)
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:16])
	return "urn:uuid:" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// worldwide reports whether id is an absolute IRI below an authority: a host, a tag's domain or a
// registered name space.
func worldwide(id string) bool {
	if strings.ContainsAny(id, " \t\r\n\"<>\\^`{|}") {
		return false
	}
	u, err := url.Parse(id)
	if err != nil || u.Scheme == "" {
		return false
	}
	return u.Host != "" || u.Scheme == "tag" || u.Scheme == "urn"
}
