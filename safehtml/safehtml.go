// Package safehtml makes what publishers and peers wrote fit to be shown. Archives keep entries as they were
// published (package feed); whatever shows one to a person passes it through here first: HTML by a Sanitizer, and what
// is text, or ought to be, by Title for the node's own pages and for terminals, by Label for programs that read feeds.
package safehtml

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"

	"feedex/feed"
)

// growth is by how many bytes a text may grow as its addresses become absolute.
const growth = 1 << 20

// sandbox is the list of permissions of frames: to play, and to open what is clicked.
const sandbox = "allow-scripts allow-same-origin allow-popups"

// https is where frames may be from: not the node itself, nor another machine nearby.
var https = regexp.MustCompile(`(?i)^https://[^/?#]*\.[^/?#]*[a-z](:[0-9]+)?([/?#]|$)`)

// frame is a frame as bluemonday writes it, with what stood in it: text, to which all up to its end tag is, or all that
// follows where it has none.
var frame = regexp.MustCompile(`<iframe[^>]*>[^<]*(</iframe>)?`)

// A Sanitizer says what may be shown. Make one with New; it may be used by several goroutines at once.
type Sanitizer struct {
	allowed *bluemonday.Policy
	nothing *bluemonday.Policy
}

// New returns the policy for the text of entries: what articles are made of, with pictures, sound and
// video, and the frames in which other sites play theirs, which may run programs but reach nothing outside
// of themselves. Programs, forms, styles, and addresses other than http, https and mailto are left out; so
// is what would be code in an attribute.
func New() *Sanitizer {
	p := bluemonday.UGCPolicy()
	p.RequireNoFollowOnLinks(false)
	p.AllowDataURIImages()
	p.AllowElements("audio", "video", "source", "picture", "iframe", "center", "font", "nav", "header",
		"footer", "main")
	p.AllowAttrs("src").OnElements("audio", "video", "source")
	p.AllowAttrs("src").Matching(https).OnElements("iframe")
	p.AllowAttrs("poster").OnElements("video")
	p.AllowAttrs("controls", "loop", "muted", "preload").OnElements("audio", "video")
	p.AllowAttrs("type").OnElements("source")
	p.AllowAttrs("width", "height").Matching(bluemonday.NumberOrPercent).OnElements("video", "iframe")
	p.AllowAttrs("allowfullscreen", "title").OnElements("iframe")
	p.RequireSandboxOnIFrame()
	return &Sanitizer{allowed: p, nothing: bluemonday.StrictPolicy()}
}

// Clean is HTML without what could do harm or have the page look like something else. Its relative
// addresses are made absolute against base, the entry's link or the feed's URL; where that is none they go.
func (p *Sanitizer) Clean(markup, base string) string {
	if !strings.ContainsAny(markup, "<>&\"'\x00\r") {
		return markup
	}
	markup = promoted(markup)
	if u, err := url.Parse(base); err == nil {
		markup, _ = feed.Resolve(markup, u, growth)
	}
	// A quote in text or in a value is escaped by now, and so are "<" and ">": these stand in tags alone.
	markup = frame.ReplaceAllStringFunc(p.allowed.Sanitize(markup), closed)
	// References may have been to control characters.
	return feed.Clean(strings.ReplaceAll(markup, `sandbox=""`, `sandbox="`+sandbox+`"`))
}

// closed is a frame with nothing in it, as one that nobody closed would hide what follows; "" for one without address.
func closed(frame string) string {
	tag, _, _ := strings.Cut(frame, ">")
	if !strings.Contains(tag, ` src="`) {
		return ""
	}
	return tag + "></iframe>"
}

// Text is HTML without any markup, as one line of plain text.
func (p *Sanitizer) Text(markup string) string {
	return Line(html.UnescapeString(p.nothing.Sanitize(markup)))
}
