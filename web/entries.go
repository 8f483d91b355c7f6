package web

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
)

// entriesPerPage is how many entries a page lists, and searchTime how long the search for them may take.
const (
	entriesPerPage = 40
	searchTime     = 5 * time.Second
)

// entriesPage lists entries, the latest arrival first.
type entriesPage struct {
	Entries []headline
	Query   string
	Feed    string // what the feed is called, "" for all
	Number  int64  // of the feed
	Older   string // address of the entries before, "" for none
	Problem string // why the search found nothing, "" for no reason
}

// A headline is an entry as lists show it.
type headline struct {
	Path      string
	Title     string
	Feed      string // what it is called, "" where the page is about one
	FeedPath  string
	Lead      string
	Time      moment
	Neighbor  string // who brought it, "" for an own poll
	Confirmed bool
}

func (h *Handler) entries(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.Now()
	p := &entriesPage{Query: strings.TrimSpace(r.FormValue("q"))}
	p.Number, _ = strconv.ParseInt(r.FormValue("feed"), 10, 64)
	titles, err := h.Source.Titles(ctx)
	if err != nil {
		return view{}, err
	}
	title, known := titles[p.Number]
	if p.Number != 0 && !known {
		return view{}, ErrNone
	}
	if known {
		p.Feed = h.titleOf(title.URL, title.Text)
	}
	v := view{Page: "entries", Title: "Entries", Nav: "/entries", Live: p.Query == "", Body: p}
	if p.Query != "" {
		found, problem, err := h.find(ctx, feed.Filter{Feed: title.URL, Limit: entriesPerPage}, p.Query)
		if err != nil {
			return v, err
		}
		p.Problem = problem
		p.Entries = h.records(found, titles, now)
		return v, nil
	}
	before, _ := strconv.ParseInt(r.FormValue("before"), 10, 64)
	list, err := h.Source.Headlines(ctx, p.Number, before, loggedIn(ctx), entriesPerPage+1)
	if err != nil {
		return v, err
	}
	if len(list) > entriesPerPage {
		list = list[:entriesPerPage]
		p.Older = "?" + queryOf("feed", zeroless(p.Number)) + "before=" + strconv.FormatInt(list[len(list)-1].Seq, 10)
	}
	if p.Number != 0 {
		titles = nil
	}
	p.Entries = h.headlines(list, titles, now)
	return v, nil
}

// find searches the archive for what a person wrote. What is wrong with that comes back as the problem.
func (h *Handler) find(ctx context.Context, f feed.Filter, query string) (found []archive.Record, problem string, err error) {
	if strings.TrimSpace(query) != "" {
		m, err := feed.ParseMatch(query)
		if err != nil {
			return nil, "That cannot be searched for: " + err.Error() + ".", nil
		}
		f.Ask(m)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, archive.ErrSlow)
	defer cancel()
	records, err := h.Source.Search(ctx, f)
	switch {
	case errors.Is(err, archive.ErrCut):
		problem = "Not everything could be ranked in time."
	case errors.Is(err, archive.ErrSlow), errors.Is(err, context.DeadlineExceeded):
		return nil, "The search was given up: " + archive.ErrSlow.Error() + ".", nil
	case err != nil:
		return nil, "", err
	}
	for i := range records {
		if !records[i].Entry.Feed.Secret() || loggedIn(ctx) {
			found = append(found, records[i])
		}
	}
	return found, problem, nil
}

// headlines are entries as lists show them; titles is nil where the page is about one feed.
func (h *Handler) headlines(list []Headline, titles map[int64]Title, now time.Time) []headline {
	lines := make([]headline, len(list))
	for i := range list {
		e := &list[i]
		lines[i] = headline{
			Path: "/entries/" + e.ID.String(), Title: h.plain(e.Title), Lead: h.lead(e.Lead), Time: moment{e.Time, now},
			Neighbor: e.Source, Confirmed: e.Confirmed,
		}
		if t, ok := titles[e.Feed]; ok {
			lines[i].Feed, lines[i].FeedPath = h.titleOf(t.URL, t.Text), "/feeds/"+strconv.FormatInt(e.Feed, 10)
		}
	}
	return lines
}

// records are records as lists show them.
func (h *Handler) records(list []archive.Record, titles map[int64]Title, now time.Time) []headline {
	numbers := make(map[feed.URL]int64, len(titles))
	for number, t := range titles {
		numbers[t.URL] = number
	}
	heads := make([]Headline, len(list))
	for i := range list {
		r := &list[i]
		text := r.Entry.Summary
		if text == "" {
			text = r.Entry.Content
		}
		heads[i] = Headline{ID: r.ID, Feed: numbers[r.Entry.Feed], Title: r.Entry.Title, Time: r.Time(), Confirmed: r.Confirmed,
			Lead: strings.ToValidUTF8(text[:min(len(text), 2000)], "")}
		if !r.Source.IsZero() {
			heads[i].Source = r.Source.String()
		}
	}
	return h.headlines(heads, titles, now)
}

// queryOf is the beginning of a query, "a=1&b=2&", of those names and values that are not empty.
func queryOf(pairs ...string) (q string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q += pairs[i] + "=" + url.QueryEscape(pairs[i+1]) + "&"
		}
	}
	return q
}

// zeroless writes a number, "" for 0.
func zeroless(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
