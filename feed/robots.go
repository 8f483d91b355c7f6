package feed

import (
	"html"
	"slices"
	"strings"
)

// Namespaces of the elements by which a publisher says that a feed is not to be passed on.
const (
	xhtmlSpace  = "http://www.w3.org/1999/xhtml"
	accessSpace = "http://www.bloglines.com/about/specs/fac-1.0"
)

// A binding is a namespace prefix in scope, "" for the default namespace.
type binding struct {
	prefix, space string
	depth         int // of the element that declares it
}

// bind takes in the namespaces that the start tag at hand declares.
func (w *walk) bind(attrs []attr) {
	for i := range attrs {
		switch prefix, local := cutName(attrs[i].name); {
		case prefix == "xmlns":
			w.bindings = append(w.bindings, binding{local, attrs[i].value, len(w.open)})
			if w.podcast == "" && isPodcastSpace(attrs[i].value) {
				w.podcast = local
			}
		case prefix == "" && local == "xmlns":
			w.bindings = append(w.bindings, binding{"", attrs[i].value, len(w.open)})
		}
	}
}

// unbind forgets the namespaces of elements at the depth and deeper.
func (w *walk) unbind(depth int) {
	n := len(w.bindings)
	for n > 0 && w.bindings[n-1].depth >= depth {
		n--
	}
	w.bindings = w.bindings[:n]
}

// space is the namespace that the prefix stands for.
func (w *walk) space(prefix string) string {
	for _, b := range slices.Backward(w.bindings) {
		if b.prefix == prefix {
			return strings.TrimSpace(html.UnescapeString(b.space))
		}
	}
	return ""
}

// notice reads the elements about a feed that gofeed does not tell, or not with their namespace:
// what the publisher lists as clients, and what sets Document.Private. The latter is either of
//
//	<meta xmlns="http://www.w3.org/1999/xhtml" name="robots" content="noarchive"/>
//	<access:restriction xmlns:access="http://www.bloglines.com/about/specs/fac-1.0" relationship="deny"/>
//
// as a child of the root element or of the channel. The first is what search engines read in web pages
// and in feeds; noindex, noarchive and none count, and so does an element without namespace, as RSS has
// none of its own. The second is Feed Access Control 1.0, "should not
// be redistributed to other public sources". itunes:block asks a directory not to list a podcast and
// does not count; nor does media:restriction, which is about a file.
func (w *walk) notice(e *element, t token) {
	if w.inClients() {
		w.readClient(e, t)
		return
	}
	if !w.atFeed() {
		return
	}
	switch e.local {
	case "clients":
		e.clients = w.space(e.prefix) == ClientsSpace
	case "meta":
		space := w.space(e.prefix)
		if strings.EqualFold(value(t.attrs, "name"), "robots") && (space == xhtmlSpace || space == "") {
			w.private = w.private || closedToRobots(value(t.attrs, "content"))
		}
	case "restriction":
		if value(t.attrs, "relationship") == "deny" && w.space(e.prefix) == accessSpace {
			w.private = true
		}
	}
}

func closedToRobots(content string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(content),
		func(r rune) bool { return r == ',' || r == ' ' }) {
		if word == "noindex" || word == "noarchive" || word == "none" {
			return true
		}
	}
	return false
}

// value is the value of the named attribute, "" without one.
func value(attrs []attr, name string) string {
	for i := range attrs {
		if attrs[i].name == name {
			return strings.TrimSpace(html.UnescapeString(attrs[i].value))
		}
	}
	return ""
}
