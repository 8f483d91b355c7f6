package safehtml

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"feedex/feed"
)

// Label is Title for programs that read feeds: Inert besides.
func Label(published string) string { return Inert(Title(published)) }

// Inert is text in which nobody finds markup, whether they take it for text or for HTML, and however often they decode
// it: a "<" that would begin a tag, the ">" behind it, and a "&" that would begin a character reference are full-width
// characters. Other uses of them stay: "AT&T", "1 < 2", "a -> b".
//
// No format is read alike by all: the same member of the same API, and also a title of Atom whatever its type says, is
// HTML to some readers, text to others, and both to a few, which show it as text in a list and as a part of a page
// above the article. docs/READERS.md lists them. Text that one of them needs escaped, another shows with the escapes.
// FreshRSS serves the same readers, and does the same for the same reason.
func Inert(text string) string {
	if !strings.ContainsAny(text, "<&") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 8)
	open := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '<' && beginsTag(text[i+1:]):
			b.WriteRune('＜')
			open = true
		case c == '>' && open:
			b.WriteRune('＞')
			open = false
		case c == '&' && beginsReference(text[i:]):
			b.WriteRune('＆')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// beginsTag reports whether rest, which follows a "<", makes a tag of it, or may with what a program puts behind it.
func beginsTag(rest string) bool {
	if rest == "" {
		return true
	}
	c := rest[0] | 0x20
	return 'a' <= c && c <= 'z' || strings.IndexByte("/!?", rest[0]) >= 0
}

// maxReference is the longest character reference that HTML names, in bytes.
const maxReference = 34

// beginsReference reports whether s, which begins with "&", begins with a character reference, also with one of those
// that browsers read without a semicolon.
func beginsReference(s string) bool {
	s = s[:min(len(s), maxReference)]
	if next := strings.IndexByte(s[1:], '&'); next >= 0 {
		s = s[:next+1]
	}
	return html.UnescapeString(s) != s
}

// Entry leaves of an entry what any program of the owner may take as it is: labels, addresses that may be followed,
// media types, elements of RSL, and extras. Summary and content stay as they were published; Clean is for these.
func Entry(e *feed.Entry) {
	e.Title, e.Link = Label(e.Title), Link(e.Link)
	e.Authors, e.Categories, e.Rights = labels(e.Authors), labels(e.Categories), rights(e.Rights)
	from := &e.CopiedFrom
	from.ID, from.Title, from.URL = Inert(from.ID), Label(from.Title), Link(from.URL)
	var files []feed.Enclosure // others may have the list
	for _, f := range e.Enclosures {
		if f.URL = Link(f.URL); f.URL != "" {
			f.Type = mediaType.FindString(f.Type)
			files = append(files, f)
		}
	}
	e.Enclosures = files
	x := &e.Extras
	x.Image, x.Chapters.URL = link(x.Image), link(x.Chapters.URL)
	var companions []feed.Companion
	for _, c := range x.Transcripts {
		if c.URL = link(c.URL); c.URL != "" {
			companions = append(companions, c)
		}
	}
	x.Transcripts = companions
}

// link is Link for an address in normal form.
func link(u feed.URL) feed.URL { return feed.URL(Link(string(u))) }

// labels are those of a list that say anything. Others may have the list.
func labels(published []string) (list []string) {
	for _, s := range published {
		if s = Label(s); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// rights are statements of rights: elements of RSL are written anew, and addresses of licenses stay addresses. Others
// may have the list.
func rights(published []string) (list []string) {
	for _, s := range published {
		element, is := feed.RSL(s)
		switch {
		case is:
			list = append(list, element)
		case Link(s) != "" && !strings.ContainsFunc(s, unicode.IsSpace):
			list = append(list, Link(s))
		default:
			list = append(list, labels([]string{s})...)
		}
	}
	return list
}

// mediaType is a media type without parameters (RFC 6838 §4.2).
var mediaType = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9!#$^_.+-]*/[a-zA-Z0-9][a-zA-Z0-9!#$^_.+-]*`)

// links are the kinds of addresses that lead somewhere and do nothing else.
var links = regexp.MustCompile(`(?i)^(https?|ftp|gemini|gopher|magnet|mailto|news):`)

// Link is an address that may be followed, "" for one that a program could take for something to be run, or that is
// longer than any that leads somewhere. A character that no URL holds (RFC 3986 §2), and that would end the attribute
// of a page that it is put into, is escaped.
func Link(address string) string {
	if len(address) > feed.MaxLinkBytes || !links.MatchString(address) {
		return ""
	}
	if strings.IndexFunc(address, outsideURL) < 0 {
		return address
	}
	var b strings.Builder
	for _, r := range feed.Clean(address) {
		if outsideURL(r) {
			b.WriteString(url.PathEscape(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// outsideURL reports whether no URL holds r, nor what browsers take for one.
func outsideURL(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || reorders(r) || strings.ContainsRune("\"<>\\^`{|}", r)
}
