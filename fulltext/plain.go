package fulltext

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plainly stands before the name of a formatting element in a page that plain has written.
const plainly = "x-"

// isFormatting reports whether a name is that of a formatting element. HTML opens those anew in each paragraph until
// they are closed, and takes them apart where they are closed in the wrong order: a page of 100 KB can have millions of
// elements by that (https://html.spec.whatwg.org/#reconstruct-the-active-formatting-elements).
func isFormatting(name string) bool {
	switch atom.Lookup([]byte(name)) {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// A rewriter writes a page anew.
type rewriter struct {
	strings.Builder
	elements, parts int
}

// plain is a page as an HTML parser makes no more elements of it than it has tags: its formatting elements have names
// that HTML does not know, which restore undoes. Scripts, styles and comments are left out, and all else is escaped, so
// that a parser sees the tags that were counted and no others. The error wraps ErrLimit.
func plain(page string) (string, error) {
	var w rewriter
	err := w.write(page, false)
	return w.String(), err
}

// write writes a page, or what is in a noscript element: the library reads that as a page of its own.
func (w *rewriter) write(page string, noscript bool) error {
	raw := "" // the element whose text is not HTML, or HTML in which there are no tags for who runs scripts
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return nil
		}
		if w.parts++; w.parts > maxParts {
			return fmt.Errorf("%w: more than %d tags, texts and attributes", ErrLimit, maxParts)
		}
		var err error
		switch kind {
		case html.TextToken:
			if raw == "noscript" && !noscript {
				err = w.write(string(z.Raw()), true)
			} else if raw == "" {
				w.WriteString(html.EscapeString(string(z.Text())))
			}
		case html.DoctypeToken:
			w.WriteString(z.Token().String())
		case html.StartTagToken, html.SelfClosingTagToken:
			raw, err = w.start(z, kind == html.SelfClosingTagToken, noscript)
		case html.EndTagToken:
			raw = ""
			if name, _ := z.TagName(); !noscript || string(name) != "noscript" {
				w.WriteString("</" + plainName(string(name)) + ">")
			}
		}
		if err != nil {
			return err
		}
	}
}

// start writes a start tag, and returns its name where the text behind it is not HTML.
func (w *rewriter) start(z *html.Tokenizer, closed, noscript bool) (raw string, err error) {
	if w.elements++; w.elements > MaxElements {
		return "", fmt.Errorf("%w: more than %d elements", ErrLimit, MaxElements)
	}
	tag, more := z.TagName()
	name := string(tag)
	switch name {
	case "iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp":
		raw = name
	case "a", "nobr":
		w.WriteString("</" + plainName(name) + ">") // as HTML has it: there is none in another
	}
	if name == "plaintext" || name == "noscript" && noscript {
		return raw, nil
	}
	w.WriteString("<" + plainName(name))
	for more {
		if w.parts++; w.parts > maxParts {
			return "", fmt.Errorf("%w: more than %d tags, texts and attributes", ErrLimit, maxParts)
		}
		var key, value []byte
		key, value, more = z.TagAttr()
		w.WriteString(" " + string(key) + `="` + html.EscapeString(string(value)) + `"`)
	}
	if closed {
		w.WriteString("/")
	}
	w.WriteString(">")
	return raw, nil
}

func plainName(name string) string {
	if isFormatting(name) {
		return plainly + name
	}
	return name
}

// restore gives the formatting elements of a page that plain has written their names again.
func restore(doc *html.Node) {
	for n := range doc.Descendants() {
		if name, ok := strings.CutPrefix(n.Data, plainly); ok && n.Type == html.ElementNode && isFormatting(name) {
			n.Data, n.DataAtom = name, atom.Lookup([]byte(name))
		}
	}
}
