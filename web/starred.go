package web

import (
	"context"
	"net/http"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	// starredFor is the time out of which entries are on the page of what neighbors starred, and starredEntries how
	// many are.
	starredFor     = 7 * 24 * time.Hour
	starredEntries = 30
	// maxStarred bounds what is looked up for the page.
	maxStarred = 500
)

// starredPage lists what neighbors starred lately.
type starredPage struct {
	Entries []headline
	Shared  bool // the owner shares stars of some feed
}

// starred is the page of what neighbors starred, what the owner is likeliest to star first.
func (h *Handler) starred(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	list, err := h.Shelf.Starred(ctx)
	if err != nil {
		return view{}, err
	}
	feeds, err := h.Source.Feeds(ctx)
	if err != nil {
		return view{}, err
	}
	p := new(starredPage)
	for _, f := range feeds {
		p.Shared = p.Shared || f.Stars
	}
	f := feed.Filter{Since: now.Add(-starredFor), Limit: maxStarred, NoSecrets: !loggedIn(ctx)}
	for _, s := range list {
		if s.Weight > 0 && len(f.IDs) < maxStarred {
			f.IDs = append(f.IDs, s.Entry)
		}
	}
	v := view{Page: "starred", Title: "What your neighbors starred", Nav: "/entries", Body: p}
	if len(f.IDs) == 0 {
		return v, nil
	}
	found, err := h.Shelf.Search(ctx, f)
	if err != nil {
		return view{}, err
	}
	records := make(map[starKey]archive.Record, len(found))
	for _, record := range found {
		records[starKey{record.Entry.Feed, record.ID}] = record
	}
	var top []archive.Record
	for _, s := range list {
		record, is := records[starKey{s.Feed, s.Entry}]
		if is && s.Weight > 0 && len(top) < starredEntries {
			top = append(top, record)
		}
	}
	if p.Entries, err = h.records(ctx, top, true, now); err != nil {
		return view{}, err
	}
	h.addStars(ctx, p.Entries)
	return v, nil
}

// A starKey is an entry of a feed: a star for an entry of another feed counts for nothing.
type starKey struct {
	feed  feed.URL
	entry feed.EntryID
}

// stars are how many networks of neighbors starred which entries, none where that cannot be known now.
func (h *desk) stars(ctx context.Context) map[starKey]int {
	list, err := h.Shelf.Starred(ctx)
	if err != nil {
		return nil
	}
	stars := make(map[starKey]int, len(list))
	for _, s := range list {
		stars[starKey{s.Feed, s.Entry}] = s.Votes
	}
	return stars
}

// addStars adds to entries of a list how many neighbors starred them.
func (h *desk) addStars(ctx context.Context, lines []headline) {
	if len(lines) == 0 {
		return
	}
	stars := h.stars(ctx)
	for i := range lines {
		id, err := entryID(lines[i].ID)
		if err == nil {
			lines[i].Stars = starsText(stars[starKey{lines[i].of, id}])
		}
	}
}

// starsText says how many neighbors starred an entry, "" for none.
func starsText(votes int) string {
	if votes == 0 {
		return ""
	}
	return "starred by " + count(int64(votes), "neighbor", "of your neighbors")
}
