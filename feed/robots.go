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

// bind takes in the namespaces that the start tag t declares. One that is longer than any address is over a limit: it
// would be looked at anew for each element.
func (w *walk) bind(t token) error {
	for _, a := range t.attrs {
		prefix, local := cutName(a.name)
		if prefix != "xmlns" && a.name != "xmlns" {
			continue
		}
		if len(a.value) > MaxURLBytes {
			return overAt(t.from, "a namespace longer than %d bytes", MaxURLBytes)
		}
		space := strings.TrimSpace(html.UnescapeString(a.value))
		if prefix == "" {
			local = ""
		} else if w.podcast == "" && isPodcastSpace(space) {
			w.podcast = local
		}
		w.bindings = append(w.bindings, binding{local, space, len(w.open)})
	}
	return nil
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
			return b.space
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
