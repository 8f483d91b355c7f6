package feed

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

var (
	// ErrFormat is wrapped by errors about a document that is not a feed, or that ends before its
	// end. The text names the byte, counted from 0 in the document as it came, its line and the reason.
	ErrFormat = errors.New("parse feed: malformed document")
	// ErrLimit is wrapped by errors about a document that is too large, too deep or too costly. The
	// text names the byte, the line and the limit.
	ErrLimit = errors.New("parse feed: document over a limit")
)

// Parse reads a feed document: RSS 0.9 to 2.0, Atom 0.3 and 1.0, JSON Feed 1.0 and 1.1. The body comes
// with its HTTP Content-Type ("" if there was none), the URL u that it was fetched from, against
// which relative links resolve, and the time at which it was fetched, against which dates are judged.
//
// Every string of the result is clean and every date believable, see instant and unstamp. An entry's content
// stays as the publisher wrote it: HTML is neither sanitized (package safehtml does, where it is shown) nor
// completed; only plain text becomes HTML, and what is relative to an xml:base absolute. Slips that common
// readers forgive are forgiven; a document that breaks off is not, because what is missing would look deleted.
//
// Entries keep the order of the document, one for each EntryID; see unite for those that share an id. One
// without id, title and link gets an id that is made from the rest of it, see nameless. All fields but the texts
// are bounded, see bound.
//
// Errors wrap ErrFormat or ErrLimit. Whatever the body holds, time and memory are bounded: the limits
// are in guard.go.
func Parse(u URL, contentType string, body []byte, fetched time.Time) (*Document, error) {
	return ParsePage(u, u, contentType, body, fetched)
}

// ParsePage reads another document of the feed u than its own, one of its publisher's archive (RFC 5005 §4), like
// Parse. Relative links resolve against page, the URL that it was fetched from in the end (RFC 3986 §5.1.3).
func ParsePage(u, page URL, contentType string, body []byte, fetched time.Time) (*Document, error) {
	if len(body) > MaxDocumentBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrLimit, MaxDocumentBytes)
	}
	b := &builder{
		doc:     &Document{Feed: u},
		latest:  fetched.Add(Ahead),
		podcast: "podcast",
	}
	b.base, _ = url.Parse(string(page))
	src := newSource(contentType, body)
	text := src.text()
	read, prepare := b.xml, dropBadRefs
	if expand := ownEntities(text); expand != nil {
		prepare = func(text string) string { return dropBadRefs(expand(text)) }
	}
	switch trimmed := strings.TrimLeft(text, blanksAhead); {
	case trimmed == "":
		return nil, fmt.Errorf("%w: document is empty", ErrFormat)
	case trimmed[0] == '{':
		read, prepare = b.json, strings.Clone
	}
	text = prepare(text)
	err := read(strings.TrimLeft(text, blanksAhead))
	if f := (*flaw)(nil); errors.As(err, &f) {
		return nil, f.locate(src, text, prepare)
	}
	if err != nil {
		return nil, err
	}
	if b.growth > maxLinks {
		return nil, fmt.Errorf("%w: more than %d bytes of relative links, made absolute", ErrLimit, maxLinks)
	}
	b.unstamp()
	for i := range b.doc.Entries {
		b.doc.Entries[i].bound()
	}
	b.unite()
	return b.doc, nil
}

// blanksAhead are the characters before a document that mean nothing, though XML allows none.
const blanksAhead = " \t\r\n\uFEFF"

// A builder collects what a document holds.
type builder struct {
	doc     *Document
	base    *url.URL  // what links resolve against
	growth  int       // bytes of links that were relative
	latest  time.Time // the latest date to believe
	own     string    // what the feed itself is called by, which is no entry's id
	podcast string    // the prefix of the podcast index's vocabulary
	authors []string  // of the feed, and so of entries that name none
}

// xml reads RSS or Atom.
func (b *builder) xml(text string) error {
	m, err := walkMarkup(text, b.base)
	if err != nil {
		return err
	}
	b.podcast = cmp.Or(m.podcast, b.podcast)
	if m.root == "feed" {
		err = b.atom(m.text)
	} else {
		err = b.rss(m.text)
	}
	if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
		return malformedAt(lineStart(text, m.at, syntax.Line), "%s", syntax.Msg)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	b.doc.Private = m.private
	b.doc.Clients = m.clients
	return nil
}

// lineStart is where the n-th line from the byte at on begins. A line that was repaired may be off.
func lineStart(text string, at, n int) int {
	for ; n > 1; n-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}

// format notes what the document is written in. What is no number of a version is what a publisher made up.
func (b *builder) format(name, version string) {
	if b.doc.Format = name; versions.MatchString(version) {
		b.doc.Format += " " + version
	}
}

var versions = regexp.MustCompile(`^\d(\.\d{1,2})?$`)

// head takes in what the document says about the feed.
func (b *builder) head(title, link, description, language string) {
	b.doc.Title = cut(Clean(strings.TrimSpace(title)), maxTitleBytes)
	b.doc.Link = cutLink(Clean(b.link(link)))
	b.doc.Description = cut(Clean(strings.TrimSpace(description)), MaxDescriptionBytes)
	b.doc.Language = LanguageTag(language)
}

// icon takes in the picture that stands for the feed: the first of the addresses that is one.
func (b *builder) icon(addresses ...string) {
	for _, address := range addresses {
		if u, err := ParseURL(b.link(Clean(address))); err == nil && b.doc.Icon == "" {
			b.doc.Icon = u
		}
	}
}

// by takes in the authors of the feed, within the bounds of an entry's: thousands of entries may have each of them.
func (b *builder) by(names []string) {
	names = tidy(names)
	cleanAll(names)
	b.authors = cutAll(names, maxAuthors, maxLabelBytes)
}

// add takes in an entry.
func (b *builder) add(e Entry) {
	e.Feed = b.doc.Feed
	e.Title = strings.TrimSpace(e.Title)
	e.Authors = tidy(e.Authors)
	e.Categories = tidy(e.Categories)
	e.Rights = tidy(e.Rights)
	e.Clean()
	if e.Extras.Language == b.doc.Language {
		e.Extras.Language = ""
	}
	if e.ID == "" && e.Title == "" && e.Link == "" {
		e.ID = nameless(&e)
	}
	b.doc.Entries = append(b.doc.Entries, e)
}

// tidy is the list without blanks around and without what is then empty.
func tidy(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
