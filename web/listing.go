package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"feedex/reading"
)

// A listing says which entries a list has.
type listing struct {
	Show   string // "unread", "all", "starred" or labelled; "" on the page of an entry that was not opened from a list
	Feed   int64  // 0 for all
	Folder reading.FolderID
	// Of labelled, which is of all feeds, one of these is not 0.
	Label  reading.LabelID
	Filter reading.FilterID
	Sort   string // byPublication, byRelevance where something is searched for, or "" for the order of arrival
	Query  string // what is searched for, in entries read or not; "" for nothing
}

// The orders of a list, but that of arrival.
const (
	byPublication = "published"
	byRelevance   = "relevance"
)

// labelled is to show what has a label or was caught by a filter, read or not.
const labelled = "labelled"

// listingOf is the listing that an address names.
func listingOf(r *http.Request) (s listing) {
	if show := r.FormValue("show"); show == "unread" || show == "all" || show == "starred" {
		s.Show = show
	}
	s.Feed, _ = strconv.ParseInt(r.FormValue("feed"), 10, 64)
	folder, _ := strconv.ParseInt(r.FormValue("folder"), 10, 64)
	s.Folder, s.Query = reading.FolderID(folder), strings.TrimSpace(r.FormValue("q"))
	label, _ := strconv.ParseInt(r.FormValue("label"), 10, 64)
	filter, _ := strconv.ParseInt(r.FormValue("filter"), 10, 64)
	if s.Query == "" && label != 0 {
		s = listing{Show: labelled, Label: reading.LabelID(label)}
	} else if s.Query == "" && filter != 0 {
		s = listing{Show: labelled, Filter: reading.FilterID(filter)}
	}
	if sort := r.FormValue("sort"); sort == byPublication || sort == byRelevance && s.Query != "" {
		s.Sort = sort
	}
	return s
}

// query is the beginning of the query that names the listing.
func (s listing) query() string {
	return queryOf("show", s.Show, "feed", zeroless(s.Feed), "folder", zeroless(int64(s.Folder)),
		"label", zeroless(int64(s.Label)), "filter", zeroless(int64(s.Filter)), "sort", s.Sort, "q", s.Query)
}

// Path is the address of the list.
func (s listing) Path() string { return "/entries?" + strings.TrimSuffix(s.query(), "&") }

// headlines is the query for the entries.
func (s listing) headlines(secret bool, limit int) reading.HeadlineQuery {
	return reading.HeadlineQuery{Feed: s.Feed, Folder: s.Folder, Unread: s.Show == "unread",
		Starred: s.Show == "starred", Label: s.Label, Filter: s.Filter, Secret: secret, Limit: limit,
		ByTime: s.Sort == byPublication}
}

// place is where an entry is in the list. Where that goes by publication its time belongs to it.
func (s listing) place(seq int64, item reading.ItemState) int64 {
	if s.Show == "all" || s.Sort == byPublication {
		return seq
	}
	return int64(item.ID)
}

// sorted is the listing in another order.
func (s listing) sorted(by string) listing {
	s.Sort = by
	return s
}

// of is the listing of another feed or folder, or of all.
func (s listing) of(feed int64, folder reading.FolderID) listing {
	if s.Feed, s.Folder = feed, folder; s.Show == labelled {
		s.Label, s.Filter, s.Show = 0, 0, "unread"
	}
	return s
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
