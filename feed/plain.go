package feed

import (
	"html"
	"strings"
)

// Titles, summaries and contents of an Entry are HTML, or may be. Atom says of each text whether it is
// (RFC 4287 §3.1.1), JSON Feed has members for plain text; the rest of this file makes HTML of such
// text, so that "a <b> c" is not taken for markup later.

const atomSpace = "http://www.w3.org/2005/Atom"

// plainness says whether an Atom text is plain.
type plainness uint8

const (
	marked  plainness = iota // no: it is HTML, XHTML or something else
	perhaps                  // it does not say so, and many leave the type out where it should be "html"
	plain                    // yes
)

// plainType is the meaning of the type of an Atom text.
func plainType(value string) plainness {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "":
		return perhaps
	case "text", "text/plain":
		return plain
	}
	return marked
}

// plainText is text that is not HTML, as HTML. A line may end with a return still, as Clean comes later.
func plainText(text string) string {
	const br = "<br>\n"
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r\n", br, "\r", br, "\n", br).Replace(text)
}

// plainTitle is a title that is not HTML as one that may be. Most are the same either way.
func plainTitle(title string) string {
	if html.UnescapeString(title) == title && !tagged(title) {
		return title
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(title)
}

// tagged reports whether a browser would find a tag or a comment in the text.
func tagged(s string) bool {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 || i+1 == len(s) {
			return false
		}
		if s = s[i+1:]; nameStart(s[0]) || s[0] == '/' || s[0] == '!' || s[0] == '?' {
			return true
		}
	}
}

// likeHTML reports whether a text that may be either is HTML: one that is plain mentions a tag at most, but
// does not close it, and has no character references.
func likeHTML(s string) bool {
	if html.UnescapeString(s) != s {
		return true
	}
	for _, sign := range []string{"</", "/>", "<br>", "<p>", "<img "} {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// notePlain remembers whether the element is a plain text of Atom 1.0.
func (w *walk) notePlain(e *element, attrs []attr) {
	switch e.local {
	case "title", "subtitle", "summary", "content":
		if n := len(w.open); n == 0 || n > 2 || w.space(e.prefix) != atomSpace {
			return
		}
		e.plain = plainType(value(attrs, "type"))
	}
}

// escapePlain makes HTML of a plain text of Atom, which stands between the two places of the document. Of
// contents gofeed tells the type, so that they can wait.
func (w *walk) escapePlain(e *element, from, to int) {
	if e.plain == marked || e.local == "content" || !strings.ContainsAny(w.src[from:to], "&<\n") {
		return
	}
	text, ok := wholeText(w.src[from:to])
	if !ok || e.plain == perhaps && likeHTML(text) {
		return // of several pieces, or not plain after all
	}
	as := plainText
	if e.local == "title" {
		as = plainTitle
	}
	if markup := as(text); markup != text {
		w.edit(from, to, html.EscapeString(markup))
	}
}
