package safehtml

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"feedex/feed"
)

// How long an opening is that stands for a title, in characters, and in how many bytes of a text it is looked for.
const (
	LongestOpening = 100
	openingWithin  = 4 << 10
)

// gap is where one element ends and another begins that a reader sees apart.
var gap = regexp.MustCompile(`</?(p|div|li|h[1-6]|br|tr|blockquote)\b`)

// rightToLeft are the letters of the scripts that are written so (https://www.unicode.org/reports/tr9/, R and AL).
var rightToLeft = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko,
	unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya}

// Direction is how a text is written, "rtl" or "ltr", by its first letter as browsers find it for dir="auto": "" where
// it has none.
func Direction(text string) string {
	for _, r := range text {
		switch {
		case unicode.IsOneOf(rightToLeft, r) && unicode.IsLetter(r):
			return "rtl"
		case unicode.IsLetter(r):
			return "ltr"
		}
	}
	return ""
}

// Opening is the beginning of a text as one line of plain text, of so many characters at most. The text may have been
// cut anywhere: what may be the rest of a tag is left out.
func (p *Sanitizer) Opening(markup string, longest int) string {
	if i := strings.LastIndexByte(markup, '<'); i > strings.LastIndexByte(markup, '>') &&
		(i+1 == len(markup) || markup[i+1] != ' ') {
		markup = markup[:i]
	}
	runes := []rune(p.Text(gap.ReplaceAllString(markup, " $0")))
	if len(runes) > longest {
		return strings.TrimRight(string(runes[:longest]), " ") + "…"
	}
	return string(runes)
}

// Opener is what an entry without a title is known by, as short posts are: the beginning of its text, "" where it has
// none.
func (p *Sanitizer) Opener(e *feed.Entry) string {
	text := cmp.Or(e.Summary, e.Content)
	return p.Opening(strings.ToValidUTF8(text[:min(len(text), openingWithin)], ""), LongestOpening)
}

// Whole is an entry's HTML for a page that is not ours, as Clean leaves it. Where anything in it is written from right
// to left its direction is that of its first letter, which no page else can tell from what is around it.
func (p *Sanitizer) Whole(markup, base string) string {
	shown := p.Clean(markup, base)
	if !strings.ContainsFunc(shown, func(r rune) bool { return r >= 0x590 && unicode.IsOneOf(rightToLeft, r) }) {
		return shown
	}
	return `<div dir="auto">` + shown + `</div>`
}
