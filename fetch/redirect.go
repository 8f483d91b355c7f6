package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"feedex/feed"
)

// redirected is where a redirect leads. As long as all of them are for good, it is where the feed has moved.
func (v *visit) redirected(resp *http.Response, u *url.URL) (next *url.URL, err error) {
	to, err := redirect(u, resp.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	if v.fetch.SameHost && feed.SiteOf(to.Host()) != feed.SiteOf(u.Hostname()) {
		return nil, ErrElsewhere
	}
	v.forGood = v.forGood && (resp.StatusCode == http.StatusMovedPermanently ||
		resp.StatusCode == http.StatusPermanentRedirect)
	if next, err = url.Parse(string(to)); err == nil && v.forGood {
		v.out.Moved, v.doubtful = to, v.doubtful || !otherName(u, next)
		v.respelled = feed.SameButSpelling(v.origin, next)
	}
	return next, err
}

// newName is where a feed moved for good, "" for nowhere, if that is a name of it as well: the same for all who come to
// it, whichever of its names they said. What is the owner's alone keeps the name that they said.
func (v *visit) newName() feed.URL {
	to := v.out.Moved
	if v.doubtful || v.secret || v.out.Local || v.client.private[feed.HostName(v.origin.Hostname())] ||
		to == v.fetch.Feed || v.origin.Scheme == "https" && !strings.HasPrefix(string(to), "https:") {
		return ""
	}
	return to
}

// newSpelling reports whether that is another spelling of the address.
func (v *visit) newSpelling() bool { return v.respelled && v.newName() != "" }

// readsAlike reports whether the entries of a document are those of the feed by another name of it, too. Those that are
// known by their links are not where these are relative.
func readsAlike(doc, other *feed.Document) bool {
	return slices.EqualFunc(doc.Entries, other.Entries, func(e, f feed.Entry) bool {
		f.Feed = e.Feed
		return e.EntryID() == f.EntryID()
	})
}

// otherName reports whether a redirect for good from one address to another makes the latter a name of the feed as
// well. Somebody on the way may have said so where it was not by https: it leads to the same path of the same site
// then, whose publisher the owner meant. Where the query is another it may be one for each who comes.
func otherName(from, to *url.URL) bool {
	if to.RawQuery != "" && to.RawQuery != from.RawQuery {
		return false
	}
	if from.Scheme == "https" {
		return true
	}
	return feed.SameButSpelling(from, to)
}

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
