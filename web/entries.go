package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// entriesPerPage is how many entries a page lists, and searchTime how long the search for them may take.
const (
	entriesPerPage = 40
	searchTime     = 5 * time.Second
)

// maxShelves is how many feeds the rail beside a list has at most.
const maxShelves = 200

// entriesPage lists entries, the latest arrival first unless another order is asked for.
type entriesPage struct {
	listing
	Entries []headline
	Keep    string // address at which the search is kept, "" for none
	Tabs    []shelf
	Orders  []shelf
	Folders []shelf
	Labels  []shelf
	Filters []shelf
	Feeds   []shelf // with what is unread, and the one that is shown
	Rest    bool    // there are more feeds than these
	Follows bool    // any feed is followed
	Name    string  // what the feed or folder is called, "" for all
	Older   string  // address of the entries before, "" for none
	More    bool    // the search found more than these
	Problem string  // why the search found nothing, "" for no reason
	Here    string  // address of the list
	// Newest is, but for a search, the newest item that was unread just before the list was made, 0 for none. What came
	// since may not be in it.
	Newest reading.ItemID
}

// A shelf is a way to list entries: a link to a feed, to a folder, or to what is read or not.
type shelf struct {
	Path, Name string
	Icon       string // of a feed, "" for none
	Unread     int64
	Chosen     bool
}

func (h *desk) entries(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	p := &entriesPage{listing: listingOf(r), Here: r.URL.RequestURI()}
	if r.FormValue("undo") != "" {
		p.Here = withUndo(p.Here, "")
	}
	if refreshed(r, now) != "" {
		p.Here = withRefreshed(p.Here, nil)
	}
	p.Show = cmp.Or(p.Show, "unread")
	var f feed.Filter
	if p.Feed != 0 {
		known, err := h.Shelf.Known(ctx, p.Feed)
		if err != nil {
			return view{}, err
		}
		p.Name, f.Feed = titleOf(known.URL, known.Name, known.Title), known.URL
	}
	v := view{Page: "entries", Title: "Entries", Nav: "/entries", Body: p}
	shelved := beside(func() error { return h.shelve(ctx, p) }) // a search takes as long
	if p.Query != "" {
		f.Relevance = p.Sort == byRelevance
		found, more, problem, err := h.find(ctx, f, p.Query)
		if err := cmp.Or(err, shelved()); err != nil {
			return v, err
		}
		v.Title = searchTitle(p.Query, cmp.Or(p.Name, v.Title))
		p.Keep = keepPath(p.Query, f.Feed)
		p.Problem, p.More = problem, more
		if p.Entries, err = h.records(ctx, found, f.Relevance, now); err != nil {
			return v, err
		}
		h.addStars(ctx, p.Entries)
		p.Orders = p.orders(shelf{Path: "", Name: "arrival"}, shelf{Path: byRelevance, Name: "relevance"})
		return v, cmp.Or(h.addItems(ctx, p, found), h.addLabels(ctx, p.Entries))
	}
	q := p.headlines(loggedIn(ctx), entriesPerPage+1)
	q.Before, _ = strconv.ParseInt(r.FormValue("before"), 10, 64)
	if at, err := strconv.ParseInt(r.FormValue("at"), 10, 64); err == nil && q.ByTime {
		q.At = time.Unix(at, 0)
	}
	newest, err := h.Shelf.IDs(ctx, reading.Stream{Read: reading.No}, reading.Page{Limit: 1})
	if len(newest) > 0 {
		p.Newest = newest[0]
	}
	list, err2 := h.Shelf.Headlines(ctx, q)
	if err := cmp.Or(err, err2, shelved()); err != nil {
		return v, err
	}
	v.Title = cmp.Or(p.Name, v.Title)
	p.Orders = p.orders(shelf{Path: "", Name: "arrival"}, shelf{Path: byPublication, Name: "publication"})
	if len(list) > entriesPerPage {
		list = list[:entriesPerPage]
		last := &list[len(list)-1]
		p.Older = "?" + p.query() + "before=" + strconv.FormatInt(p.place(last.Seq, last.Item), 10)
		if q.ByTime {
			p.Older += "&at=" + strconv.FormatInt(last.Time.Unix(), 10)
		}
	}
	p.Entries = h.headlines(list, p.Feed == 0, now)
	h.addStars(ctx, p.Entries)
	for i := range p.Entries {
		e := &p.Entries[i]
		e.Here, e.From = p.Here, p.listing
		e.date(&list[i], q.ByTime)
	}
	return v, h.addLabels(ctx, p.Entries)
}

// searchTitle is what a page is called that shows what was looked for.
func searchTitle(query, where string) string { return query + " · " + where }

// addItems has entries that were found be marked where they are listed.
func (h *desk) addItems(ctx context.Context, p *entriesPage, found []archive.Record) error {
	ids := archive.IDsOf(found)
	states, err := h.Shelf.ItemStates(ctx, ids)
	for i, id := range ids {
		e := &p.Entries[i]
		if item := states[id]; item.ID != 0 {
			e.Item, e.Here, e.From = item, p.Here, p.listing
		}
	}
	return err
}

// orders are the ways to sort the list, each with a link to it where it is not chosen.
func (s listing) orders(list ...shelf) []shelf {
	for i := range list {
		o := &list[i]
		o.Chosen, o.Path = o.Path == s.Sort, s.sorted(o.Path).Path()
	}
	return list
}

// shelve fills the rail: what else may be listed, and how much of it is unread.
func (h *desk) shelve(ctx context.Context, p *entriesPage) error {
	followed, err1 := h.Shelf.Subscriptions(ctx)
	folders, err2 := h.Shelf.Folders(ctx)
	labels, err3 := h.Shelf.Labels(ctx)
	filters, err4 := h.Shelf.Filters(ctx)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	plain := p.listing
	if p.Query != "" {
		plain.Sort, plain.Query = "", ""
	}
	inFolder := make(map[reading.FolderID]int64)
	var all, here int64 // unread
	p.Follows = len(followed) > 0
	for i := range followed {
		f := &followed[i]
		if f.URL.Secret() && !loggedIn(ctx) {
			continue
		}
		n, chosen := int64(f.Unread), int64(f.ID) == p.Feed
		all += n
		for _, folder := range f.Folders {
			inFolder[folder.ID] += n
		}
		if chosen {
			here = n
		}
		if n > 0 || chosen {
			p.Feeds = append(p.Feeds, shelf{plain.of(int64(f.ID), 0).Path(),
				titleOf(f.URL, f.Name, f.Title), f.Icon.Path(), n, chosen})
		}
	}
	slices.SortStableFunc(p.Feeds,
		func(a, b shelf) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	if p.Rest = len(p.Feeds) > maxShelves; p.Rest {
		p.Feeds = p.Feeds[:maxShelves]
	}
	everything := p.Feed == 0 && p.Folder == 0 && p.Show != labelled
	p.Folders = []shelf{{plain.of(0, 0).Path(), "All feeds", "", all, everything}}
	for _, f := range folders {
		unread, has := inFolder[f.ID]
		if !has && f.ID != p.Folder {
			continue // it has nothing to list
		}
		if f.ID == p.Folder {
			p.Name, here = f.Name, unread
		}
		p.Folders = append(p.Folders, shelf{plain.of(0, f.ID).Path(), f.Name, "", unread, f.ID == p.Folder})
	}
	for _, l := range labels {
		if l.ID == p.Label {
			p.Name = l.Name
		}
		p.Labels = append(p.Labels, shelf{Path: labelPath(l.ID), Name: l.Name, Chosen: l.ID == p.Label})
	}
	for _, f := range filters {
		if f.ID == p.Filter {
			p.Name = f.Name
		}
		p.Filters = append(p.Filters, shelf{Path: filterPath(f.ID), Name: f.Name, Chosen: f.ID == p.Filter})
	}
	if p.Show == labelled {
		if p.Name == "" {
			return ErrNone
		}
		return nil
	}
	if everything {
		here = all
	}
	for _, t := range []section{{"unread", "Unread (" + grouped(here) + ")"}, {"all", "All"},
		{"starred", "Starred"}} {
		plain.Show = t.Path
		p.Tabs = append(p.Tabs, shelf{plain.Path(), t.Name, "", 0, t.Path == p.Show})
	}
	return nil
}

// ask has the filter ask for what a person wrote. It returns what is wrong with that, "" for nothing.
func ask(f *feed.Filter, query string) (problem string) {
	if strings.TrimSpace(query) == "" {
		return ""
	}
	m, err := feed.ParseMatch(query)
	if err != nil {
		return "That cannot be searched for: " + err.Error() + "."
	}
	f.Ask(m)
	return ""
}

// find searches the archive for what a person wrote, and returns a page of it and whether there is more. An error in
// what they wrote comes back as the problem.
func (h *desk) find(ctx context.Context, f feed.Filter, query string) (found []archive.Record, more bool,
	problem string, err error) {
	if problem := ask(&f, query); problem != "" {
		return nil, false, problem, nil
	}
	f.NoSecrets, f.Limit = !loggedIn(ctx), entriesPerPage+1
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, archive.ErrSlow)
	defer cancel()
	records, err := h.Shelf.Search(ctx, f)
	switch {
	case errors.Is(err, archive.ErrCut):
		problem = "Not everything could be ranked in time."
	case errors.Is(err, archive.ErrSlow), errors.Is(err, context.DeadlineExceeded):
		return nil, false, "The search was given up: " + archive.ErrSlow.Error() + ".", nil
	case err != nil:
		return nil, false, "", err
	}
	if more = len(records) > entriesPerPage; more {
		records = records[:entriesPerPage]
	}
	return records, more, problem, nil
}
