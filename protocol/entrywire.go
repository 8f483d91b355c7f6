package protocol

import (
	"math"

	"feedex/feed"
	"feedex/xmlrpc"
)

// encodeBundle writes {did, feed, path, entries}.
func encodeBundle(b *Bundle) xmlrpc.Struct {
	path := make(xmlrpc.Array, len(b.Path))
	for i, n := range b.Path {
		path[i] = n.String()
	}
	entries := make(xmlrpc.Array, len(b.Entries))
	for i := range b.Entries {
		entries[i] = encodeEntry(&b.Entries[i])
	}
	return xmlrpc.Struct{
		{Name: "did", Value: b.DID.String()},
		{Name: "feed", Value: string(b.Feed)},
		{Name: "path", Value: path},
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
	for _, text := range m.strings("path", MaxPath) {
		n, err := ParseNodeID(text)
		if err != nil {
			m.fail("path", "want ip:port each")
			return b
		}
		b.Path = append(b.Path, n)
	}
	list := m.array("entries", MaxBundleEntries)
	b.Entries = make([]feed.Entry, 0, len(list))
	for _, v := range list {
		s, is := v.(xmlrpc.Struct)
		if !is {
			m.fail("entries", "want structs")
		}
		em := members{list: s, where: "entry", err: m.err}
		e := decodeEntry(em)
		if e.Feed == "" {
			e.Feed = b.Feed
		}
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
	s := make(xmlrpc.Struct, 0, 10)
	text := func(name, value string) {
		if value != "" {
			s = append(s, xmlrpc.Member{Name: name, Value: value})
		}
	}
	list := func(name string, items []string) {
		if len(items) > 0 {
			a := make(xmlrpc.Array, len(items))
			for i, item := range items {
				a[i] = item
			}
			s = append(s, xmlrpc.Member{Name: name, Value: a})
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
		a := make(xmlrpc.Array, len(e.Enclosures))
		for i, enc := range e.Enclosures {
			a[i] = xmlrpc.Struct{{Name: "url", Value: enc.URL}, {Name: "type", Value: enc.Type},
				{Name: "length", Value: enc.Length}}
		}
		s = append(s, xmlrpc.Member{Name: "enclosures", Value: a})
	}
	return s
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
	// A member that is there is a time, also 0: only one that is missing means unknown.
	if _, ok := m.list.Lookup("published"); ok {
		e.Published = instant(m.int("published", minUnix, maxUnix))
	}
	if _, ok := m.list.Lookup("updated"); ok {
		e.Updated = instant(m.int("updated", minUnix, maxUnix))
	}
	for _, v := range m.array("enclosures", MaxEnclosures) {
		s, is := v.(xmlrpc.Struct)
		if !is {
			m.fail("enclosures", "want structs")
		}
		em := members{list: s, where: "enclosure", err: m.err}
		e.Enclosures = append(e.Enclosures, feed.Enclosure{
			URL:    em.string("url", feed.MaxURLBytes),
			Type:   em.string("type", MaxLabelBytes),
			Length: em.int("length", 0, math.MaxInt64),
		})
	}
	return e
}
