package reader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"feedex/feed"
	"feedex/opml"
	"feedex/reading"
)

// opmlPath is where the feeds that the node follows are listed as OPML.
const opmlPath = "/opml"

// leftOutHeader says how many feeds a list lacks because their URL is a secret.
const leftOutHeader = "Feedex-Left-Out"

// serveOPML lists the feeds of the visitor, or the owner's where nobody had to say who they are, with their publishers'
// addresses or, where via=node asks for it, with those at this node, for a reader that is to read them here. A URL that
// is a secret is left out: the address is on the loopback interface, where any user and program of the machine may ask.
// The owner has 'feedex export' instead.
func (h *handler) serveOPML(w http.ResponseWriter, r *http.Request, query string, visitor reading.Visitor) {
	values, err := url.ParseQuery(query)
	via := values.Get("via")
	if err != nil || via != "" && via != "node" {
		say(w, http.StatusBadRequest, `via: want "node" or nothing, not %q.`, via)
		return
	}
	list := h.Source.Subscriptions
	if visitor.Library != nil {
		list = visitor.Library.Subscriptions
	}
	feeds, err := list(r.Context())
	if err != nil {
		h.fail(w, "list feeds", err)
		return
	}
	all := len(feeds)
	feeds = slices.DeleteFunc(feeds, func(f reading.FollowedFeed) bool { return f.URL.Secret() })
	outline := reading.ListOf(feeds)
	if left := all - len(feeds); left > 0 {
		w.Header().Set(leftOutHeader, strconv.Itoa(left))
		outline.Title += " (without those whose URL is a secret)"
	}
	if via == "node" {
		for i := range outline.Feeds {
			f := &outline.Feeds[i]
			f.Title = cmp.Or(f.Title, string(f.URL))
			f.URL = feed.URL(origin(r) + feedPath + string(f.URL))
		}
		filters, err := h.listFilters(r, visitor)
		if err != nil {
			h.fail(w, "list filters", err)
			return
		}
		outline.Feeds = append(outline.Feeds, filters...)
	}
	var b bytes.Buffer
	if err := opml.Write(&b, outline, time.Time{}); err != nil {
		h.fail(w, "write OPML", err)
		return
	}
	sum := sha256.Sum256(b.Bytes())
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	header := w.Header()
	header.Set("ETag", etag)
	header.Set("Cache-Control", "private, no-cache")
	if code := precondition(r.Header, etag, time.Time{}); code != http.StatusOK {
		w.WriteHeader(code)
		return
	}
	header.Set("Content-Type", "text/x-opml; charset=utf-8")
	header.Set("Content-Disposition", `inline; filename="feedex.opml"`)
	header.Set("Content-Length", strconv.Itoa(b.Len()))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(b.Bytes()) // a reader that went away wants no answer
}

// listFilters lists the feeds of the visitor's filters, or the owner's: they are at this node and nowhere else.
func (h *handler) listFilters(r *http.Request, visitor reading.Visitor) (list []opml.Outline, err error) {
	if h.Filters == nil {
		return nil, nil
	}
	var from reading.FilterList = h.Filters.Shelf(reading.Owner)
	if visitor.Library != nil {
		from = visitor.Library
	}
	filters, err := from.Filters(r.Context())
	for _, f := range filters {
		l := opml.Outline{URL: feed.URL(origin(r) + FilterPath(f.Name, "atom")), Title: f.Name}
		if f.Folder != "" {
			l.Folder = reading.PathOf(f.Folder)
		}
		list = append(list, l)
	}
	return list, err
}
