package archive

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// text is the text that a browser would show for markup: without tags and comments, with entities resolved. Words on
// both sides of a tag are kept apart, unless the tag only changes the look of letters, so "<b>H</b>ello" stays one
// word. Signs that are no markup, as in "a < b", are text.
func text(markup string) string {
	if !strings.ContainsAny(markup, "<&") {
		return markup
	}
	var b strings.Builder
	b.Grow(len(markup))
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if !withinWord(tag) {
				b.WriteByte(' ')
			}
			if kind != html.EndTagToken && invisible(tag) && z.Next() == html.TextToken {
				content := string(z.Text())
				if z.Next() == html.ErrorToken {
					// It is never closed. A title may well be "What <style> does", so this is text.
					b.WriteString(content)
				}
			}
		}
	}
}

// invisible reports whether browsers show nothing of what stands between the tags.
func invisible(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript:
		return true
	}
	return false
}

// withinWord reports whether the tag may stand in the middle of a word.
func withinWord(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Del, atom.Dfn, atom.Em,
		atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span,
		atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
