package miniflux

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/syncapi"
)

// A selection is the entries that a request is about: those of the streams, which have none in common, from one id to
// another, and of these one page.
type selection struct {
	streams       []reading.Stream
	above, below  reading.ItemID // exclusive; 0 for no bound
	oldest        bool           // first
	offset, limit int
}

// defaultLimit is how many entries a page has where nothing is said; 0 stands for all.
const defaultLimit = 100

// selected is the selection that a request makes.
func (h *handler) selected(r *http.Request) (*selection, error) {
	q := queryArguments{Values: r.URL.Query()}
	s := &selection{
		above: reading.ItemID(q.number("after_entry_id", 0)), below: reading.ItemID(q.number("before_entry_id", 0)),
		oldest: q.Get("direction") != "desc", offset: int(min(q.number("offset", 0), reading.MaxPage)),
		limit: int(min(q.number("limit", defaultLimit), reading.MaxPage)),
	}
	if s.limit == 0 {
		s.limit = reading.MaxPage
	}
	stream := reading.Stream{Read: q.status(), Starred: q.starred(), Changed: q.moment("changed_after"),
		Since: q.moment("after", "published_after"), Until: q.moment("before", "published_before", "changed_before")}
	folder := reading.FolderID(q.number("category_id", 0))
	if q.err != nil {
		return nil, q.err
	}
	var err error
	if s.streams, err = h.streams(r, folder, stream); err != nil {
		return nil, err
	}
	return s, h.search(r.Context(), q.Get("search"), s.streams)
}

// maxFound is how many entries a search finds at most: the latest.
const maxFound = 1000

// search leaves of streams what answers a search, for which also what is not listed is looked through; "" is none.
func (h *handler) search(ctx context.Context, text string, streams []reading.Stream) error {
	if strings.TrimSpace(text) == "" || len(streams) == 0 {
		return nil
	}
	m, err := feed.ParseMatch(text)
	if err != nil {
		return refuse("search: %v", err)
	}
	var of []reading.FeedID // none for a stream of all feeds
	for i := range streams {
		if id := streams[i].Feed; id != 0 {
			of = append(of, id)
		}
	}
	found, err := h.Library.Find(ctx, m, of, maxFound)
	for i := range streams {
		streams[i].Unlisted, streams[i].Among = true, found
	}
	if errors.Is(err, archive.ErrSlow) {
		return syncapi.Refuse(http.StatusServiceUnavailable, "The search was given up: %v.", archive.ErrSlow)
	}
	return err
}

// streams are those of the feed or category that the path or the query names, each like s.
func (h *handler) streams(r *http.Request, folder reading.FolderID, s reading.Stream) ([]reading.Stream, error) {
	if r.PathValue("feed") != "" {
		f, err := h.asked(r)
		if err != nil {
			return nil, err
		}
		s.Feed = f.ID
		return []reading.Stream{s}, nil
	}
	if r.PathValue("category") != "" {
		c, err := h.askedFolder(r)
		if err != nil {
			return nil, err
		}
		folder = c.ID
	}
	if folder == 0 {
		return []reading.Stream{s}, nil
	}
	if id := syncapi.FilterOf(folder); id != 0 {
		return []reading.Stream{syncapi.Caught(id, s)}, nil
	}
	return syncapi.Streams(r.Context(), h.Library, s,
		func(f *reading.FollowedFeed) bool { return categoryOf(f).ID == folder })
}

// find returns the ids on the page, and how many there are on all pages.
func (h *handler) find(ctx context.Context, s *selection) (ids []reading.ItemID, total int, err error) {
	if len(s.streams) == 1 && s.above == 0 && s.below == 0 {
		if total, err = h.Library.Size(ctx, s.streams[0]); err == nil {
			ids, err = h.Library.IDs(ctx, s.streams[0], reading.Page{Oldest: s.oldest, Limit: s.offset + s.limit})
		}
	} else {
		page := reading.Page{After: s.below, Before: s.above, Limit: reading.MaxPage}
		if s.oldest {
			page = reading.Page{After: s.above, Before: s.below, Limit: reading.MaxPage, Oldest: true}
		}
		ids, err = syncapi.IDs(ctx, h.Library, s.streams, page)
		total = len(ids)
	}
	if err != nil {
		return nil, 0, err
	}
	ids = ids[min(s.offset, len(ids)):]
	return ids[:min(s.limit, len(ids))], total, nil
}

// queryArguments are those of a request, with what is wrong with the last that could not be read.
type queryArguments struct {
	url.Values
	err error
}

// number is an argument that is a number, 0 or greater.
func (q *queryArguments) number(name string, otherwise int64) int64 {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		q.err = refuse("%s=%.40q is not a number", name, text)
	}
	return n
}

// status is which entries are asked for: read ones, unread ones, or both.
func (q *queryArguments) status() reading.Choice {
	read, unread := false, false
	for _, text := range q.Values["status"] {
		switch text {
		case "read":
			read = true
		case "unread":
			unread = true
		case "":
		default:
			q.err = refuse("status=%.40q is not read or unread", text)
		}
	}
	switch {
	case read && !unread:
		return reading.Yes
	case unread && !read:
		return reading.No
	}
	return reading.Either
}

func (q *queryArguments) starred() reading.Choice {
	switch text := q.Get("starred"); text {
	case "":
		return reading.Either
	case "true", "1":
		return reading.Yes
	case "false", "0":
		return reading.No
	default:
		q.err = refuse("starred=%.40q is not true or false", text)
		return reading.Either
	}
}

// moment is the time by which entries are asked for, by one of the names that it has; the zero time for none.
func (q *queryArguments) moment(names ...string) time.Time {
	for _, name := range names {
		if n := q.number(name, 0); n > 0 {
			return time.Unix(n, 0)
		}
	}
	return time.Time{}
}
