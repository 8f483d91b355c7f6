// Package fulltext finds the article in a web page, as readers mean who ask for the full text of an entry of which the
// feed has an opening and no more. What it finds is HTML of a stranger like any other: package safehtml makes it fit to
// be shown.
//
// The library that finds it takes time that grows with the elements of a page times their depth, and the rules of HTML
// can make many elements of few tags. So a page is held to limits that real ones are far below, and written anew
// without what those rules are about, before any tree is made of it.
package fulltext

import (
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"

	"feedex/feed"
)

// The limits of a page.
const (
	// MaxPageBytes is how large it may be, after inflation.
	MaxPageBytes = 2 << 20
	// MaxElements is how many elements it may have.
	MaxElements = 30_000
	// maxParts is how many tags, texts and attributes it may have.
	maxParts = 200_000
	// maxDepth is how deep they may stand inside one another.
	maxDepth = 80
	// MaxBytes is how large the HTML of an article may be.
	MaxBytes = 512 << 10
)

// The refusals of Article.
var (
	ErrNotPage = errors.New("what is there is no web page")
	ErrLimit   = errors.New("the page is too large")
	ErrNone    = errors.New("no article is found on the page")
)

// Article is the HTML of the article in a page that was at an address, with addresses that are absolute. The error
// wraps ErrNotPage, ErrLimit or ErrNone.
func Article(at feed.URL, contentType string, page []byte) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // the library was not written for the pages of all strangers
			text, err = "", fmt.Errorf("%w: the library gave up: %v", ErrNone, r)
		}
	}()
	if !isPage(contentType) {
		return "", ErrNotPage
	}
	u, err := url.Parse(string(at))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotPage, err)
	}
	if len(page) > MaxPageBytes {
		return "", fmt.Errorf("%w: more than %d MiB", ErrLimit, MaxPageBytes>>20)
	}
	source, err := plain(feed.PageText(contentType, page))
	if err != nil {
		return "", err
	}
	doc, err := html.Parse(strings.NewReader(source)) // which refuses what is deeper than its own stack
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrLimit, err)
	}
	if err := measure(doc); err != nil {
		return "", err
	}
	restore(doc)
	parser := readability.NewParser()
	parser.DisableJSONLD = true
	found, err := parser.ParseAndMutate(doc, u)
	if err != nil || found.Node == nil {
		return "", ErrNone
	}
	var b strings.Builder
	if err := html.Render(&b, found.Node); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	if b.Len() > MaxBytes {
		return "", fmt.Errorf("%w: its article has more than %d KiB", ErrLimit, MaxBytes>>10)
	}
	return feed.Clean(b.String()), nil
}

// isPage reports whether a Content-Type is that of web pages, or none.
func isPage(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// measure holds the tree of a page to its limits: the rules of HTML put elements there that stand nowhere in it.
func measure(doc *html.Node) error {
	elements, depth := 0, 0
	for n := doc; n != nil; {
		if n.Type == html.ElementNode {
			if elements++; elements > MaxElements {
				return fmt.Errorf("%w: more than %d elements", ErrLimit, MaxElements)
			}
		}
		if n.FirstChild != nil {
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: elements inside one another, %d deep", ErrLimit, maxDepth)
			}
			n = n.FirstChild
			continue
		}
		for n != nil && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return nil
}
