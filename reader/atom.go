package reader

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"iter"
	"strconv"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/safehtml"
)

// A document is a feed as it is about to be written.
type document struct {
	url       feed.URL
	self      string // where it is served
	feed      archive.Feed
	version   Version
	generator string
	safe      *safehtml.Policy
}

// title is what the feed is called, its URL where nobody knows.
func (d *document) title() string {
	if d.feed.Title != "" {
		return d.feed.Title
	}
	return string(d.url)
}

// author is the title where it is plain text.
func (d *document) author() string {
	if t := d.title(); markup.MatchString(t) {
		return d.safe.Text(t)
	}
	return d.title()
}

// updated is when the document last changed.
func (d *document) updated() time.Time {
	for _, t := range []time.Time{d.version.Changed, d.feed.LastSuccess, d.feed.Since} {
		if !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0)
}

// format is raised when the same entries are written differently, so that readers fetch them again.
const format = 3

// etag is a strong entity tag: it covers all that the bytes of the document depend on.
func (d *document) etag() string {
	var b []byte
	for _, s := range []string{
		strconv.Itoa(format), d.generator, d.self, d.feed.Title, d.feed.Link,
		strconv.FormatInt(d.version.Number, 10), strconv.FormatInt(d.updated().Unix(), 10),
	} {
		b = feed.AppendField(b, s)
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// write writes the document. It holds one entry in memory at a time.
func (d *document) write(w io.Writer, records iter.Seq2[archive.Record, error]) error {
	return writeAtom(w, d.head(), func(yield func(*atomEntry, error) bool) {
		for record, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(newEntry(&record, d.safe, d.updated()), nil) {
				return
			}
		}
	})
}

// head is what stands before the entries. The feed's URL is its id; the feed itself stands in as author of
// entries that name none, because Atom wants one.
func (d *document) head() []element {
	return []element{
		{"id", string(d.url)},
		{"title", title(d.title(), d.safe)},
		{"updated", timestamp(d.updated())},
		{"author", atomPerson{d.author()}},
		{"link", atomLink{Rel: "self", Href: d.self, Type: "application/atom+xml"}},
		{"link", atomLink{Rel: "via", Href: string(d.url)}},
		{"link", atomLink{Rel: "alternate", Href: d.feed.Link}},
		{"generator", atomGenerator{d.generator, "feedex"}},
	}
}

// An element is one in the head of a document.
type element struct {
	name  string
	value any
}

// writeAtom writes a document. Links to nowhere are left out.
func writeAtom(w io.Writer, head []element, entries iter.Seq2[*atomEntry, error]) error {
	out := bufio.NewWriterSize(w, 32<<10)
	// The encoder flushes after each element; if it saw a bufio.Writer it would flush that.
	enc := xml.NewEncoder(struct{ io.Writer }{out})
	enc.Indent("", " ")
	out.WriteString(xml.Header)
	root := xml.StartElement{Name: xml.Name{Local: "feed"}, Attr: []xml.Attr{
		{Name: xml.Name{Local: "xmlns"}, Value: "http://www.w3.org/2005/Atom"}}}
	if err := enc.EncodeToken(root); err != nil {
		return err
	}
	for _, e := range head {
		if link, ok := e.value.(atomLink); ok && link.Href == "" {
			continue
		}
		if err := enc.EncodeElement(e.value, xml.StartElement{Name: xml.Name{Local: e.name}}); err != nil {
			return err
		}
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		if err := enc.Encode(entry); err != nil {
			return err
		}
	}
	if err := enc.EncodeToken(root.End()); err != nil {
		return err
	}
	if err := enc.Flush(); err != nil {
		return err
	}
	out.WriteByte('\n')
	return out.Flush()
}
