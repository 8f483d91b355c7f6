package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// triedFor is how far back a filter is tried.
const triedFor = 30 * 24 * time.Hour

// A filtersPage lists the owner's filters, with a form that tries one and keeps it.
type filtersPage struct {
	Filters []filterLine
	ID      reading.FilterID // of the filter that the form changes, 0 for a new one
	Wish    reading.FilterWish
	Folders []reading.Folder
	Labels  []reading.Label
	Rules   []choiceOfRule
	Tried   bool
	Found   []headline
	More    bool
	Problem string // with the words
	Sent    bool   // the form is as it was sent
	Unkept  string // what else is wrong with it, "" for nothing
	// Before and At are the words up to where something is wrong with them, and from there on; "" where nothing is.
	Before, At string
	Everything bool   // they ask for nothing, and exclude
	Effect     string // what it would catch and its rule change, in a sentence
}

// A filterLine is a filter as the page lists it.
type filterLine struct {
	reading.CountedFilter
	Path, Atom string
	Hits       int64
	Acts       bool // its rule can act on what it caught
	Last       moment
	Before     reading.FilterID // the filter that it is to be before, to move it up; 0 where it is the first
	LastAsked  moment           // when neighbors were
}

// A choiceOfRule is a rule that the form offers.
type choiceOfRule struct {
	Rule reading.Rule
	Text string
}

func rules() []choiceOfRule {
	return []choiceOfRule{
		{reading.RuleNone, "nothing"}, {reading.RuleMute, "mute: neither listed nor unread"},
		{reading.RuleRead, "mark it read"}, {reading.RuleStar, "star it"}, {reading.RuleFull, "fetch its full text"},
		{reading.RuleLabel, "give it a label"}, {reading.RuleKeep, "keep it: it is never purged"},
	}
}

// effect says what a filter would catch of what is here, and what its rule would do to that.
func (h *Handler) effect(ctx context.Context, m feed.Match, r reading.Rule) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, archive.ErrSlow)
	defer cancel()
	caught, rules, err := h.Source.TryFilter(ctx, m)
	switch {
	case errors.Is(err, archive.ErrSlow), errors.Is(err, context.DeadlineExceeded):
		return "", nil // the list says what came of it
	case err != nil:
		return "", err
	}
	text := "Of what is here it would catch " + count(caught, "entry", "entries")
	if caught == reading.MaxCaught {
		text = "Of what is here it would catch the latest " + grouped(caught) + " entries"
	}
	switch r {
	case reading.RuleNone:
		return text + ".", nil
	case reading.RuleKeep:
		return text + ", and keep them as long as the filter is there.", nil
	}
	return text + "; to have the rule act on them too would " + r.Would(rules[r]) + ".", nil
}

// filterPath is where what a filter caught is listed.
func filterPath(id reading.FilterID) string { return listing{Show: labelled, Filter: id}.Path() }

// keepPath is where a search of a feed, or of all where it is "", is kept as a filter, "" where it cannot be: the words
// of filters are shown to whoever may open the pages, and so hold no address that is a secret.
func keepPath(query string, of feed.URL) string {
	if query == "" || of.Secret() {
		return ""
	}
	if of != "" {
		query = "(" + query + `) feed:"` + string(of) + `"`
	}
	return "/filters?words=" + url.QueryEscape(query) + "#new"
}

func (h *Handler) filters(r *http.Request) (view, error) { return h.filtersWith(r, "") }

// filtersWith is the page with the form as it was sent, if it was, and what is wrong with that, "" for nothing.
func (h *Handler) filtersWith(r *http.Request, problem string) (view, error) {
	ctx := r.Context()
	list, err := h.Source.CountedFilters(ctx)
	if err != nil {
		return view{}, err
	}
	p := filtersPage{Rules: rules(), Tried: r.FormValue("words") != "",
		Sent: r.Method == http.MethodPost,
		Wish: reading.FilterWish{Name: r.FormValue("name"), Words: r.FormValue("words"), Folder: r.FormValue("folder"),
			Rule: reading.Rule(r.FormValue("rule")), Label: r.FormValue("label"),
			Standing: r.PostFormValue("standing") != ""}} // it is ticked by hand alone, and by no link
	edited, _ := strconv.ParseInt(cmp.Or(r.PostFormValue("id"), r.FormValue("edit")), 10, 64)
	for i, f := range list {
		l := filterLine{CountedFilter: f, Path: filterPath(f.ID),
			Atom: "/filter/" + url.PathEscape(f.Name) + ".atom", Hits: int64(f.Caught), Acts: f.Rule.Acts(),
			Last: moment{f.Latest, h.now(r)}, LastAsked: moment{f.Asked, h.now(r)}}
		if i > 0 {
			l.Before = list[i-1].ID
		}
		p.Filters = append(p.Filters, l)
		if int64(f.ID) == edited {
			if p.ID = f.ID; !p.Tried {
				p.Wish, p.Tried = f.FilterWish, true
			}
		}
	}
	if p.Folders, err = h.Shelf.Folders(ctx); err != nil {
		return view{}, err
	}
	if p.Labels, err = h.Shelf.Labels(ctx); err != nil {
		return view{}, err
	}
	v := view{Page: "filters", Title: "Filters", Nav: "/filters", Body: &p}
	if p.Tried {
		err = h.try(r, &p)
	}
	if p.Problem == "" {
		p.Unkept = problem
	}
	return v, err
}

// try looks for what the words would have caught in the past month.
func (h *Handler) try(r *http.Request, p *filtersPage) error {
	var wrong *feed.MatchError
	m, err := feed.ParseMatch(p.Wish.Words)
	if errors.As(err, &wrong) {
		words := []rune(p.Wish.Words)
		at := min(max(wrong.Column-1, 0), len(words))
		p.Before, p.At, p.Problem = string(words[:at]), cmp.Or(string(words[at:]), "…"), wrong.Error()+"."
		return nil
	}
	found, more, problem, err := h.find(r.Context(), feed.Filter{Since: h.now(r).Add(-triedFor)}, p.Wish.Words)
	p.More, p.Problem = more, problem
	if err == nil {
		p.Found, err = h.records(r.Context(), found, false, h.now(r))
	}
	p.Everything = m.Op == feed.MatchNot
	if err == nil && problem == "" {
		p.Effect, err = h.effect(r.Context(), m, p.Wish.Rule)
	}
	return err
}

// keepFilter keeps a filter, or changes one. What is tried or cannot be kept comes back with the page that says what is
// wrong, and of words where.
func (h *Handler) keepFilter(_ http.ResponseWriter, r *http.Request) (string, error) {
	w := reading.FilterWish{Name: r.PostFormValue("name"), Words: strings.TrimSpace(r.PostFormValue("words")),
		Folder: r.PostFormValue("folder"), Rule: reading.Rule(r.PostFormValue("rule")),
		Standing: r.PostFormValue("standing") != ""}
	if w.Rule == reading.RuleLabel {
		w.Label = r.PostFormValue("label")
	}
	id, _ := strconv.ParseInt(r.PostFormValue("id"), 10, 64)
	page := func(problem string) (view, error) { return h.filtersWith(r, problem) }
	if r.PostFormValue("try") != "" {
		return "", badForm{func() (view, error) {
			v, err := page("")
			v.Code = http.StatusOK
			return v, err
		}}
	}
	was := reading.FilterID(id)
	list, err := h.Shelf.Filters(r.Context())
	if err != nil {
		return "", err
	}
	kept, err := h.Source.KeepFilter(r.Context(), was, w)
	if err != nil {
		return "", inForm(notKept(err), page)
	}
	w, _, _ = w.Checked() // by the name that it has now
	u := undo{What: w.Name + " is kept, and has gone through what came before.", Back: "/filters"}
	if slices.ContainsFunc(list, func(f reading.NamedFilter) bool { return f.ID == was && f.Name != w.Name }) {
		u.What += " Its feed has another address now: readers that have the one by its old name find it no more."
	}
	if was != 0 && was != kept { // by other words, and what the rule did by the old ones would be lost
		u.undo = func(ctx context.Context) error { return notKept(h.Source.KeepFilterAgain(ctx, was, kept)) }
	}
	return h.canUndo(r, "/filters", u), nil
}

// notKept is why a filter is not kept, in words where that is for who asked to mend.
func notKept(err error) error {
	if errors.Is(err, reading.ErrNoFilter) {
		return ErrNone
	}
	return mendable(err, "The filter is not kept", reading.ErrName, reading.ErrFilterName, reading.ErrFilters,
		reading.ErrFolders, reading.ErrLabels, reading.ErrWords, reading.ErrRule, reading.ErrStanding)
}

// changeFilter moves a filter up, has its rule act on what it caught, takes that back, or removes it.
func (h *Handler) changeFilter(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, _ := strconv.ParseInt(r.PostFormValue("id"), 10, 64)
	id, ctx := reading.FilterID(number), r.Context()
	list, err := h.Shelf.Filters(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(f reading.NamedFilter) bool { return f.ID == id })
	if i < 0 {
		return "", ErrNone
	}
	f := list[i]
	switch r.PostFormValue("do") {
	case "up":
		to, _ := strconv.ParseInt(r.PostFormValue("before"), 10, 64)
		return "/filters", h.Source.MoveFilter(ctx, id, reading.FilterID(to))
	case "act":
		at, err := h.Source.ActOnPast(ctx, id)
		if err != nil {
			return "", err
		}
		return h.canUndo(r, "/filters", undo{What: "The rule of " + f.Name + " acted on what it has caught.",
			Back: "/filters", undo: func(ctx context.Context) error { return h.Source.TakeBack(ctx, id, at) }}), nil
	case "back":
		if err := h.Source.TakeBack(ctx, id, time.Time{}); err != nil {
			return "", err
		}
		return h.said(r, "/filters", "What the rule of "+f.Name+" did is taken back."), nil
	case "remove":
		if err := h.Source.RemoveFilter(ctx, id); err != nil {
			return "", err
		}
		what := f.Name + " is removed."
		if f.Rule.Acts() {
			what += " What its rule did stays done, and can be taken back once the removal is undone."
		}
		return h.canUndo(r, "/filters", undo{What: what, Back: "/filters",
			undo: func(ctx context.Context) error { return notKept(h.Source.KeepFilterAgain(ctx, id, 0)) }}), nil
	}
	return "", ErrNone
}
