package protocol

import (
	"math"
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// encodeBundle writes {did, feed, path, entries}. The digests of the entries do not cover their extras, which anybody
// on the way could change: so these go one hop, from the node that polled them.
func encodeBundle(b *Bundle) xmlrpc.Struct {
	entries := make(xmlrpc.Array, len(b.Entries))
	for i := range b.Entries {
		entries[i] = encodeEntry(&b.Entries[i])
		if x := &b.Entries[i].Extras; len(b.Path) == 0 && !x.IsZero() {
			entries[i] = append(entries[i].(xmlrpc.Struct), xmlrpc.Member{Name: "extras", Value: encodeExtras(x)})
		}
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
	b := &Bundle{Feed: m.feed()}
	if b.Feed == "" {
		m.fail("feed", "missing")
	}
	did, err := ParseDID(m.string("did", 2*len(DID{})))
	if err != nil {
		m.fail("did", "want 40 hexadecimal digits")
	}
	b.DID = did
	if _, ok := m.lookup("path"); !ok { // an empty one says that the sender polled
		m.fail("path", "missing")
	}
	b.Path = m.path("path", MaxPath)
	for em := range m.structs("entries", "entry", MaxBundleEntries) {
		e := decodeEntry(em)
		if len(b.Path) == 0 {
			e.Extras = decodeExtras(em)
		}
		e.Feed = b.Feed
		if m.failed() {
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

// encodeExtras writes what the extras say.
func encodeExtras(x *feed.Extras) xmlrpc.Struct {
	var s xmlrpc.Struct
	text := func(name, value string) {
		if value != "" {
			s = append(s, xmlrpc.Member{Name: name, Value: value})
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			s = append(s, xmlrpc.Member{Name: name, Value: n})
		}
	}
	number("duration", int64(x.Duration/time.Second))
	text("image", string(x.Image))
	text("language", x.Language)
	number("season", int64(x.Season))
	number("episode", int64(x.Episode))
	if x.Chapters != (feed.Companion{}) {
		s = append(s, xmlrpc.Member{Name: "chapters", Value: encodeCompanion(x.Chapters)})
	}
	if len(x.Transcripts) > 0 {
		s = append(s, xmlrpc.Member{Name: "transcripts", Value: arrayOf(x.Transcripts, encodeCompanion)})
	}
	return s
}

func encodeCompanion(c feed.Companion) xmlrpc.Struct {
	return xmlrpc.Struct{{Name: "url", Value: string(c.URL)}, {Name: "type", Value: c.Type},
		{Name: "language", Value: c.Language}}
}

// decodeExtras reads the extras of an entry. What is not of their form is left out, and the entry stays: its digest
// does not depend on them.
func decodeExtras(entry members) (x feed.Extras) {
	var err error
	entry.err = &err
	m, ok := entry.structure("extras", "extras")
	if !ok {
		return x
	}
	x.Duration = time.Duration(m.int("duration", 0, int64(feed.MaxDuration/time.Second))) * time.Second
	x.Image = feed.URL(m.string("image", feed.MaxURLBytes))
	x.Language = m.string("language", feed.MaxLanguageBytes)
	x.Season, x.Episode = int(m.int("season", 0, feed.MaxOrdinal)), int(m.int("episode", 0, feed.MaxOrdinal))
	if c, ok := m.structure("chapters", "chapters"); ok {
		x.Chapters = decodeCompanion(c)
	}
	for c := range m.structs("transcripts", "transcript", feed.MaxTranscripts) {
		x.Transcripts = append(x.Transcripts, decodeCompanion(c))
	}
	if err != nil {
		return feed.Extras{}
	}
	x.Clean()
	return x
}

func decodeCompanion(m members) feed.Companion {
	return feed.Companion{URL: feed.URL(m.string("url", feed.MaxURLBytes)), Type: m.string("type", MaxLabelBytes),
		Language: m.string("language", feed.MaxLanguageBytes)}
}
