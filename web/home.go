package web

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A period is a stretch of time that the home page is about.
type period struct {
	Name string // in an address
	Text string // after "in"
	Tab  string
	span time.Duration
	bar  time.Duration // what a bar of the drawing stands for
}

func periods() []period {
	const day = 24 * time.Hour
	return []period{
		{"day", "the last 24 hours", "24 hours", day, time.Hour},
		{"week", "the last 7 days", "7 days", 7 * day, day},
		{"month", "the last 30 days", "30 days", 30 * day, day},
	}
}

const (
	// maxTroubled is how many feeds in trouble the home page tells of; the list of feeds has the rest.
	maxTroubled = 3
	// maxBrought is up to where the entries are counted that neighbors brought of a feed in trouble.
	maxBrought = 500
)

// poolSpares is the share of their requests that 189 nodes of the lab spare in 22 hours by telling one another of their
// polls and leaving first polls to those that follow a feed: they make 5,438, and 8,362 where they exchange entries
// alone (ADR 49). The first figure is what this prints:
//
//	feedex lab paper --seed 1 --intervals 16 --no-encoding
const poolSpares = 1 - 5438.0/8362

// homePage shows the work of the node for its owner.
type homePage struct {
	Status   Status
	Periods  []period
	Period   period
	Sum      archive.Hour
	Chart    chart
	Since    moment // when anything was first counted, where that is later than the period's beginning
	Troubled []trouble
	More     int // feeds in trouble besides
	Followed int
	Unread   string // how much is not read, "" for nothing
}

// A trouble is a feed of which something is wrong.
type trouble struct {
	Feed    feedLine
	Brought int    // entries that neighbors brought since, maxBrought at most
	Missing int    // entries that left the document before it was polled, where that is all that is wrong
	Filled  int    // how many of these came since
	Since   moment // the last time that all was well; zero for never
}

// Delivered is how many entries came.
func (p *homePage) Delivered() int64 { return p.Sum.Polled + p.Sum.Brought }

// MaxBrought is up to where the entries are counted that neighbors brought of a feed in trouble.
func (p *homePage) MaxBrought() int { return maxBrought }

// Ahead is by how much neighbors were earlier, on average.
func (p *homePage) Ahead() time.Duration { return p.Sum.Ahead / time.Duration(max(1, p.Sum.Compared)) }

// Waived is how many first polls were left to neighbors since the start, 0 for none, as without neighbors.
func (p *homePage) Waived() int64 {
	if p.Status.Neighbors == 0 {
		return 0
	}
	return p.Status.Counters.PollsWaived
}

// PoolSpares is poolSpares.
func (p *homePage) PoolSpares() float64 { return poolSpares }

// Spared is how many requests more the node would have made without neighbors, and SparedBytes what these would have
// moved, each as much as one that was made.
func (p *homePage) Spared() int64 { return int64(math.Round(p.Sum.Spared)) }
func (p *homePage) SparedBytes() int64 {
	return int64(p.Sum.Spared * float64(p.Sum.Bytes) / float64(max(1, p.Sum.Requests)))
}

// Alone is how many requests that would have been in all, and AloneBytes what these would have moved.
func (p *homePage) Alone() int64      { return p.Sum.Requests + p.Spared() }
func (p *homePage) AloneBytes() int64 { return p.Sum.Bytes + p.SparedBytes() }

func (h *Handler) home(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	v := view{Page: "home", Title: "Home", Nav: "/"}
	p := &homePage{Periods: periods(), Period: periods()[1]}
	for _, one := range p.Periods {
		if one.Name == r.FormValue("period") {
			p.Period = one
		}
	}
	var err error
	if p.Status, err = h.Source.Status(ctx); err != nil {
		return v, err
	}
	feeds, err := h.Source.Feeds(ctx)
	if err != nil && p.Status.Storage == "" {
		return v, err
	}
	if p.Followed = len(feeds); p.Followed == 0 && p.Status.Storage == "" {
		return view{Page: "start", Title: "Welcome", Nav: "/", Body: p}, nil
	}
	unread, err := h.Shelf.CountUnread(ctx, loggedIn(ctx))
	if err != nil {
		return v, err
	}
	if unread > 0 {
		p.Unread = grouped(unread)
	}
	since := now.Add(-p.Period.span).Truncate(time.Hour).Add(time.Hour)
	hours, err := h.Source.Hours(ctx, since)
	if err != nil {
		return v, err
	}
	for _, hour := range hours {
		p.Sum = p.Sum.Add(hour)
	}
	if first, err := h.Source.CountedSince(ctx); err != nil {
		return v, err
	} else if first.After(since) {
		p.Since = moment{first, now}
	}
	p.Chart = newChart(hours, p.Period, now)
	if p.Troubled, p.More, err = h.troubled(ctx, feeds, now); err != nil {
		return v, err
	}
	v.Body = p
	return v, nil
}

// troubled are the feeds of which something is wrong, the longest first.
func (h *Handler) troubled(ctx context.Context, feeds []FeedSummary,
	now time.Time) (list []trouble, more int, err error) {
	var ill []*FeedSummary
	for i := range feeds {
		if f := &feeds[i]; f.Errors > 0 || f.Ended || f.Gap != nil && f.Gap.Missing > f.Gap.Filled {
			ill = append(ill, f)
		}
	}
	slices.SortFunc(ill, func(a, b *FeedSummary) int {
		return cmp.Or(a.LastSuccess.Compare(b.LastSuccess), cmp.Compare(a.URL, b.URL))
	})
	if len(ill) > maxTroubled {
		ill, more = ill[:maxTroubled], len(ill)-maxTroubled
	}
	for _, f := range ill {
		t := trouble{Feed: h.line(f, now), Since: moment{f.LastSuccess, now}}
		if f.Errors > 0 || f.Ended {
			if t.Brought, err = h.Source.Brought(ctx, f.Number, f.LastSuccess, maxBrought); err != nil {
				return nil, 0, err
			}
		} else {
			t.Missing, t.Filled = f.Gap.Missing, f.Gap.Filled
		}
		list = append(list, t)
	}
	return list, more, nil
}

// A feedLine is a feed as lists show it.
type feedLine struct {
	Number int64
	Title  string
	Icon   string // where its picture is, "" for none
	URL    string // as people write it; only the host where it is a secret
	State  string // in a few words
	Grade  string // of the state: "", "warn", "bad" or "idle"
	Why    string // the last error, "" for none
	Tags   []string

	Last, Next moment
	Pollers    int           // nodes that poll it, this one included
	Spacing    time.Duration // between polls by any of them; 0 where no other is heard
	Polled     int64
	Brought    int64
	Offered    int
}

// line is the feed as lists show it.
func (h *kit) line(f *FeedSummary, now time.Time) feedLine {
	l := feedLine{
		Number: f.Number, Title: titleOf(f.URL, f.Title), Icon: f.Icon.Path(), URL: address(f.URL),
		Last: moment{f.LastPoll, now}, Next: moment{f.NextPoll, now},
		Pollers: f.Pollers, Spacing: f.Spacing,
		Polled: f.Polled, Brought: f.Delivered, Offered: f.Offered, Why: f.LastError,
	}
	l.State, l.Grade = stateOf(f)
	l.Tags = append(l.Tags, f.Folders...)
	for _, tag := range []struct {
		is   bool
		name string
	}{{f.Private, "private"}, {f.Undecided, "undecided"}, {f.Discreet && !f.Private, "discreet"},
		{f.Sharing != archive.SharesNothing && !f.Private && !f.Discreet, f.Sharing.String() + " shared"},
		{f.Alias != "", "moved"}} {
		if tag.is {
			l.Tags = append(l.Tags, tag.name)
		}
	}
	return l
}

// address is the feed's URL as a page may show it: other users of the machine may see the page.
func address(u feed.URL) string {
	if u.Secret() {
		return u.Host() + " (the address is a secret)"
	}
	return shortURL(u)
}

// stateOf says in a few words how a feed is, and how grave that is.
func stateOf(f *FeedSummary) (state, grade string) {
	switch {
	case len(f.Names) > 0:
		return "choose a feed", "warn"
	case f.Ended && f.WebPage:
		return "no feed", "bad"
	case f.Ended:
		return "ended by its publisher", "bad"
	case f.LastError != "" && f.Errors == 0:
		return "waits for the network", "warn"
	case f.Errors > 0:
		return "failed " + count(f.Errors, "time", "times"), "bad"
	case f.LastSuccess.IsZero():
		return "new", "idle"
	case f.Gap != nil && f.Gap.Missing > f.Gap.Filled:
		return "entries missing", "warn"
	}
	return "well", ""
}
