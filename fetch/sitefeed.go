package fetch

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"feedex/discover"
	"feedex/feed"
)

// isPage reports whether an answer from u is a web page, or names feeds as one does, and takes note of which.
func (v *visit) isPage(resp *http.Response, u *url.URL, body []byte) bool {
	contentType := resp.Header.Get("Content-Type")
	html := isHTML(contentType, body)
	if !html {
		body = nil // its header may name some all the same
	}
	named, err := contain(func() ([]discover.Feed, error) {
		return discover.Page(feed.URL(u.String()), contentType, resp.Header.Values("Link"), body), nil
	})
	if err != nil || v.fetch.Page != "" {
		return html
	}
	v.out.Named = slices.DeleteFunc(named, func(f discover.Feed) bool { return !v.mayName(u, f.URL) })
	v.out.WebPage = html || len(named) > 0
	return v.out.WebPage
}

// mayName reports whether the page at u may lead to that feed. To what is not public only a page leads that the owner
// has on such a host itself: as with redirects, no publisher gains the leave that the owner gave to another.
func (v *visit) mayName(u *url.URL, to feed.URL) bool {
	c := v.client
	if c.allowLocal || !to.Local() && !c.private[hostKey(to.Host())] {
		return true
	}
	return c.private[hostKey(v.origin.Hostname())] && c.private[hostKey(u.Hostname())]
}

// notFeed is the error about a web page that names these feeds.
func notFeed(named []discover.Feed) error {
	if len(named) == 0 {
		return fmt.Errorf("%w, and it names none", ErrNotFeed)
	}
	return ErrNotFeed
}

// isHTML reports whether the body is an HTML page: it starts like one, or its publisher says so and it starts like
// nothing else.
func isHTML(contentType string, body []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 1024)], "\ufeff \t\r\n"))
	for bytes.HasPrefix(head, []byte("<!--")) || bytes.HasPrefix(head, []byte("<?")) {
		_, rest, ok := bytes.Cut(head, []byte(">"))
		if !ok {
			break
		}
		head = bytes.TrimLeft(rest, " \t\r\n")
	}
	starts := func(list ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return bytes.HasPrefix(head, []byte(s)) })
	}
	if starts("<!doctype html", "<html", "<head", "<body") {
		return true
	}
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return (mediaType == "text/html" || mediaType == "application/xhtml+xml") && starts("<") &&
		!starts("<?xml", "<rss", "<feed", "<rdf", "<opml")
}
