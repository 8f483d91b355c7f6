package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"feedex/archive"
	"feedex/discover"
	"feedex/reading"
	"feedex/safehtml"
)

// latestOnFeed is how many entries the page of a feed lists.
const latestOnFeed = 10

// longestAbout is how much of what a publisher says of a feed its page shows, in characters.
const longestAbout = 500

// feedPage is all about one feed.
type feedPage struct {
	FeedDetail
	Line     feedLine
	Secret   bool // its URL is one, and stays off the page
	Address  string
	Since    moment
	Last     moment
	Timeline timeline
	Latest   []headline
	Why      []string    // why the next poll is then
	Until    moment      // throttled until then; zero for not
	By       string      // by its publisher, or the host
	Missing  int         // entries of the gap that have not come
	From, To moment      // of the gap
	Named    []namedFeed // feeds that the web page names which is there instead
	Form     feedForm
}

// A namedFeed is one that a web page names.
type namedFeed struct{ Title, URL string }

func (h *Handler) feed(r *http.Request) (view, error) {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64) // of what is none there is no feed
	return h.feedView(r, number, nil)
}

// feedView is the page of a feed, with a form that could not be taken as it was sent, if that is not nil.
func (h *Handler) feedView(r *http.Request, number int64, sent *feedForm) (view, error) {
	ctx, now := r.Context(), h.now(r)
	known, err := h.Source.Feed(ctx, number)
	if err != nil {
		return view{}, err
	}
	known.Link, known.About = webLink(known.Link), h.safe.Opening(known.About, longestAbout)
	if known.URL.Secret() && !loggedIn(ctx) {
		known.About = ""
	}
	shown := timelineSpan(known.Interval)
	happened, err := h.Source.Happened(ctx, number, now.Add(-shown), maxHappened)
	if err != nil {
		return view{}, err
	}
	p := &feedPage{FeedDetail: known, Secret: known.URL.Secret(), Address: address(known.URL)}
	if known.Status != nil {
		p.Line = h.line(&FeedSummary{FeedStatus: *known.Status, Number: number, Icon: known.Look.Icon,
			Folders: known.Folders}, now)
	} else {
		p.Line = feedLine{Title: titleOf(known.URL, known.Title), Number: number, State: "no longer followed",
			Grade: "idle"}
	}
	if known.Name != "" {
		p.Line.Title = known.Name
	}
	if !p.Secret || loggedIn(ctx) {
		list, err := h.Shelf.Headlines(ctx, reading.HeadlineQuery{Feed: number, Secret: true, Limit: latestOnFeed})
		if err != nil {
			return view{}, err
		}
		p.Latest = h.headlines(list, false, now)
		h.addStars(ctx, p.Latest)
	} else {
		happened.Entries = nil
	}
	p.Timeline = newTimeline(h.safe, happened, shown, now)
	p.Since, p.Last = moment{known.Since, now}, moment{known.LastSuccess, now}
	p.Why = whyThen(&p.FeedDetail, now)
	p.throttled(now)
	if g := known.Gap; g.Open() {
		p.Missing, p.From, p.To = g.Missing-g.Filled, moment{g.After, now}, moment{g.Before, now}
	}
	p.Named = named(&p.Feed, loggedIn(ctx))
	if p.Form = newFeedForm(&p.FeedDetail); sent != nil {
		p.Form = *sent
	}
	return view{Page: "feed", Title: p.Line.Title, Nav: "/feeds", Body: p}, nil
}

// Refreshable is when the owner may have the feed polled.
func (p *feedPage) Refreshable() moment { return moment{p.Status.RefreshAt, p.Line.Next.Now} }

// named are the feeds that the web page names which is at a feed's address, with those where one of the addresses is a
// secret only if these may be shown.
func named(k *archive.Feed, secrets bool) (list []namedFeed) {
	if !k.Subscribed {
		return nil
	}
	for _, f := range discover.Read(k.Names) {
		if (k.URL.Secret() || f.URL.Secret()) && !secrets {
			continue
		}
		list = append(list, namedFeed{cmp.Or(safehtml.Title(f.Title), "Without a title"), string(f.URL)})
	}
	return list
}

// throttled says until when the feed is not asked for, and whether its publisher or the host wants that.
func (p *feedPage) throttled(now time.Time) {
	until, by := p.NotBefore, "its publisher"
	if p.Host.Until.After(until) {
		until, by = p.Host.Until, p.Host.Name+", for all that it serves"
	}
	if until.After(now) && p.Subscribed && !p.Ended {
		p.Until, p.By = moment{until, now}, by
	}
}

// whyThen says why the next poll is when it is, by what is known of the feed.
func whyThen(k *FeedDetail, now time.Time) (why []string) {
	f := &k.Feed
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case !f.Subscribed:
		return []string{"It is not followed any more."}
	case f.Ended && f.Names != "":
		return []string{"Never: there is a web page at its address, and no feed."}
	case f.Ended:
		return []string{"Never: its publisher says that it is gone for good."}
	case k.Status == nil:
		return nil
	case f.LastPoll.IsZero() && f.Interval > 0:
		return []string{"Neighbors bring it already, so that it was not polled at once; it will be within " +
			span(f.Interval) + "."}
	case f.LastPoll.IsZero():
		return []string{"It has not been polled yet; new feeds are asked for one after another."}
	}
	policy := "this node's own policy"
	if f.Policy != "" {
		policy = "the policy chosen for it, " + f.Policy
	}
	if f.Errors > 0 {
		say("The last %s failed, and each failure makes the wait longer, up to a day.",
			count(f.Errors, "poll", "polls"))
	} else {
		say("By %s it is polled about every %s at present.", policy, span(f.Interval))
	}
	if f.Helped >= .05 {
		say("Neighbors bring %s of its entries before own polls do, so that it can be polled more rarely.",
			percent(f.Helped))
	}
	if f.NotBefore.After(now) && !k.Status.NextPoll.Before(f.NotBefore) {
		say("The publisher asks not to be asked again before %s.", moment{f.NotBefore, now}.Clock())
	}
	if f.Lifetime > 0 {
		say("Its answers say that they are fresh for %s.", span(f.Lifetime))
	}
	if f.Pace.Every > 0 {
		say("The document asks for %s between polls.", span(f.Pace.Every))
	}
	if f.Pace.SkipHours != 0 || f.Pace.SkipDays != 0 {
		say("The document names hours or days at which it need not be polled.")
	}
	if k.Host.Gap > 0 {
		say("%s takes one request every %s, which its feeds share.", k.Host.Name, span(k.Host.Gap))
	}
	return why
}

// sortEvents puts the latest first.
func sortEvents(list []incident) {
	slices.SortStableFunc(list,
		func(a, b incident) int { return cmp.Or(b.At.T.Compare(a.At.T), cmp.Compare(a.What, b.What)) })
}

// Decidable reports whether the form says whether the feed is private.
func (p *feedPage) Decidable() bool { return decidable(&p.FeedDetail) }

// ReaderPath is where the feed is for feed readers.
func (p *feedPage) ReaderPath() string { return "/feed/" + string(p.URL) }
