package web

import (
	"cmp"
	"context"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// A headline is an entry as lists show it.
type headline struct {
	Path      string
	ID        string
	Title     string
	Original  string // where it was published, "" for no web page
	Feed      string // what it is called, "" where the page is about one
	FeedPath  string
	FeedIcon  string
	Lead      string
	Time      moment // the one that the list is ordered by
	Also      moment // the other one of arrival and publication, where that is another day; else zero
	Did       string // "arrived" or "published", what it did then
	Neighbor  string // that brought it, "" for an own poll
	Confirmed bool
	Item      reading.ItemState
	Said      starsSaid
	Labels    []labelLink
	Here      string // address of the list where it can be marked, "" where it cannot
	From      listing
	Token     string // for that
	of        feed.URL
}

// Link opens the entry from a list, which marks it read where it is not.
func (l headline) Link() string {
	if l.From.Show == "" || l.Token == "" {
		return l.Path
	}
	return l.Path + "/open?" + l.From.query() + "with=" + opening(l.Token, l.ID)
}

// Around is the address of the list, at the entry.
func (l headline) Around() string { return l.Here + "#e" + l.ID }

// date has the headline show the time that the list is ordered by.
func (l *headline) date(e *reading.Headline, byTime bool) {
	l.Time.T, l.Also, l.Did = e.Seen, moment{e.Time, l.Time.Now}, "published"
	if byTime {
		l.Time.T, l.Also.T, l.Did = e.Time, e.Seen, "arrived"
	}
	if e.Seen.Sub(e.Time).Abs() <= 24*time.Hour {
		l.Also = moment{}
	}
}

// headlines are entries as lists show them, with what their feeds are called where that is asked for.
func (h *kit) headlines(list []reading.Headline, feeds bool, now time.Time) []headline {
	lines := make([]headline, len(list))
	for i := range list {
		e := &list[i]
		lines[i] = headline{
			Path: "/entries/" + e.ID.String(), ID: e.ID.String(), Title: safehtml.Title(e.Title),
			Original: webLink(e.Link),
			Lead:     h.safe.Opening(e.Lead, longestLead), Time: moment{e.Time, now},
			Neighbor: e.Source, Confirmed: e.Confirmed, Item: e.Item, of: e.URL,
		}
		if lines[i].Title == "" { // as short posts have none: their text is what they are known by
			lines[i].Title, lines[i].Lead = h.safe.Opening(e.Lead, safehtml.LongestOpening), ""
		}
		if feeds {
			lines[i].Feed, lines[i].FeedPath = titleOf(e.URL, e.FeedTitle), pathOfFeed(e.Feed)
			lines[i].FeedIcon = e.FeedIcon.Path()
		}
	}
	return lines
}

// records are records that were found as lists show them, with the time of their arrival, in the order of which they
// come, unless that goes by relevance.
func (h *desk) records(ctx context.Context, list []archive.Record, relevance bool, now time.Time) ([]headline, error) {
	feeds := make([]feed.URL, len(list))
	for i := range list {
		feeds[i] = list[i].Entry.Feed
	}
	titles, err := h.Shelf.Titles(ctx, feeds)
	if err != nil {
		return nil, err
	}
	heads := make([]reading.Headline, len(list))
	for i := range list {
		r := &list[i]
		text := cmp.Or(r.Entry.Summary, r.Entry.Content)
		of := titles[r.Entry.Feed]
		heads[i] = reading.Headline{ID: r.ID, Feed: int64(of.Feed), URL: r.Entry.Feed, FeedTitle: of.Text,
			FeedIcon: of.Icon, Title: r.Entry.Title, Link: r.Entry.Link, Time: r.Time(), Seen: r.Seen,
			Confirmed: r.Confirmed, Lead: strings.ToValidUTF8(text[:min(len(text), 2000)], ""),
			Item: reading.ItemState{Read: true}}
		if !r.Source.IsZero() {
			heads[i].Source = r.Source.String()
		}
	}
	lines := h.headlines(heads, true, now)
	for i := range lines {
		lines[i].date(&heads[i], relevance)
	}
	return lines, nil
}
