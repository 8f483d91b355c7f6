package protocol

import (
	"cmp"
	"math"

	"feedex/feed"
	"feedex/xmlrpc"
)

// encodeBundle writes {did, feed, path, entries}.
func encodeBundle(b *Bundle) xmlrpc.Struct {
	entries := make(xmlrpc.Array, len(b.Entries))
	for i := range b.Entries {
		entries[i] = encodeEntry(&b.Entries[i])
	}
	return xmlrpc.Struct{
		{Name: "did", Value: b.DID.String()},
		{Name: "feed", Value: string(b.Feed)},
		{Name: "path", Value: arrayOf(b.Path, nameOf)},
		{Name: "entries", Value: entries},
	}
}

// decodeBundle reads a bundle. Whether it is what it says is for Bundle.Verify.
func decodeBundle(p *params) *Bundle {
	m := p.structure("bundle")
	b := &Bundle{Feed: m.feed("feed")}
	if b.Feed == "" {
		m.fail("feed", "missing")
	}
	did, err := ParseDID(m.string("did", 2*len(DID{})))
	if err != nil {
		m.fail("did", "want 40 hexadecimal digits")
	}
	b.DID = did
	b.Path = m.path("path", MaxPath)
	for em := range m.structs("entries", "entry", MaxBundleEntries) {
		e := decodeEntry(em)
		e.Feed = cmp.Or(e.Feed, b.Feed)
		if *m.err != nil {
			return b
		}
		b.Entries = append(b.Entries, e)
	}
	return b
}

// encodeEntry writes an entry's members; those that are empty are left out. The feed stands in the
// bundle.
func encodeEntry(e *feed.Entry) xmlrpc.Struct {
	s := make(xmlrpc.Struct, 0, 12)
	text := func(name, value string) {
		if value != "" {
			s = append(s, xmlrpc.Member{Name: name, Value: value})
		}
	}
	list := func(name string, items []string) {
		if len(items) > 0 {
			s = append(s, xmlrpc.Member{Name: name, Value: arrayOfStrings(items)})
		}
	}
	text("id", e.ID)
	text("title", e.Title)
	text("link", e.Link)
	list("authors", e.Authors)
	if !e.Published.IsZero() {
		s = append(s, xmlrpc.Member{Name: "published", Value: e.Published.Unix()})
	}
	if !e.Updated.IsZero() {
		s = append(s, xmlrpc.Member{Name: "updated", Value: e.Updated.Unix()})
	}
	text("summary", e.Summary)
	text("content", e.Content)
	list("categories", e.Categories)
	if len(e.Enclosures) > 0 {
		s = append(s, xmlrpc.Member{Name: "enclosures", Value: arrayOf(e.Enclosures, encodeEnclosure)})
	}
	list("rights", e.Rights)
	if from := e.CopiedFrom; from != (feed.Original{}) {
		s = append(s, xmlrpc.Member{Name: "source", Value: xmlrpc.Struct{{Name: "id", Value: from.ID},
			{Name: "title", Value: from.Title}, {Name: "url", Value: from.URL}}})
	}
	return s
}

func encodeEnclosure(e feed.Enclosure) xmlrpc.Struct {
	return xmlrpc.Struct{{Name: "url", Value: e.URL}, {Name: "type", Value: e.Type}, {Name: "length", Value: e.Length}}
}

func decodeEntry(m members) feed.Entry {
	e := feed.Entry{
		Feed:       m.feed("feed"),
		ID:         m.string("id", MaxIDBytes),
		Title:      m.string("title", MaxTitleBytes),
		Link:       m.string("link", feed.MaxURLBytes),
		Authors:    m.strings("authors", MaxAuthors),
		Summary:    m.string("summary", MaxTextBytes),
		Content:    m.string("content", MaxTextBytes),
		Categories: m.strings("categories", MaxCategories),
	}
	e.Published, e.Updated = m.time("published"), m.time("updated")
	for em := range m.structs("enclosures", "enclosure", MaxEnclosures) {
		e.Enclosures = append(e.Enclosures, feed.Enclosure{
			URL:    em.string("url", feed.MaxURLBytes),
			Type:   em.string("type", MaxLabelBytes),
			Length: em.int("length", 0, math.MaxInt64),
		})
	}
	e.Rights = m.strings("rights", MaxRights)
	if from, ok := m.structure("source", "source"); ok {
		e.CopiedFrom = feed.Original{ID: from.string("id", MaxIDBytes), Title: from.string("title", MaxTitleBytes),
			URL: from.string("url", feed.MaxURLBytes)}
	}
	return e
}
