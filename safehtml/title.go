package safehtml

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	tokens "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxTitle is how much of a title is shown, in characters: what is longer was put there to flood a list.
const MaxTitle = 1000

// maxPublished is how much of a published title is looked at, in bytes.
const maxPublished = 16 << 10

// Title is the text of a published title, as one line of plain text: fit for a page whose template escapes it, and for
// a terminal. Names of authors and categories are published alike. For programs that read feeds see Label.
//
// RSS does not say whether a title is HTML, and publishers differ, so it is told by looks. An element of HTML that is
// closed is markup and leaves its text; a tag that is not, and what is no element for text, is what somebody wrote
// about: "What <b> does", "Vec<T>", also <script>. Character references are read; those that are left then were escaped
// twice by mistake and are read as well, unless they stand for the signs of a tag, which are written about likewise.
func Title(published string) string {
	text, whole := published, true
	if len(text) > maxPublished {
		text, whole = strings.ToValidUTF8(text[:maxPublished], ""), false
	}
	if strings.ContainsAny(text, "<&") {
		text = reference.ReplaceAllStringFunc(withoutMarkup(text), func(ref string) string {
			if r := html.UnescapeString(ref); r != "<" && r != ">" {
				return r
			}
			return ref
		})
	}
	text = Line(text)
	if utf8.RuneCountInString(text) > MaxTitle {
		text, whole = string([]rune(text)[:MaxTitle-1]), false
	}
	if !whole {
		text = strings.TrimRight(text, " ") + "…"
	}
	return text
}

// reference is a character reference. Those without a semicolon, which browsers know some of, are not meant:
// "?page=1&copy=2".
var reference = regexp.MustCompile(`(?i)&(#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);`)

// Line is text as one line, without what acts on the text around it: control characters, with which a terminal is
// steered, and what turns the direction of writing for all that follows. Marks of direction stay: they are letters
// without a shape, and Arabic and Hebrew need them.
func Line(text string) string {
	if isLine(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case unicode.IsControl(r), reorders(r):
			continue
		case r == '\ufffe', r == '\uffff': // which XML forbids
			r = utf8.RuneError
		}
		if blank {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// isLine reports whether text is a line of printable ASCII, as most is.
func isLine(text string) bool {
	before := byte(' ')
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == ' ' && before == ' ' {
			return false
		}
		before = text[i]
	}
	return text == "" || before != ' '
}

// reorders reports whether r is an embedding, an override, an isolate or the end of one (Unicode UAX #9 §2), one of
// the deprecated characters behind them, or encloses an annotation.
func reorders(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u206f' || '\ufff9' <= r && r <= '\ufffb'
}

// A piece is a token of a title.
type piece struct {
	kind tokens.TokenType
	tag  atom.Atom // 0 for text, and for elements that hold none
	raw  string
	alt  string // of a picture: what stands for it, "" for none
	end  int    // where the piece ends
}

// withoutMarkup is a title without its elements, its references read.
func withoutMarkup(title string) string {
	if inner, ok := strings.CutPrefix(title, "<![CDATA["); ok && strings.HasSuffix(inner, "]]>") {
		title = strings.TrimSuffix(inner, "]]>") // a section within a section
	}
	pieces, closed := split(title)
	open := make(map[atom.Atom]int)
	var b strings.Builder
	for i := range pieces {
		p := &pieces[i]
		switch {
		case p.kind == tokens.TextToken:
			b.WriteString(reference.ReplaceAllStringFunc(p.raw, html.UnescapeString))
			continue
		case p.kind == tokens.CommentToken && strings.HasPrefix(p.raw, "<!--") && strings.HasSuffix(p.raw, "-->"):
			continue
		case p.kind == tokens.EndTagToken && open[p.tag] > 0:
			open[p.tag]--
		case p.kind == tokens.StartTagToken && p.tag != 0 && closed[p.tag] > p.end &&
			!strings.HasPrefix(title[p.end:], "</"):
			open[p.tag]++
		case p.kind != tokens.EndTagToken && void(p.tag) && !spokenOf(title, p):
		case p.kind != tokens.EndTagToken && p.tag == atom.Img && p.alt != "":
			b.WriteString(p.alt)
		default:
			b.WriteString(p.raw)
			continue
		}
		if apart(p.tag) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// split is a title in pieces, and where the last end tag of each element ends.
func split(title string) (pieces []piece, closed map[atom.Atom]int) {
	closed = make(map[atom.Atom]int)
	end := 0
	for z := tokens.NewTokenizer(strings.NewReader(title)); ; z.NextIsNotRawText() {
		kind := z.Next()
		if kind == tokens.ErrorToken { // the end, perhaps within a tag
			return append(pieces, piece{kind: tokens.TextToken, raw: title[end:]}), closed
		}
		p := piece{kind: kind, raw: string(z.Raw())}
		end += len(p.raw)
		p.end = end
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken, tokens.EndTagToken:
			name, more := z.TagName()
			if tag := atom.Lookup(name); inTitles(tag) {
				p.tag = tag
			}
			if kind == tokens.EndTagToken {
				closed[p.tag] = end
			}
			if p.tag == atom.Img && more {
				p.alt = alternative(z)
			}
		}
		pieces = append(pieces, p)
	}
}

// alternative is the text that stands for a picture, a blank where nothing does, and "" where a picture is only spoken
// of.
func alternative(z *tokens.Tokenizer) (alt string) {
	source := false
	for more := true; more; {
		var name, value []byte
		switch name, value, more = z.TagAttr(); string(name) {
		case "alt":
			alt = string(value)
		case "src":
			source = true
		}
	}
	if !source {
		return ""
	}
	return alt + " "
}

// void reports whether the element has no end tag, and is no picture.
func void(tag atom.Atom) bool { return tag == atom.Br || tag == atom.Hr || tag == atom.Wbr }

// spokenOf reports whether such a tag stands between blanks like a word: "The <br> tag".
func spokenOf(title string, p *piece) bool {
	before, after := title[:p.end-len(p.raw)], title[p.end:]
	return p.kind == tokens.StartTagToken && strings.HasSuffix(before, " ") && strings.HasPrefix(after, " ")
}

// inTitles reports whether the element is one that holds the text of a title, or stands in it.
func inTitles(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code,
		atom.Del, atom.Dfn,
		atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd, atom.Mark, atom.Nobr, atom.Q, atom.S,
		atom.Samp, atom.Small,
		atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return apart(tag)
}

// apart reports whether a reader sees apart what such a tag stands between.
func apart(tag atom.Atom) bool {
	switch tag {
	case atom.Blockquote, atom.Br, atom.Center, atom.Div, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr,
		atom.Li, atom.Ol, atom.P, atom.Pre, atom.Table, atom.Td, atom.Tr, atom.Ul:
		return true
	}
	return false
}
