package feed

import (
	"net/url"
	"strings"
)

// An element is one that is open while the document is walked.
type element struct {
	prefix, local string
	tag           token // its start tag, without attributes
	clients       bool  // it lists clients, see readClient
	date          bool  // gofeed may read it as a date
	namespaces    int   // declared on this element and those around it
	base          int   // bytes of xml:base on this element and those around it
	text          int   // bytes of text directly inside, so far
	plain         plainness
	address       *url.URL // what addresses inside are relative to by xml:base, nil without one
	xhtml         bool     // it is part of the XHTML of an Atom text
	bare          bool     // its prefix is taken out, see unprefix
	wrap          wrapping
}

// A walk goes through a document's markup once. It refuses what is over a limit or ends too early,
// and collects what must be changed before gofeed reads the document (repair.go) and what gofeed
// would not tell (robots.go, clients.go).
type walk struct {
	lexer
	open     []element
	edits    []edit
	bindings []binding // namespaces in scope

	elements, attributes, entries int

	base   *url.URL // where the document came from
	growth int      // by how many bytes it grew as addresses became absolute

	work  float64
	ended bool // nothing began since the channel, or something that was not open, ended

	podcast string   // the prefix that the podcast index's vocabulary has first, "" for none
	private bool     // the publisher asks that the feed not be passed on
	clients []string // nodes that the publisher lists
}

// walkMarkup walks the document which came from base, and returns its root element, from '<' to
// '>', repaired.
func walkMarkup(src string, base *url.URL) (markup, error) {
	w := &walk{lexer: lexer{src: src}, base: base}
	root, err := w.prolog()
	if err != nil {
		return markup{}, err
	}
	if err := w.start(root); err != nil {
		return markup{}, err
	}
	for len(w.open) > 0 {
		t, ok := w.next()
		if !ok && w.complete() {
			break
		}
		if !ok || t.kind == cutToken {
			inner := w.open[len(w.open)-1]
			return markup{}, malformedAt(len(src), "document ends inside <%s>", short(inner.tag.name))
		}
		if err := w.token(t); err != nil {
			return markup{}, err
		}
		if w.work > maxWork {
			return markup{}, overAt(t.from, "reading its markup would take too long")
		}
	}
	_, local := cutName(root.name)
	return markup{
		text:    applyEdits(src, root.from, w.pos, w.edits),
		root:    strings.ToLower(local),
		at:      root.from,
		podcast: w.podcast,
		private: w.private,
		clients: w.clients,
	}, nil
}

// A markup is a walked XML document.
type markup struct {
	text    string // the root element as gofeed is to read it
	root    string // its local name in lower case: rss, rdf or feed
	at      int    // the byte of the document at which it begins
	podcast string // see walk
	private bool
	clients []string
}

// prolog skips to the root element, however far it is, and tells documents that are no feeds.
func (w *walk) prolog() (token, error) {
	for {
		t, ok := w.next()
		if !ok || t.kind == cutToken {
			return t, malformedAt(len(w.src), "document has no root element")
		}
		if t.kind != startToken {
			continue
		}
		w.inside = true
		switch _, local := cutName(t.name); strings.ToLower(local) {
		case "rss", "rdf", "feed":
			return t, nil
		case "html":
			return t, malformedAt(t.from, "document is a web page, not a feed")
		}
		return t, malformedAt(t.from, "root element <%s> is not rss, rdf:RDF or feed", short(t.name))
	}
}

// token takes in one token inside the root element.
func (w *walk) token(t token) error {
	switch t.kind {
	case textToken, cdataToken:
		w.characters(t)
	case junkToken:
		w.edit(t.from, t.to, "")
	case strayToken:
		w.edit(t.from, t.from+1, "&lt;")
	case startToken:
		return w.start(t)
	case endToken:
		w.end(t)
	}
	return nil
}

func (w *walk) characters(t token) {
	e := &w.open[len(w.open)-1]
	w.work += workText * float64(e.text)
	e.text += t.to - t.from
	if e.date {
		w.work += workDateText * float64(t.to-t.from)
	}
	w.repairText(e, t)
}

func (w *walk) start(t token) error {
	e := element{tag: t}
	e.tag.attrs = nil
	e.prefix, e.local = cutName(t.name)
	if e.prefix == "" && e.local == "item" {
		w.freeItem(t)
	}
	if err := w.count(&e, t); err != nil {
		return err
	}
	w.ended = false
	if err := w.bind(t); err != nil {
		return err
	}
	w.adaptStart(&e, t)
	w.notice(&e, t)
	w.open = append(w.open, e)
	if t.empty {
		w.keepRSL(&e, t.to)
		w.leave(len(w.open) - 1)
	}
	return nil
}

// entry reports whether an element of this name is an item or entry where the walk is.
func (w *walk) entry(local string) bool {
	return w.atFeed() && (strings.EqualFold(local, "item") || strings.EqualFold(local, "entry"))
}

// atFeed reports whether the walk is directly inside the feed: the root element, or the channel
// below it.
func (w *walk) atFeed() bool {
	return len(w.open) == 1 || len(w.open) == 2 && strings.EqualFold(w.open[1].local, "channel")
}

// end closes the innermost element of the tag's name and those inside it. A tag that closes nothing
// is taken out: encoding/xml would close everything instead, and lose the entries that follow.
func (w *walk) end(t token) {
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i].tag.name == t.name {
			w.closeFrom(i+1, t.from)
			w.adaptEnd(&w.open[i], t)
			w.ended = i == 1 && t.name == "channel" && strings.EqualFold(w.open[0].local, "rss")
			w.leave(i)
			return
		}
	}
	w.edit(t.from, t.to, "")
	w.ended = true
}

// leave forgets the i-th open element and those inside it.
func (w *walk) leave(i int) {
	w.unbind(i)
	w.open = w.open[:i]
}
