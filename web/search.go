package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/safehtml"
)

// networkTime is how long a search of the network may take, and keep a connection.
const networkTime = 45 * time.Second

// searchPage searches the archive, and those of others.
type searchPage struct {
	Query, Since, Until string
	Number              int64 // of the feed that is searched, 0 for all
	Feeds               []choice
	Relevance           bool   // what fits best is first, in place of the latest
	Network             bool   // others were to be asked
	Asked               bool   // something was asked for
	Keep                string // address at which the search is kept, "" for none
	Found               []headline
	More                bool // there are more than these
	Problem             string
	Events              string // where the network's results come from, "" for nowhere
	Waiting             string // the same page, with them, "" where it is that
	Remote              []remoteLine
	Ended               string       // how the search of the network ended
	filter              *feed.Filter // what was searched for, nil for nothing
}

// A choice is a feed that may be searched.
type choice struct {
	Number int64
	Title  string
}

// A remoteLine is an entry that others have, as the list shows it.
type remoteLine struct {
	RemoteEntry
	Title, Link, Feed string
	When              moment
}

// search searches the archive.
func (h *desk) search(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	p, f, err := h.asked(r)
	v := view{Page: "search", Title: "Archive", Nav: "/search", Body: p}
	if err != nil || !p.Asked || p.Problem != "" {
		return v, err
	}
	if p.Query != "" {
		v.Title = searchTitle(p.Query, v.Title)
	}
	found, more, problem, err := h.find(ctx, f, p.Query)
	if err != nil {
		return v, err
	}
	p.More, p.Problem, p.filter = more, problem, &f
	p.Found, err = h.records(ctx, found, f.Relevance, now)
	return v, err
}

// searchFurther searches the archive and, where that is asked for, those of others: they learn what is looked for, and
// the node's account pays. A link of another site searches the archive alone.
func (h *Handler) searchFurther(r *http.Request) (view, error) {
	v, err := h.search(r)
	p, ok := v.Body.(*searchPage)
	if !ok || err != nil {
		return v, err
	}
	if p.Network = r.FormValue("network") == "1"; !p.Network || p.filter == nil || h.own(r) != nil {
		return v, nil
	}
	sort := ""
	if p.Relevance {
		sort = byRelevance
	}
	query := queryOf("q", p.Query, "sort", sort, "since", p.Since, "until", p.Until, "feed", zeroless(p.Number))
	p.Events, p.Waiting = "/search/network?"+strings.TrimSuffix(query, "&"), "/search?"+query+"network=1&wait=1"
	if r.FormValue("wait") == "1" {
		p.Events, p.Waiting = "", ""
		p.Ended = h.askOthers(r.Context(), *p.filter, p.Query, h.now(r), func(list []remoteLine) error {
			p.Remote = append(p.Remote, list...)
			return nil
		})
	}
	return v, nil
}

// asked reads what is searched for. An error in it is the page's problem.
func (h *desk) asked(r *http.Request) (*searchPage, feed.Filter, error) {
	p := &searchPage{Query: strings.TrimSpace(r.FormValue("q")), Since: r.FormValue("since"),
		Until: r.FormValue("until")}
	p.Number, _ = strconv.ParseInt(r.FormValue("feed"), 10, 64)
	f := feed.Filter{Limit: entriesPerPage}
	for _, bound := range []struct {
		name, text string
		t          *time.Time
	}{{"From", p.Since, &f.Since}, {"Until", p.Until, &f.Until}} {
		if bound.text == "" {
			continue
		}
		t, err := when.Moment(bound.text, h.now(r))
		if err != nil {
			p.Problem = fmt.Sprintf("%s: %v.", bound.name, err)
		}
		*bound.t = t
	}
	if p.Number != 0 {
		known, err := h.Shelf.Known(r.Context(), p.Number)
		if err != nil {
			return p, f, err
		}
		if known.URL.Secret() && !loggedIn(r.Context()) {
			return p, f, ErrNone
		}
		f.Feed = known.URL
		p.Feeds = append(p.Feeds, choice{p.Number, titleOf(known.URL, known.Name, known.Title)})
	}
	p.Relevance = r.FormValue("sort") == byRelevance
	f.Relevance = p.Relevance && p.Query != ""
	p.Keep = keepPath(p.Query, f.Feed)
	p.Asked = p.Query != "" || p.Since != "" || p.Until != "" || p.Number != 0
	return p, f, nil
}

// askOthers searches the network and says how that ended.
func (h *Handler) askOthers(ctx context.Context, f feed.Filter, query string, now time.Time,
	each func([]remoteLine) error) string {
	if problem := ask(&f, query); problem != "" {
		return problem
	}
	ctx, cancel := context.WithTimeout(ctx, networkTime)
	defer cancel()
	total := 0
	end, err := h.Source.Ask(ctx, f, func(list []RemoteEntry) error {
		var lines []remoteLine
		for i := range list {
			l := &list[i]
			if l.Here {
				continue
			}
			lines = append(lines, remoteLine{RemoteEntry: *l, Title: safehtml.Title(l.Title),
				Link: webLink(l.Link), Feed: address(l.Feed), When: moment{l.Time, now}})
		}
		total += len(lines)
		return each(lines)
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "The search was ended: it took too long."
	case err != nil:
		return "The network could not be searched: " + err.Error() + "."
	case end.Problem != "":
		return "Nobody was asked: " + end.Problem + "."
	}
	if end.Neighbors == 0 {
		return "Nobody was asked: there is no neighbor at present."
	}
	text := fmt.Sprintf("Asked %s, who asked theirs: %s that this node does not have.",
		count(end.Neighbors, "neighbor", "neighbors"), count(total, "entry", "entries"))
	if len(end.Cut) > 0 {
		text += " There may be more: " + strings.Join(end.Cut, ", ") + "."
	}
	return text
}

// searchNetwork sends what the network has, as it comes, as server-sent events.
func (h *Handler) searchNetwork(w http.ResponseWriter, r *http.Request) {
	p, f, err := h.asked(r)
	if err == nil {
		err = h.own(r)
	}
	if err != nil || !p.Asked || p.Problem != "" {
		http.Error(w, "There is nothing to search for.", http.StatusBadRequest)
		return
	}
	s, ctx, err := h.stream(w, r)
	if err != nil {
		return
	}
	defer s.close()
	ended := h.askOthers(ctx, f, p.Query, h.now(r), func(list []remoteLine) error {
		for i := range list {
			var b bytes.Buffer
			if err := h.pages["search"].ExecuteTemplate(&b, "remote", list[i]); err != nil {
				return err
			}
			if err := s.send("found", b.String()); err != nil {
				return err
			}
		}
		return nil
	})
	_ = s.send("end", ended) // a browser that went away wants no answer
}
