package web

import (
	"context"
	"net/http"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
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
		p.Shared = p.Shared || f.Sharing != archive.SharesNothing
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

// starNotes are what neighbors starred and labelled, and whose words the person uses too.
type starNotes struct {
	entries map[starKey]node.StarredEntry
	own     map[string]bool
}

// stars are what neighbors starred and labelled, nothing where that cannot be known now.
func (h *desk) stars(ctx context.Context) (s starNotes) {
	list, err := h.Shelf.Starred(ctx)
	if err != nil || len(list) == 0 {
		return s
	}
	labels, err := h.Shelf.Labels(ctx)
	if err != nil {
		return s
	}
	s.own = make(map[string]bool, len(labels))
	for _, l := range labels {
		s.own[l.Name] = true
	}
	s.entries = make(map[starKey]node.StarredEntry, len(list))
	for _, e := range list {
		s.entries[starKey{e.Feed, e.Entry}] = e
	}
	return s
}

// addStars adds to entries of a list what neighbors starred and labelled.
func (h *desk) addStars(ctx context.Context, lines []headline) {
	if len(lines) == 0 {
		return
	}
	stars := h.stars(ctx)
	for i := range lines {
		id, err := entryID(lines[i].ID)
		if err == nil {
			lines[i].Said = stars.of(starKey{lines[i].of, id})
		}
	}
}

// manyLabels is how many labels of neighbors an entry is shown with.
const manyLabels = 5

// starsSaid is what neighbors say of an entry.
type starsSaid struct {
	Stars  string // how many starred it, "" for none
	Labels []labelSaid
}

// A labelSaid is a label that neighbors gave an entry.
type labelSaid struct{ Name, By string }

// of is what neighbors say of an entry. The words are strangers': one that a single network says is shown to who uses
// it too, and none that nobody here could give.
func (s starNotes) of(k starKey) (said starsSaid) {
	who := func(votes int) string { return count(votes, "neighbor", "of your neighbors") }
	e := s.entries[k]
	if e.Votes > 0 {
		said.Stars = who(e.Votes)
	}
	for _, l := range e.Labels {
		if len(said.Labels) == manyLabels {
			break
		}
		if name, err := reading.LabelName(l.Name); err == nil && name == l.Name && (l.Votes > 1 || s.own[name]) {
			said.Labels = append(said.Labels, labelSaid{name, who(l.Votes)})
		}
	}
	return said
}
