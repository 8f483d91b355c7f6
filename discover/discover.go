// Package discover finds the feeds that a web page names, so that a person may say the address of a site. It looks at
// what the page's publisher wrote for programs to find: <link> elements of HTML ("RSS Autodiscovery", "Atom Feed
// Autodiscovery", JSON Feed 1.1) and Link headers of HTTP (RFC 8288). It guesses no addresses.
//
// Pages are hostile until proven otherwise: what is read of them, and what comes out, is bounded.
package discover

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"feedex/feed"
)

const (
	// MaxPageBytes is how much of a page is looked at. Pages that begin with a megabyte of scripts are in use.
	MaxPageBytes = 2 << 20
	// MaxFeeds is how many feeds of a page are told of. A page of a newspaper names twenty.
	MaxFeeds = 32
	// maxNamed is how many of its links are considered.
	maxNamed = 500
	// maxTitle is how long a title may be, in bytes.
	maxTitle = 200
)

// A SiteFeed is one that a page names.
type SiteFeed struct {
	URL   feed.URL `json:"url"` // without user name and password
	Title string   `json:"title,omitempty"`
	Type  string   `json:"type,omitempty"` // the media type that the page says, "" where it says none
}

// Page returns the feeds that a web page names, in its order, feeds of comments last. The body comes with its HTTP
// Content-Type, the values of its Link headers, and the URL that it was fetched from in the end, against which relative
// addresses resolve. An address of the page itself, one that no feed can have, or one with a user name in it is left
// out.
func Page(page feed.URL, contentType string, links []string, body []byte) []SiteFeed {
	base, err := url.Parse(string(page))
	if err != nil {
		return nil
	}
	base.User = nil // it is nobody else's
	self, err := feed.ParseURL(base.String())
	if err != nil {
		return nil
	}
	list := elements(base, contentType, body, func(l *pageLink) bool { return l.strength() > 0 })
	for _, value := range links {
		list = append(list, header(base, value)...)
	}
	return tidy(list, self)
}

// A pageLink is an address that a page names, with what it says about it.
type pageLink struct {
	base      *url.URL // what href is relative to
	href      string
	rel       string
	mediaType string
	title     string
	sizes     string // of a picture
	elsewhere bool   // it is about another page
}

// strength is how surely a link leads to a feed: 0 for not at all, 1 where other things are named so as well.
func (l *pageLink) strength() int {
	rel := strings.Fields(strings.ToLower(l.rel))
	alternate := slices.Contains(rel, "alternate") && !slices.Contains(rel, "stylesheet")
	switch kind := l.kind(); {
	case l.elsewhere:
	case slices.Contains(rel, "feed") && (kind == "" || weak[kind]), (alternate || slices.Contains(rel, "feed")) &&
		strong[kind]:
		return 2
	case alternate && weak[kind] && !isAPI(l.href):
		return 1
	}
	return 0
}

// kind is the media type without its parameters.
func (l *pageLink) kind() string {
	kind, _, _ := strings.Cut(l.mediaType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// strong are the media types of feeds; weak are those that feeds are also named by, and much else.
var (
	strong = map[string]bool{
		"application/rss+xml": true, "application/atom+xml": true, "application/feed+json": true,
		"application/x-rss+xml": true, "application/x.atom+xml": true, "application/x-atom+xml": true,
	}
	weak = map[string]bool{
		"application/rdf+xml": true, "application/xml": true, "text/xml": true, "application/json": true,
	}
)

// isAPI reports whether the address is that of WordPress's own API, which its pages name as an alternate in JSON.
func isAPI(href string) bool {
	return strings.Contains(href, "/wp-json/") || strings.Contains(href, "rest_route=")
}

// tidy makes feeds of links. Links that may lead to a feed count only where no other does.
func tidy(links []pageLink, self feed.URL) []SiteFeed {
	best := 1
	for i := range links {
		best = max(best, links[i].strength())
	}
	var list []SiteFeed
	place := make(map[string]int) // by address without scheme
	for i := range links {
		l := &links[i]
		if l.strength() < best {
			continue
		}
		u, ok := resolve(l.base, l.href)
		if !ok || u == self {
			continue
		}
		f := SiteFeed{URL: u, Title: titleOf(l.title), Type: l.kind()}
		_, key, _ := strings.Cut(string(u), "://")
		if at, ok := place[key]; ok {
			was := &list[at]
			if strings.HasPrefix(string(u), "https:") {
				was.URL = u
			}
			if was.Title == "" {
				was.Title = f.Title
			}
			continue
		}
		if len(list) < maxNamed {
			place[key] = len(list)
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b SiteFeed) int { return order(&a) - order(&b) })
	return list[:min(len(list), MaxFeeds)]
}

// resolve is the address that href is, seen from base.
func resolve(base *url.URL, href string) (feed.URL, bool) {
	href = strings.TrimSpace(strings.Map(func(r rune) rune { // as browsers do (URL Standard §4.4)
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, href))
	if href == "" || len(href) > feed.MaxURLBytes {
		return "", false
	}
	ref, err := url.Parse(href)
	if err != nil {
		return "", false
	}
	to := base.ResolveReference(ref)
	u, err := feed.ParseURL(to.String())
	if err != nil {
		return "", false
	}
	if p, err := url.Parse(string(u)); err != nil || p.User != nil {
		return "", false // a page that hands out passwords has none that are ours to send
	}
	return u, true
}

// titleOf is a title in one line.
func titleOf(raw string) string {
	if len(raw) > 4*maxTitle {
		raw = raw[:4*maxTitle]
	}
	title := strings.Join(strings.Fields(feed.Clean(raw)), " ")
	return strings.TrimSpace(strings.ToValidUTF8(title[:min(len(title), maxTitle)], ""))
}

// Text is a list as it is kept, which is never ""; Read reads it.
func Text(list []SiteFeed) string {
	text, _ := json.Marshal(append([]SiteFeed{}, list...)) // there is nothing in it that could fail
	return string(text)
}

// Read is the list that Text wrote; nil where it did not.
func Read(text string) []SiteFeed {
	var list []SiteFeed
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil
	}
	return list
}

// Lend is the address with the user name and the password of page, if it has any and both are of one origin (RFC 6454
// §4): the owner gave them for that, and for nothing else.
func Lend(page, u feed.URL) feed.URL {
	from, err := url.Parse(string(page))
	if err != nil || from.User == nil {
		return u
	}
	to, err := url.Parse(string(u))
	if err != nil || to.User != nil || to.Scheme != from.Scheme || to.Host != from.Host {
		return u
	}
	lent, err := feed.ParseURL(to.Scheme + "://" + from.User.String() + "@" + strings.TrimPrefix(string(u),
		to.Scheme+"://"))
	if err != nil {
		return u
	}
	return lent
}

// LendAll is the list with each address as by Lend.
func LendAll(page feed.URL, list []SiteFeed) []SiteFeed {
	lent := slices.Clone(list)
	for i := range lent {
		lent[i].URL = Lend(page, lent[i].URL)
	}
	return lent
}
