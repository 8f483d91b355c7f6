package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"feedex/feed"
)

// redirected is where a redirect leads. As long as all of them are for good, it is where the feed has moved.
func (v *visit) redirected(resp *http.Response, u *url.URL) (next *url.URL, err error) {
	to, err := redirect(u, resp.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	if v.fetch.SameHost && siteOf(to.Host()) != siteOf(u.Hostname()) {
		return nil, ErrElsewhere
	}
	v.forGood = v.forGood && (resp.StatusCode == http.StatusMovedPermanently ||
		resp.StatusCode == http.StatusPermanentRedirect)
	if v.forGood {
		v.out.Moved = to
	}
	return url.Parse(string(to))
}

// movedUnread is where a feed moved for good that was never read: it is followed by that name, which is the same for
// all who come to it, whichever of its names they said. "" for nowhere, where somebody on the way may have said so
// (they may where the address is http), and where it may be that each who comes is sent to an address of their own.
func (v *visit) movedUnread() feed.URL {
	to, err := url.Parse(string(v.out.Moved))
	switch {
	case !v.fetch.New || v.out.Moved == "" || v.out.Moved == v.fetch.Feed || v.secret || err != nil:
	case v.origin.Scheme == "https" && to.Scheme != "https":
	case v.origin.Scheme != "https" && siteOf(to.Hostname()) != siteOf(v.origin.Hostname()):
	case to.RawQuery != "" && to.RawQuery != v.origin.RawQuery:
	default:
		return v.out.Moved
	}
	return ""
}

// siteOf is a host without the "www." that one name of a site has and another has not.
func siteOf(host string) string { return strings.TrimPrefix(hostKey(host), "www.") }

// isRedirect reports whether the status says that the document is elsewhere.
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect is the address that location names, seen from u. It is held to what is asked of a feed's
// own URL; its host and address are checked when it is requested.
func redirect(u *url.URL, location string) (feed.URL, error) {
	if location == "" {
		return "", fmt.Errorf("redirect without an address")
	}
	loc, err := url.Parse(location)
	if err != nil {
		return "", fmt.Errorf("redirect: %w: %q", feed.ErrURL, location)
	}
	to := u.ResolveReference(loc)
	to.RawQuery = escaped(to.RawQuery)
	next, err := feed.ParseURL(to.String())
	if err != nil {
		return "", fmt.Errorf("redirect: %w", err)
	}
	return next, nil
}

// escaped is a query as it may stand in a request (RFC 3986 §3.4): blanks, quotes and letters beyond ASCII, which
// package url lets pass as they are, in percent-encoding, as browsers send them.
func escaped(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
