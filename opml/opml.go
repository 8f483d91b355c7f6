// Package opml reads and writes lists of feeds in OPML 2.0 (http://opml.org/spec2.opml), by which feed readers hand
// over what somebody follows.
//
// Lists come from many programs and from editors, so reading is tolerant: of encodings, of the case of names, of
// ampersands that are not escaped, of tags and quotes that are never closed. Parts that cannot be used are named with
// their line, and the rest is read.
package opml

import (
	"errors"
	"fmt"

	"feedex/feed"
)

// Limits of a list.
const (
	// MaxBytes is the longest document that Read takes.
	MaxBytes = 16 << 20
	// MaxEntries is how many feeds and problems Read returns at most. The largest lists that people have hold a few
	// thousand feeds.
	MaxEntries = 20_000
	// MaxDepth is how many folders inside one another Read tells apart. Feeds deeper inside count to the last.
	MaxDepth = 32
)

// Errors that Read returns, wrapped, where nothing can be read.
var (
	ErrFormat = errors.New("not an OPML document")
	ErrSize   = errors.New("document too long")
)

// A List is a list of feeds.
type List struct {
	Title    string    // of the list
	Feeds    []Outline // in the order of the document; a feed that is in it twice is here twice
	Problems []Problem // what could not be used, in the order of the document
}

// An Outline is one feed in a list: an outline element with an address.
type Outline struct {
	URL    feed.URL
	Title  string   // one line of text, "" where the list names none
	Site   string   // the page that the feed belongs to, as written; "" where the list names none
	Folder []string // the folders around it, the outermost first
	Line   int      // where it stands, from 1; 0 for one that was not read
}

// A Problem is a place in a document of which something could not be used.
type Problem struct {
	Line   int    // from 1
	Name   string // what the list calls it, if it does
	Reason string
}

// String is the problem in words.
func (p Problem) String() string {
	if p.Name == "" {
		return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
	}
	return fmt.Sprintf("line %d, %q: %s", p.Line, p.Name, p.Reason)
}
