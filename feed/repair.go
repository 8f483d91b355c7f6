package feed

import (
	"slices"
	"strconv"
	"strings"
)

// An edit replaces src[from:to] before gofeed reads the document.
type edit struct {
	from, to int
	text     string
}

func (w *walk) edit(from, to int, text string) {
	w.edits = append(w.edits, edit{from, to, text})
	w.work += workEdit
}

// applyEdits is src[from:to] with the edits made. An edit that lies within an earlier one is void.
func applyEdits(src string, from, to int, edits []edit) string {
	if len(edits) == 0 {
		return src[from:to]
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	b.Grow(to - from)
	for _, e := range edits {
		if e.from < from {
			continue
		}
		b.WriteString(src[from:e.from])
		b.WriteString(e.text)
		from = e.to
	}
	b.WriteString(src[from:to])
	return b.String()
}

// dropBadRefs takes out references to characters that XML forbids, such as "&#x1F;", for which
// encoding/xml refuses the whole document.
func dropBadRefs(s string) string {
	var b strings.Builder
	kept := 0
	for at := 0; ; {
		i := strings.Index(s[at:], "&#")
		if i < 0 {
			break
		}
		i += at
		at = i + 2
		end := strings.IndexByte(s[at:min(len(s), at+12)], ';')
		if end < 0 {
			continue
		}
		digits, base := s[at:at+end], 10
		if strings.HasPrefix(digits, "x") {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err == nil && forbidden(n) {
			b.WriteString(s[kept:i])
			at += end + 1
			kept = at
		}
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// forbidden reports whether XML 1.0 §2.2 keeps the character out of documents.
func forbidden(char uint64) bool {
	return char < 0x20 && char != '\t' && char != '\n' && char != '\r' || char == 0xFFFE || char == 0xFFFF
}

// repairText escapes "]]>" outside of CDATA sections, for which encoding/xml refuses the document.
func (w *walk) repairText(e *element, t token) {
	if t.kind == cdataToken {
		e.wrap.text = true
		return
	}
	text := w.src[t.from:t.to]
	if e.wrap.xhtml && strings.TrimSpace(text) != "" {
		e.wrap.text = true
	}
	for at := 0; ; {
		i := strings.Index(text[at:], "]]>")
		if i < 0 {
			return
		}
		at += i + 3
		w.edit(t.from+at-1, t.from+at, "&gt;")
	}
}

// closeFrom closes the open elements from the i-th on, the innermost first, by end tags at the byte
// at. encoding/xml would do so itself, but count the end tag that follows as text. Elements of HTML
// that never have an end tag become empty instead, because "</br>" means another "<br>".
func (w *walk) closeFrom(i, at int) {
	for j := len(w.open) - 1; j >= i; j-- {
		e := &w.open[j]
		w.unwrap(e)
		switch {
		case voidElements[e.local]:
			w.edit(e.tag.to-1, e.tag.to, "/>")
		case e.bare:
			w.edit(at, at, "</"+e.local+">")
		default:
			w.edit(at, at, "</"+e.tag.name+">")
		}
	}
	w.leave(i)
}

// voidElements are the elements of HTML without content.
var voidElements = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true,
	"input": true, "meta": true, "param": true, "source": true, "track": true, "wbr": true,
}

// freeItem closes what is open between the channel and an RSS item, such as an <itunes:category> of
// the channel or a <meta>. Otherwise that item and all that follow would count as part of it.
func (w *walk) freeItem(t token) {
	if len(w.open) < 3 || w.open[1].local != "channel" {
		return
	}
	for _, e := range w.open[2:] {
		if e.local == "item" {
			return
		}
	}
	w.closeFrom(2, t.from)
}

// complete reports whether a document that is at its end lacks no more than the end tags of the root
// element and the channel, and supplies them. Only a document whose last tag was an end tag for them,
// misspelt perhaps, is taken for complete.
func (w *walk) complete() bool {
	if !w.ended || len(w.open) > 1 && !w.atFeed() {
		return false
	}
	w.closeFrom(0, w.pos)
	return true
}
