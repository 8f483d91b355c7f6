package feed

import (
	"html"
	"net/url"
	"strings"

	nethtml "golang.org/x/net/html"
)

const (
	// maxBaseBytes is the longest xml:base against which the text of entries is resolved.
	maxBaseBytes = MaxURLBytes
	// maxGrowth is by how much a document may grow by that.
	maxGrowth = 4 << 20
)

// addressed are the attributes of HTML whose value is an address that people follow or see.
var addressed = map[string]bool{"href": true, "src": true, "poster": true, "cite": true}

// Resolve is HTML whose relative addresses were made absolute against base. The rest stays to the byte, and
// all of it where the result does not fit: it would be longer by more than growth bytes.
func Resolve(markup string, base *url.URL, growth int) (text string, fits bool) {
	if base == nil || !base.IsAbs() || !strings.Contains(markup, "<") || !strings.Contains(markup, "=") {
		return markup, true // there is no attribute
	}
	var b strings.Builder
	kept, at := 0, 0 // of markup: what is written, what was read
	z := nethtml.NewTokenizer(strings.NewReader(markup))
	for z.Next() != nethtml.ErrorToken {
		from := at
		at += len(z.Raw())
		if markup[from] != '<' {
			continue
		}
		token := z.Token()
		if token.Type != nethtml.StartTagToken && token.Type != nethtml.SelfClosingTagToken {
			continue
		}
		changed := false
		for i := range token.Attr {
			a := &token.Attr[i]
			if value := resolved(a.Val, base); addressed[a.Key] && value != a.Val {
				a.Val, changed = value, true
			}
		}
		if changed {
			b.WriteString(markup[kept:from])
			b.WriteString(token.String())
			if kept = at; b.Len()-kept > growth {
				return markup, false
			}
		}
	}
	if kept == 0 {
		return markup, true
	}
	b.WriteString(markup[kept:])
	return b.String(), true
}

// resolved is an address, made absolute.
func resolved(value string, base *url.URL) string {
	ref := strings.TrimSpace(value)
	if ref == "" {
		return value
	}
	u, err := url.Parse(ref)
	if err != nil || u.IsAbs() {
		return value
	}
	return base.ResolveReference(u).String()
}

// Publishers write relative addresses in the text of entries, and say with xml:base what they are relative to.
// An entry is kept without the document around it, so they are made absolute here, and only where there is
// an xml:base: elsewhere they are the entry's own affair, and resolved where it is shown.

// rebase takes in the element's xml:base.
func (w *walk) rebase(e *element, attrs []attr) {
	around := w.base
	if n := len(w.open); n > 0 {
		e.address, around = w.open[n-1].address, w.open[n-1].address
		e.xhtml = w.open[n-1].xhtml || w.open[n-1].wrap.xhtml
		if around == nil {
			around = w.base
		}
	}
	for i := range attrs {
		if attrs[i].name != "xml:base" {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(html.UnescapeString(attrs[i].value)))
		if err != nil || around == nil || len(attrs[i].value) > maxBaseBytes {
			continue
		}
		if u = around.ResolveReference(u); u.Host != "" && len(u.Path) <= maxBaseBytes {
			e.address = u
		}
	}
}

// resolveAttributes makes addresses absolute in the XHTML of an Atom text, and outside of that those of files: gofeed
// does the others.
func (w *walk) resolveAttributes(e *element, attrs []attr) {
	if e.address == nil {
		return
	}
	for _, a := range attrs {
		if w.growth >= maxGrowth {
			return
		}
		if e.xhtml && !addressed[a.name] || !e.xhtml && a.name != "url" {
			continue
		}
		value := html.UnescapeString(a.value)
		if to := resolved(value, e.address); to != value && a.from < a.to {
			w.growth += len(to)
			w.setValue(a, html.EscapeString(to))
		}
	}
}

// resolveText makes addresses in escaped HTML absolute, which stands between the two places of the document.
func (w *walk) resolveText(e *element, from, to int) {
	if e.address == nil || len(w.open) < 3 || w.growth >= maxGrowth {
		return
	}
	switch e.local {
	case "description", "encoded", "content", "summary":
	default:
		return
	}
	text, ok := wholeText(w.src[from:to])
	if !ok || e.plain == plain || e.plain == perhaps && !likeHTML(text) {
		return
	}
	switch markup, fits := Resolve(text, e.address, maxGrowth-w.growth); {
	case !fits:
		w.growth = maxGrowth // or each of many texts would be tried up to there
	case markup != text:
		w.growth += max(0, len(markup)-len(text))
		w.edit(from, to, html.EscapeString(markup))
	}
}

// wholeText is the text of an element that holds nothing else, in one piece.
func wholeText(inner string) (text string, ok bool) {
	inner = strings.TrimSpace(inner)
	if in, ok := strings.CutPrefix(inner, "<![CDATA["); ok {
		text, ok := strings.CutSuffix(in, "]]>")
		return text, ok && !strings.Contains(text, "]]>")
	}
	if strings.Contains(inner, "<") {
		return "", false
	}
	return html.UnescapeString(inner), true
}
