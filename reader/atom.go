package reader

import (
	"bufio"
	"encoding/xml"
	"io"

	"feedex/archive"
)

// Media types of links and of what is served.
const (
	atomType = "application/atom+xml"
	rssType  = "application/rss+xml"
	jsonType = "application/feed+json"
)

// Namespaces.
const (
	atomSpace    = "http://www.w3.org/2005/Atom"
	historySpace = "http://purl.org/syndication/history/1.0" // RFC 5005
)

// writeAtom writes Atom 1.0 (RFC 4287).
func writeAtom(w *bufio.Writer, d *document, entries records) error {
	root := []string{"xmlns", atomSpace, "xmlns:dc", dublinCore, "xmlns:fh", historySpace, "xmlns:itunes", itunesSpace,
		"xmlns:media", mediaSpace, "xmlns:podcast", podcastSpace}
	if d.language != "" {
		root = append(root, "xml:lang", d.language)
	}
	x := newXMLWriter(w, "feed", root...)
	// The feed itself stands in as author of entries that name none, because Atom wants one.
	x.element("id", d.id)
	x.element("title", d.title())
	if about := d.aboutIt(); about != "" {
		x.element("subtitle", about)
	}
	if d.picture != "" {
		x.element("logo", d.picture)
	}
	x.element("updated", timestamp(d.updated))
	x.element("author", atomPerson{d.title()})
	for _, l := range d.links(atomType) {
		x.element("link", l)
	}
	if d.archived {
		x.element("fh:archive", struct{}{})
	}
	x.element("generator", atomGenerator{d.generator, "feedex"})
	for r, err := range entries {
		if err != nil {
			return err
		}
		x.element("entry", d.atomEntry(&r))
	}
	return x.end()
}

// links are where the document leads, to others of that media type.
func (d *document) links(mediaType string) (links []atomLink) {
	for _, l := range []atomLink{
		{Rel: "self", Href: d.self, Type: mediaType},
		{Rel: "hub", Href: d.hub},
		{Rel: "via", Href: d.via},
		{Rel: "alternate", Href: d.site},
		{Rel: "search", Href: d.search, Type: openSearchType},
		{Rel: "current", Href: d.current, Type: mediaType},
		{Rel: "prev-archive", Href: d.prev, Type: mediaType},
		{Rel: "next-archive", Href: d.next, Type: mediaType},
	} {
		if l.Href != "" {
			links = append(links, l)
		}
	}
	return links
}

// atomEntry is the entry as Atom has it.
func (d *document) atomEntry(r *archive.Record) *atomEntry {
	a := newEntry(r, d.safe, d.updated)
	if d.titles == nil {
		return a
	}
	e := &r.Entry
	// Readers tell the feeds of the document apart by its sources.
	a.Links = append(a.Links, via(e)...)
	a.Source = &atomSource{ID: string(e.Feed), Title: d.feedTitle(e.Feed), Updated: timestamp(d.updated)}
	a.Authors = nil
	for _, name := range d.authors(e) {
		a.Authors = append(a.Authors, atomPerson{name})
	}
	return a
}

// An xmlWriter writes one element after the other below a root. It remembers the first error.
type xmlWriter struct {
	out  *bufio.Writer
	enc  *xml.Encoder
	ends []xml.EndElement
	err  error
}

// newXMLWriter begins a document with that root and its attributes, in pairs.
func newXMLWriter(w *bufio.Writer, root string, attributes ...string) *xmlWriter {
	// The encoder flushes after each element; if it saw a bufio.Writer it would flush that. So it sees an io.Writer.
	x := &xmlWriter{out: w, enc: xml.NewEncoder(struct{ io.Writer }{w})}
	x.enc.Indent("", " ")
	_, x.err = w.WriteString(xml.Header)
	x.open(root, attributes...)
	return x
}

// open begins an element that holds those that follow.
func (x *xmlWriter) open(name string, attributes ...string) {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i+1 < len(attributes); i += 2 {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	x.ends = append(x.ends, start.End())
	if x.err == nil {
		x.err = x.enc.EncodeToken(start)
	}
}

func (x *xmlWriter) element(name string, value any) {
	if x.err == nil {
		x.err = x.enc.EncodeElement(value, xml.StartElement{Name: xml.Name{Local: name}})
	}
}

// end ends the document.
func (x *xmlWriter) end() error {
	for i := len(x.ends) - 1; i >= 0 && x.err == nil; i-- {
		x.err = x.enc.EncodeToken(x.ends[i])
	}
	if x.err == nil {
		x.err = x.enc.Close()
	}
	if x.err == nil {
		x.err = x.out.WriteByte('\n')
	}
	return x.err
}
