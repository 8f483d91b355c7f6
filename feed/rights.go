package feed

import (
	"encoding/xml"
	"html"
	"io"
	"strings"

	ext "github.com/mmcdole/gofeed/extensions"
)

// rslSpace is the namespace of Really Simple Licensing (https://rslstandard.org/rsl): what machines may do with a text,
// and for what in return.
const rslSpace = "https://rslstandard.org/rsl"

// An Original is the feed that an entry was copied from into the one that listed it (RFC 4287 §4.2.11, RSS 2.0
// source). The zero value says that nothing tells of a copy.
type Original struct {
	ID    string // id as published, "" where there is none
	Title string // as published, may hold markup
	URL   string // of the feed where that is said, else of its page
}

// IsRSL reports whether a statement of rights is one well-formed element of RSL, which may stand in a document of XML
// as it is.
func IsRSL(statement string) bool {
	if !strings.HasPrefix(statement, "<") {
		return false
	}
	d := xml.NewDecoder(strings.NewReader(statement))
	for depth, elements := 0, 0; ; {
		t, err := d.Token()
		if err == io.EOF {
			return elements > 0
		}
		if err != nil {
			return false
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth == 0 && (elements > 0 || t.Name.Space != rslSpace) {
				return false
			}
			depth++
			elements++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(t)) != "" {
				return false
			}
		default: // comments, processing instructions and declarations say nothing of rights
			return false
		}
	}
}

// fillRights takes what the vocabularies beside the feed's own say about rights: Dublin Core, Creative Commons in its
// forms for RSS 2.0 and RSS 1.0, and RSL.
func fillRights(e *Entry, x ext.Extensions) {
	e.Rights = append(e.Rights, values(x["dc"]["rights"])...)
	e.Rights = append(e.Rights, values(x["creativeCommons"]["license"])...)
	for _, l := range x["cc"]["license"] {
		e.Rights = append(e.Rights, first(l.Attrs["resource"], l.Value))
	}
	e.Rights = append(e.Rights, values(x[verbatimSpace]["rights"])...)
}

// keepRSL hands gofeed the element of RSL that begins at e and ends at to a second time, as it is: an extension's
// children lose their order. It gets the declaration of its prefix if that stands further out.
func (w *walk) keepRSL(e *element, to int) {
	n := len(w.open)
	if n < 3 || !w.item(n-2) || w.space(e.prefix) != rslSpace {
		return
	}
	text, name := w.src[e.tag.from:to], "xmlns"
	if e.prefix != "" {
		name += ":" + e.prefix
	}
	if end := strings.IndexByte(text, '>'); end > 0 && !strings.Contains(text[:end], name+"=") {
		text = "<" + e.tag.name + " " + name + `="` + rslSpace + `"` + text[1+len(e.tag.name):]
	}
	w.edit(e.tag.from, e.tag.from, `<rights xmlns="`+verbatimSpace+`">`+html.EscapeString(text)+`</rights>`)
}

// item reports whether the i-th open element is an item or entry of the feed.
func (w *walk) item(i int) bool {
	local := w.open[i].local
	return i >= 1 && i <= 2 && (strings.EqualFold(local, "item") || strings.EqualFold(local, "entry"))
}
