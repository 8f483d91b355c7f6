package opml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"feedex/feed"
)

// Read reads a document. The error wraps ErrSize or ErrFormat; anything smaller is a Problem of the list.
func Read(document []byte) (List, error) {
	if len(document) > MaxBytes {
		return List{}, fmt.Errorf("read OPML: %w: over %d bytes", ErrSize, MaxBytes)
	}
	r := reading{tagScanner: tagScanner{text: feed.Text("", document), line: 1}}
	t, ok := r.next()
	for ok && t.name == "" {
		t, ok = r.flawed(t)
	}
	if !ok {
		return List{}, fmt.Errorf("read OPML: %w: it holds no elements", ErrFormat)
	}
	switch t.name {
	case "opml", "head", "body", "outline":
	default:
		return List{}, fmt.Errorf("read OPML: %w: it begins with <%.32s>", ErrFormat, t.name)
	}
	for ; ok && !r.full(); t, ok = r.next() {
		r.tag(t)
	}
	switch {
	case r.full():
		r.problem(r.at(), "", fmt.Sprintf("over %d feeds and problems; what follows was not read", MaxEntries))
	case !r.complete:
		r.problem(r.at(), "", "the document ends without </opml>; what stood behind may be missing")
	}
	return r.list, nil
}

// A reading is a document being read.
type reading struct {
	tagScanner
	list     List
	folders  []string // those that are open, "" for an outline that is none
	deeper   int      // outlines that are open beyond MaxDepth
	body     bool     // it has begun
	complete bool     // </opml> was there
}

// maxProblemName is how much of a name a Problem bears, in bytes.
const maxProblemName = 80

// full reports whether the list may not grow any more.
func (r *reading) full() bool { return len(r.list.Feeds)+len(r.list.Problems) >= MaxEntries-1 }

func (r *reading) problem(line int, name, reason string) {
	name = strings.ToValidUTF8(name[:min(len(name), maxProblemName)], "")
	r.list.Problems = append(r.list.Problems, Problem{line, name, reason})
}

// flawed takes a token that is no tag, and returns the next.
func (r *reading) flawed(t tag) (tag, bool) {
	r.problem(t.line, "", t.flaw)
	if r.full() {
		return tag{}, false
	}
	return r.next()
}

func (r *reading) tag(t tag) {
	switch {
	case t.name == "":
		r.problem(t.line, "", t.flaw)
	case t.name == "opml":
		r.complete = t.end
	case t.name == "body":
		r.body, r.folders, r.deeper = true, nil, 0
	case t.name == "title" && !t.end && !r.body && r.list.Title == "":
		r.list.Title = oneLine(unescape(r.textHere()))
	case t.name == "outline" && t.end:
		r.leave()
	case t.name == "outline":
		r.body = true
		r.outline(t)
	}
}

// outline takes a feed or a folder.
func (r *reading) outline(t tag) {
	name := oneLine(cmp.Or(t.attr("text"), t.attr("title")))
	kind := strings.ToLower(strings.TrimSpace(t.attr("type")))
	address := t.attr("xmlurl")
	isFeed := kind == "rss" || kind == "atom" || kind == "feed"
	if isFeed {
		address = cmp.Or(address, t.attr("url")) // as OPML 1.0 was written by some
	}
	folder := ""
	switch u, err := feed.ParseURL(address); {
	case err == nil:
		if name == string(u) {
			name = ""
		}
		r.list.Feeds = append(r.list.Feeds, Outline{u, name, strings.TrimSpace(t.attr("htmlurl")), r.path(), t.line})
	case t.flaw != "":
		r.problem(t.line, name, t.flaw)
	case strings.TrimSpace(address) != "":
		r.problem(t.line, name, err.Error())
	case kind == "include" || kind == "link":
		r.problem(t.line, name, fmt.Sprintf("this is no feed but of type %q, which is not followed", kind))
	case isFeed || t.attr("htmlurl") != "":
		r.problem(t.line, name, "no xmlUrl says where the feed is")
	default:
		folder = name
	}
	if !t.empty {
		r.enter(folder)
	}
}

// enter opens an outline, which is a folder if it has a name.
func (r *reading) enter(folder string) {
	if len(r.folders) == MaxDepth {
		r.deeper++
		return
	}
	r.folders = append(r.folders, folder)
}

// leave closes the innermost outline.
func (r *reading) leave() {
	if r.deeper > 0 {
		r.deeper--
	} else if n := len(r.folders); n > 0 {
		r.folders = r.folders[:n-1]
	}
}

// path is the folders that are open.
func (r *reading) path() []string {
	return slices.DeleteFunc(slices.Clone(r.folders), func(name string) bool { return name == "" })
}

// oneLine is s as clean text without line ends and needless blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(feed.Clean(s)), " ") }
