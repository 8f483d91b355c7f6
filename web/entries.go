package web

import (
	"cmp"
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
	"feedex/safehtml"
)

// entriesPerPage is how many entries a page lists, and searchTime how long the search for them may take.
const (
	entriesPerPage = 40
	searchTime     = 5 * time.Second
)

// maxUnread is up to where what is not read is counted.
const maxUnread = 1000

// entriesPage lists entries, the latest arrival first.
type entriesPage struct {
	Entries []headline
	Query   string
	Show    string // "", "unread" or "starred"
	Tabs    []section
	Feed    string // what the feed is called, "" for all
	Number  int64  // of the feed
	Older   string // address of the entries before, "" for none
	More    bool   // the search found more than these
	Problem string // why the search found nothing, "" for no reason
	Until   int64  // when the list was made, in Unix seconds
	Here    string // address of the list
}

// A headline is an entry as lists show it.
type headline struct {
	Path      string
	ID        string
	Title     string
	Feed      string // what it is called, "" where the page is about one
	FeedPath  string
	Lead      string
	Time      moment
	Neighbor  string // that brought it, "" for an own poll
	Confirmed bool
	Item      reading.ItemState
	Here      string // address of the list where it can be marked, "" where it cannot
	Token     string // for that
}

func (h *Handler) entries(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.Now()
	p := &entriesPage{Query: strings.TrimSpace(r.FormValue("q")), Show: r.FormValue("show"), Until: now.Unix(),
		Here: r.URL.RequestURI()}
	q := reading.HeadlineQuery{Unread: p.Show == "unread", Starred: p.Show == "starred", Secret: loggedIn(ctx),
		Limit: entriesPerPage + 1}
	q.Feed, _ = strconv.ParseInt(r.FormValue("feed"), 10, 64)
	q.Before, _ = strconv.ParseInt(r.FormValue("before"), 10, 64)
	p.Number = q.Feed
	var f feed.Filter
	if q.Feed != 0 {
		known, err := h.Source.Feed(ctx, q.Feed)
		if err != nil {
			return view{}, err
		}
		p.Feed, f.Feed = titleOf(known.URL, cmp.Or(known.Name, known.Title)), known.URL
	}
	v := view{Page: "entries", Title: "Entries", Nav: "/entries", Live: p.Query == "", Body: p}
	unread, err := h.Source.CountUnread(ctx, q.Feed, q.Secret, maxUnread)
	if err != nil {
		return v, err
	}
	p.tabs(unread)
	if p.Query != "" {
		found, more, problem, err := h.find(ctx, f, p.Query)
		if err != nil {
			return v, err
		}
		titles, err := h.Source.Titles(ctx)
		if err != nil {
			return v, err
		}
		p.Problem, p.More, p.Entries = problem, more, h.records(found, titles, now)
		return v, nil
	}
	list, err := h.Source.Headlines(ctx, q)
	if err != nil {
		return v, err
	}
	if len(list) > entriesPerPage {
		list = list[:entriesPerPage]
		last := list[len(list)-1].Seq
		if q.Unread || q.Starred {
			last = int64(list[len(list)-1].Item.ID)
		}
		p.Older = "?" + queryOf("feed", zeroless(p.Number), "show", p.Show) + "before=" + strconv.FormatInt(last, 10)
	}
	p.Entries = h.headlines(list, q.Feed == 0, now)
	for i := range p.Entries {
		p.Entries[i].Here = p.Here
	}
	return v, nil
}

// tabs are the ways to list entries.
func (p *entriesPage) tabs(unread int) {
	for _, t := range []section{{"", "All"}, {"unread", "Unread (" + unreadText(unread) + ")"},
		{"starred", "Starred"}} {
		p.Tabs = append(p.Tabs, section{p.tab(t.Path), t.Name})
	}
}

// unreadText says how much is not read, as far as it was counted.
func unreadText(n int) string {
	text := grouped(int64(n))
	if n == maxUnread {
		text += " or more"
	}
	return text
}

// Tab is the address of the way that is chosen.
func (p *entriesPage) Tab() string { return p.tab(p.Show) }

func (p *entriesPage) tab(show string) string {
	return "/entries?" + strings.TrimSuffix(queryOf("feed", zeroless(p.Number), "show", show), "&")
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
func (h *Handler) find(ctx context.Context, f feed.Filter, query string) (found []archive.Record, more bool,
	problem string, err error) {
	if problem := ask(&f, query); problem != "" {
		return nil, false, problem, nil
	}
	f.NoSecrets, f.Limit = !loggedIn(ctx), entriesPerPage+1
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, archive.ErrSlow)
	defer cancel()
	records, err := h.Source.Search(ctx, f)
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

// headlines are entries as lists show them, with what their feeds are called where that is asked for.
func (h *Handler) headlines(list []reading.Headline, feeds bool, now time.Time) []headline {
	lines := make([]headline, len(list))
	for i := range list {
		e := &list[i]
		lines[i] = headline{
			Path: "/entries/" + e.ID.String(), ID: e.ID.String(), Title: safehtml.Title(e.Title), Lead: h.lead(e.Lead),
			Time:     moment{e.Time, now},
			Neighbor: e.Source, Confirmed: e.Confirmed, Item: e.Item,
		}
		if feeds {
			lines[i].Feed, lines[i].FeedPath = titleOf(e.URL, e.FeedTitle), "/feeds/"+strconv.FormatInt(e.Feed, 10)
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
	heads := make([]reading.Headline, len(list))
	for i := range list {
		r := &list[i]
		text := cmp.Or(r.Entry.Summary, r.Entry.Content)
		number := numbers[r.Entry.Feed]
		heads[i] = reading.Headline{ID: r.ID, Feed: number, URL: r.Entry.Feed, FeedTitle: titles[number].Text,
			Title: r.Entry.Title, Time: r.Time(),
			Confirmed: r.Confirmed, Lead: strings.ToValidUTF8(text[:min(len(text), 2000)], ""),
			Item: reading.ItemState{Read: true}}
		if !r.Source.IsZero() {
			heads[i].Source = r.Source.String()
		}
	}
	return h.headlines(heads, true, now)
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
