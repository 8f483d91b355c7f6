package feed

import (
	"encoding/xml"
	"html"
	"io"
	"slices"
	"strings"

	ext "github.com/mmcdole/gofeed/extensions"
)

// rslSpace is the namespace of Really Simple Licensing (https://rslstandard.org/rsl): what machines may do with a text,
// and for what in return.
const rslSpace = "https://rslstandard.org/rsl"

// An Original is the feed that an entry was copied from into the one that listed it (RFC 4287 §4.2.11, RSS 2.0
// source). The zero value says that nothing tells of a copy.
type Original struct {
	ID    string `json:"id,omitempty"`    // id as published, "" where there is none
	Title string `json:"title,omitempty"` // as published, may hold markup
	URL   string `json:"url,omitempty"`   // of the feed where that is said, else of its page
}

// RSL is the statement written anew if it is one element of RSL, so that it may stand in any document of XML, its names
// with a prefix as publishers write them: readers that look at names alone take a bare content for the entry's. It is
// false for all else, also for elements of other namespaces within, which a neighbor may have made.
func RSL(statement string) (element string, is bool) {
	if !strings.HasPrefix(statement, "<") {
		return "", false
	}
	var out strings.Builder
	in, enc := xml.NewDecoder(strings.NewReader(statement)), xml.NewEncoder(&out)
	for depth := 0; ; {
		t, err := in.Token()
		if err == io.EOF {
			return out.String(), enc.Close() == nil
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Space != rslSpace || strings.Contains(e.Name.Local, ":") || depth == 0 && out.Len() > 0 {
				return "", false
			}
			t = rslStart(e, depth == 0)
			depth++
		case xml.EndElement:
			t = xml.EndElement{Name: rslName(e.Name)}
			depth--
		case xml.CharData:
			if depth == 0 {
				return "", false
			}
		default: // comments, processing instructions, declarations, and errors
			return "", false
		}
		if enc.EncodeToken(t) != nil || enc.Flush() != nil {
			return "", false
		}
	}
}

// rslStart begins an element with the attributes that are RSL's own, each once; the outermost declares the namespace.
func rslStart(e xml.StartElement, outermost bool) xml.StartElement {
	list := []xml.Attr{{Name: xml.Name{Local: "xmlns:rsl"}, Value: rslSpace}}
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local != "xmlns" && !strings.Contains(a.Name.Local, ":") &&
			!slices.ContainsFunc(list, func(b xml.Attr) bool { return b.Name == a.Name }) {
			list = append(list, a)
		}
	}
	if !outermost {
		list = list[1:]
	}
	return xml.StartElement{Name: rslName(e.Name), Attr: list}
}

// rslName is a name of RSL as RSL writes it.
func rslName(n xml.Name) xml.Name { return xml.Name{Local: "rsl:" + n.Local} }

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
