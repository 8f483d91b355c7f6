package feed

import (
	"cmp"
	"strings"

	"github.com/mmcdole/gofeed/atom"
)

// atom reads Atom 0.3 or 1.0.
func (b *builder) atom(text string) error {
	f, err := (&atom.Parser{}).Parse(strings.NewReader(text))
	if err != nil {
		return err
	}
	b.format("Atom", f.Version)
	b.head(f.Title, atomLink(f.Links), f.Subtitle, f.Language)
	b.icon(f.Icon, f.Logo)
	b.by(atomNames(f.Authors))
	b.doc.Pace.Every = syndicationPeriod(f.Extensions)
	b.own = Clean(f.ID)
	for _, l := range f.Links {
		b.prevArchive(l.Rel, l.Href)
	}
	for _, entry := range f.Entries {
		b.atomEntry(f, entry)
	}
	return nil
}

func (b *builder) atomEntry(f *atom.Feed, entry *atom.Entry) {
	e := Entry{
		ID:        entry.ID,
		Title:     entry.Title,
		Link:      b.link(atomLink(entry.Links)),
		Authors:   b.atomAuthors(entry),
		Published: b.instant(entry.Published, entry.PublishedParsed),
		Updated:   b.instant(entry.Updated, entry.UpdatedParsed),
		Summary:   entry.Summary,
	}
	if id := verbatim(entry.Extensions); id != "" {
		e.ID = id
	}
	if c := entry.Content; c != nil {
		e.Content = c.Value
		if kind := plainType(c.Type); kind == plain || kind == perhaps && !likeHTML(c.Value) {
			if f.Version == "1.0" {
				e.Content = plainText(c.Value)
			}
		}
		if e.Link == "" {
			e.Link = b.link(c.Src) // RFC 4287 §4.1.3.2
		}
	}
	for _, c := range entry.Categories {
		e.Categories = append(e.Categories, cmp.Or(c.Label, c.Term))
	}
	e.Rights = append(e.Rights, entry.Rights)
	for _, l := range entry.Links {
		switch l.Rel {
		case "enclosure":
			e.Enclosures = b.enclosure(e.Enclosures, l.Href, l.Type, l.Length)
		case "license": // RFC 4946
			e.Rights = append(e.Rights, b.link(l.Href))
		}
	}
	if s := entry.Source; s != nil {
		e.CopiedFrom = Original{strings.TrimSpace(s.ID), strings.TrimSpace(s.Title), b.link(atomSelf(s.Links))}
		e.Rights = append(e.Rights, s.Rights)
	}
	b.fill(&e, entry.Extensions, nil)
	b.add(e)
}

// atomLink is the address of the page that stands for the feed or entry: of its alternate links the
// first that is HTML or does not say, else the first.
func atomLink(links []*atom.Link) string {
	first := ""
	for _, l := range links {
		if l.Rel != "alternate" || l.Href == "" {
			continue
		}
		if l.Type == "" || strings.Contains(l.Type, "html") {
			return l.Href
		}
		first = cmp.Or(first, l.Href)
	}
	return first
}

// atomSelf is the address of the feed that has these links, or of its page where they do not say.
func atomSelf(links []*atom.Link) string {
	for _, l := range links {
		if l.Rel == "self" && l.Href != "" {
			return l.Href
		}
	}
	return atomLink(links)
}

// atomAuthors lists the entry's authors, or those of the feed that it was copied from, or those of
// this feed (RFC 4287 §4.2.1), unless Dublin Core names its own.
func (b *builder) atomAuthors(entry *atom.Entry) []string {
	switch {
	case len(entry.Authors) > 0:
		return atomNames(entry.Authors)
	case entry.Source != nil && len(entry.Source.Authors) > 0:
		return atomNames(entry.Source.Authors)
	case len(entry.Extensions["dc"]["creator"]) > 0:
		return nil
	}
	return b.authors
}

func atomNames(authors []*atom.Person) (names []string) {
	for _, a := range authors {
		names = append(names, person(a.Name, a.Email))
	}
	return names
}
