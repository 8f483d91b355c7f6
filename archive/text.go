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
	for {
		plain, _, _ := strings.Cut(markup, "<")
		b.WriteString(html.UnescapeString(plain))
		if markup = markup[len(plain):]; markup == "" {
			return b.String()
		}
		tag, length := plainTag(markup)
		if length == 0 {
			tokenized(&b, markup)
			return b.String()
		}
		if !withinWord(tag) {
			b.WriteByte(' ')
		}
		markup = markup[length:]
	}
}

// plainTag reads the tag that markup begins with, if that is one as nearly all are: in lower case, its attributes in
// quotes, and its content markup again. The length is 0 for all else. Such tags are read several times as fast as by a
// tokenizer, and to read them is most of what it takes to rank.
func plainTag(markup string) (tag atom.Atom, length int) {
	rest, _ := strings.CutPrefix(strings.TrimPrefix(markup, "<"), "/")
	name := rest[:plainName(rest)]
	if tag = atom.Lookup([]byte(name)); tag == 0 || unlikeMarkup(tag) {
		return 0, 0
	}
	for rest = rest[len(name):]; ; {
		attribute := strings.TrimLeft(rest, " ")
		if inner, closed := strings.CutPrefix(strings.TrimPrefix(attribute, "/"), ">"); closed {
			return tag, len(markup) - len(inner)
		}
		key := plainName(attribute)
		value, quoted := strings.CutPrefix(attribute[key:], `="`)
		_, after, ended := strings.Cut(value, `"`)
		if key == 0 || len(attribute) == len(rest) || !quoted || !ended {
			return 0, 0
		}
		rest = after
	}
}

// plainName is how many small letters, digits and hyphens s begins with.
func plainName(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return i
		}
	}
	return len(s)
}

// unlikeMarkup reports whether what follows the tag is read otherwise than as markup.
func unlikeMarkup(tag atom.Atom) bool {
	return invisible(tag) || tag == atom.Plaintext || tag == atom.Textarea || tag == atom.Title || tag == atom.Xmp
}

// tokenized appends the text of any markup.
func tokenized(b *strings.Builder, markup string) {
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return
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
