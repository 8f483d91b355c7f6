package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// feedsPerPage is how many feeds a page lists.
const feedsPerPage = 100

// feedsPage lists the feeds that the node follows.
type feedsPage struct {
	Feeds      []feedLine
	Query      string // what the names are to contain
	Order      string
	Orders     []section // by Path, which is the order's name
	Total      int       // feeds that are followed
	Found      int       // feeds that fit the query
	Ill        int       // feeds of which something is wrong
	Unfollowed []unfollower
	pager
}

// A pager leads from one page of a list to the next.
type pager struct {
	Page, Pages int // from 1
	query       string
}

// newPager is at the page of a list of n feeds that the request names, the first where it names none.
func newPager(r *http.Request, n int, query string) pager {
	pages := max(1, (n+feedsPerPage-1)/feedsPerPage)
	page, _ := strconv.Atoi(r.FormValue("page"))
	return pager{min(max(page, 1), pages), pages, query}
}

// part is what of the list the page has.
func part[T any](p pager, list []T) []T {
	return list[(p.Page-1)*feedsPerPage : min(len(list), p.Page*feedsPerPage)]
}

// Previous and Next are the addresses of the pages around, "" for none.
func (p pager) Previous() string { return p.at(p.Page - 1) }
func (p pager) Next() string     { return p.at(p.Page + 1) }

func (p pager) at(n int) string {
	if n < 1 || n > p.Pages {
		return ""
	}
	return "?" + p.query + "page=" + strconv.Itoa(n)
}

func (h *Handler) feeds(r *http.Request) (view, error) {
	now := h.now(r)
	p := &feedsPage{Query: strings.TrimSpace(r.FormValue("q")), Order: r.FormValue("order"),
		Orders: []section{{"", "by name"}, {"trouble", "trouble first"}, {"neighbors", "most from neighbors"},
			{"next", "next poll"}}}
	var err error
	if p.Unfollowed, err = h.unfollowed(r); err != nil {
		return view{}, err
	}
	list, err := h.Source.Feeds(r.Context())
	if err != nil {
		return view{}, err
	}
	p.Total = len(list)
	lines := make([]feedLine, 0, len(list))
	for i := range list {
		l := h.line(&list[i], now)
		if l.Grade == "bad" || l.Grade == "warn" {
			p.Ill++
		}
		if matches(p.Query, append([]string{l.Title, l.URL}, l.Tags...)...) {
			lines = append(lines, l)
		}
	}
	p.Found = len(lines)
	grave := map[string]int{"bad": 3, "warn": 2, "idle": 1}
	slices.SortFunc(lines, func(a, b feedLine) int {
		order := 0
		switch p.Order {
		case "trouble":
			order = cmp.Compare(grave[b.Grade], grave[a.Grade])
		case "neighbors":
			order = cmp.Compare(b.Brought, a.Brought)
		case "next":
			order = a.Next.T.Compare(b.Next.T)
		}
		return cmp.Or(order, byTitle(a, b), cmp.Compare(a.Number, b.Number))
	})
	p.pager = newPager(r, len(lines), queryOf("q", p.Query, "order", p.Order))
	p.Feeds = part(p.pager, lines)
	return view{Page: "feeds", Title: "Feeds", Nav: "/feeds", Body: p}, nil
}

// byTitle orders feeds by what they are called.
func byTitle(a, b feedLine) int {
	return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
}

// matches reports whether one of the names contains the words.
func matches(query string, names ...string) bool {
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !slices.ContainsFunc(names,
			func(name string) bool { return strings.Contains(strings.ToLower(name), word) }) {
			return false
		}
	}
	return true
}
