package feed

import (
	"html"
	"net/url"
	"strings"
)

// adaptStart changes what gofeed would misread in a start tag, or hands it what it would pass over.
func (w *walk) adaptStart(e *element, t token) {
	if n := len(w.open); n > 0 {
		w.open[n-1].wrap.child(e.local, t)
	}
	atom := len(w.open) > 0 && strings.EqualFold(w.open[0].local, "feed") && len(w.open) <= 5 &&
		textElements[strings.ToLower(e.local)]
	w.notePlain(e, t.attrs)
	w.rebase(e, t.attrs)
	w.resolveAttributes(e, t.attrs)
	w.unprefix(e, t)
	w.keepLanguage(e, t)
	item := w.atFeed() && strings.EqualFold(e.local, "item") && !t.empty
	for _, a := range t.attrs {
		if a.from == a.to {
			continue
		}
		switch _, local := cutName(a.name); {
		case a.name == "xml:base":
			if dir := directory(w.outermost(e, strings.TrimSpace(a.value))); dir != a.value {
				w.setValue(a, dir)
			}
		case local == "type" && atom:
			e.wrap.xhtml = w.adaptType(a, value(t.attrs, "mode")) || e.wrap.xhtml
		case local == "mode" && atom && strings.EqualFold(a.value, "escaped"):
			w.setValue(a, "") // gofeed unescapes the text then, if it has no type
		case local == "about" && item:
			w.insertGUID(e, t, a.value)
		}
	}
}

// setValue gives the attribute another value.
func (w *walk) setValue(a attr, value string) {
	quote := `"`
	if w.src[a.from] == '\'' {
		quote = `'`
	}
	w.edit(a.from, a.to, quote+value+quote)
}

// adaptType keeps gofeed from reading an Atom text construct as HTML, and reports whether it is
// XHTML. The content of an entry is stored as published, and building a tree of it can take gigabytes
// for a hundred kilobytes: HTML's rules for unclosed elements repeat them in every paragraph.
//
// In Atom 0.3 the mode says whether a text is in base64; gofeed looks for it only where there is no type.
func (w *walk) adaptType(a attr, mode string) (xhtml bool) {
	value := strings.ToLower(html.UnescapeString(a.value))
	switch {
	case strings.EqualFold(mode, "base64"):
		w.setValue(a, "")
	case strings.Contains(value, "xhtml"):
		w.setValue(a, "xml")
		return true
	case value == "html":
		w.setValue(a, "text/html")
	}
	return false
}

// outermost is the xml:base, made absolute where none around it is: gofeed does not know where the document came
// from, and would resolve references against a relative one as if it began at the host's root.
func (w *walk) outermost(e *element, base string) string {
	around := len(w.open) > 0 && w.open[len(w.open)-1].address != nil
	if around || e.address == nil || strings.Contains(base, "//") || strings.HasPrefix(base, "/") ||
		w.growth >= maxGrowth {
		return base
	}
	to := html.EscapeString(e.address.String())
	w.growth += len(to)
	return to
}

// directory is the xml:base without what follows its path's last slash. References resolve against it
// as against the whole (RFC 3986 §5.2), but gofeed takes "http://example.com/a/feed.xml" itself for
// a directory.
func directory(base string) string {
	if strings.Contains(base, "&#") {
		return base
	}
	if i := strings.IndexAny(base, "?#"); i >= 0 {
		base = base[:i]
	}
	path := 0
	if i := strings.Index(base, "//"); i >= 0 {
		path = i + 2
		if !strings.Contains(base[path:], "/") {
			return base
		}
	}
	return base[:path+strings.LastIndexByte(base[path:], '/')+1]
}

// insertGUID hands the rdf:about of an RSS 1.0 item to gofeed, which does not keep it, as the item's
// guid. A guid of the item's own comes later and holds.
func (w *walk) insertGUID(e *element, t token, about string) {
	name := "guid"
	if e.prefix != "" {
		name = e.prefix + ":guid"
	}
	about = strings.ReplaceAll(about, ">", "&gt;")
	w.edit(t.to, t.to, "<"+name+">"+about+"</"+name+">")
}

// textElements are the elements of Atom that gofeed reads as text constructs.
var textElements = map[string]bool{
	"title": true, "id": true, "updated": true, "modified": true, "published": true, "issued": true,
	"subtitle": true, "tagline": true, "summary": true, "content": true, "rights": true,
	"copyright": true, "generator": true, "icon": true, "logo": true,
	"name": true, "email": true, "uri": true, "url": true, "homepage": true,
}

// adaptEnd is adaptStart for the end tag t of the innermost open element.
func (w *walk) adaptEnd(e *element, t token) {
	n := len(w.open)
	w.keepRSL(e, t.to)
	if n == 3 && e.local == "id" && w.open[1].local == "entry" {
		w.keepID(e, w.src[e.tag.to:t.from])
	}
	if n > 1 {
		if around := &w.open[n-2].wrap; around.xhtml && e.tag.from == around.start.from {
			around.end = t
		}
	}
	if e.bare {
		w.edit(t.from+2, t.from+3+len(e.prefix), "")
	}
	w.unwrap(e)
	w.escapePlain(e, e.tag.to, t.from)
	w.resolveText(e, e.tag.to, t.from)
}

// verbatimSpace is the namespace under which keepID files ids.
const verbatimSpace = "urn:feedex:verbatim"

// keepID sees to an Atom id that gofeed would alter: it reads ids as URLs, while RFC 4287 §4.2.6.1
// wants them compared to the letter. The id goes in a second time, as an extension.
func (w *walk) keepID(e *element, inner string) {
	inner = strings.TrimSpace(inner)
	id := strings.TrimSuffix(strings.TrimPrefix(inner, "<![CDATA["), "]]>")
	if strings.Contains(id, "<") {
		return
	}
	if e.base == 0 && !strings.Contains(id, "&") {
		if u, err := url.Parse(id); err != nil || u.String() == id {
			return
		}
	}
	w.edit(e.tag.from, e.tag.from, `<id xmlns="`+verbatimSpace+`">`+inner+`</id>`)
}

// unprefix takes the prefix out of an element of XHTML, as in <xh:a> (RFC 4287 §3.1.1.3): its text is kept as HTML,
// which knows no namespaces.
func (w *walk) unprefix(e *element, t token) {
	if e.bare = e.xhtml && e.prefix != "" && w.space(e.prefix) == xhtmlSpace; e.bare {
		w.edit(t.from+1, t.from+2+len(e.prefix), "")
	}
}

// A wrapping notices the div that stands around the XHTML of an Atom text construct and is no part of
// it (RFC 4287 §3.1.1.3).
type wrapping struct {
	xhtml      bool
	text       bool  // there is more than blanks beside the elements
	children   int   // elements directly inside
	start, end token // tags of the first, if it is a div
}

func (p *wrapping) child(local string, t token) {
	p.children++
	if p.children == 1 && local == "div" && p.xhtml {
		p.start = t
	}
}

// unwrap takes out the div if the construct holds it and nothing else.
func (w *walk) unwrap(e *element) {
	if p := &e.wrap; p.xhtml && !p.text && p.children == 1 && p.end.to > 0 {
		w.edit(p.start.from, p.start.to, "")
		w.edit(p.end.from, p.end.to, "")
	}
}
