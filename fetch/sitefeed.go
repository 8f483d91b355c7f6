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

// notFeed is the error about an answer from u that is a web page, or names feeds as one does, nil for any other. It
// takes note of which feeds these are; a document of a feed's archive leads to none.
func (v *visit) notFeed(resp *http.Response, u *url.URL, body []byte) error {
	contentType := resp.Header.Get("Content-Type")
	html := isHTML(contentType, body)
	if !html {
		body = nil // its header may name some all the same
	}
	var named []discover.SiteFeed
	if v.fetch.Page == "" {
		named, _ = contain(func() ([]discover.SiteFeed, error) {
			return discover.Page(feed.URL(u.String()), contentType, resp.Header.Values("Link"), body), nil
		})
	}
	if !html && len(named) == 0 {
		return nil
	}
	named = slices.DeleteFunc(named, func(f discover.SiteFeed) bool { return !v.mayName(u, f.URL) })
	if v.fetch.Page == "" {
		v.out.Names = discover.Text(named)
	}
	if meant, ok := discover.Meant(named); ok {
		v.out.Instead = discover.Lend(v.fetch.Feed, meant.URL)
	}
	if len(named) == 0 {
		return fmt.Errorf("%w, and it names none", ErrNotFeed)
	}
	return ErrNotFeed
}

// mayName reports whether the page at u may lead to that feed. To what is not public only a page leads that the owner
// has on such a host itself: as with redirects, no publisher gains the leave that the owner gave to another.
func (v *visit) mayName(u *url.URL, to feed.URL) bool {
	c := v.client
	if c.allowLocal || !to.Local() && !c.private[feed.HostName(to.Host())] {
		return true
	}
	return c.private[feed.HostName(v.origin.Hostname())] && c.private[feed.HostName(u.Hostname())]
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
