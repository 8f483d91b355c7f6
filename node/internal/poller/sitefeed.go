package poller

import (
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/discover"
	"feedex/feed"
	"feedex/node/internal/core"
)

// Owners say the address of a site where they mean its feed. The first poll then brings a web page, and that says
// where the feed is: no further request is made to find it. What is followed from then on is the feed, and the page is
// followed no more.

const (
	// pagePatience is for how long a feed that never was one is asked for whether it has become one: a network that
	// wants its users to log in, or a server under repair, shows a page in place of everything.
	pagePatience = 7 * 24 * time.Hour
	// pagePolls is how often it is asked for at least.
	pagePolls = 3
)

// notePage takes note of the web page that a poll brought in place of a feed, or that it brought none.
func (s *Subscription) notePage(ev core.Fetched) {
	switch {
	case ev.Status == courtesy.Unchanged, ev.Err == nil && ev.Document == nil: // it is as it was
	case ev.WebPage:
		s.Names = discover.Text(append([]discover.Feed{}, ev.Named...)) // not nil
	default:
		s.Names = ""
	}
}

// turned reports whether the poll of what never was a feed brought a web page that names feeds, and does what follows
// from that: the one that is meant is followed instead, or the owner is to choose. A page that another page named leads
// no further: nobody can send the node from page to page. Nor does one that comes in place of a feed that was read
// before: it may be anybody's.
func (m *Machine) turned(s *Subscription, ev core.Fetched) bool {
	if !ev.WebPage || len(ev.Named) == 0 || s.Page != "" || s.read() {
		return false
	}
	s.NextPoll = time.Time{}
	s.Terms.Failed(m.Now, ev.Freshness, ev.RetryAfter)
	if meant, ok := discover.Meant(ev.Named); ok {
		m.replacePage(s, discover.Lend(s.URL, meant.URL))
		return true
	}
	s.Ended, s.LastError, s.Errors = true, "this is a web page that names several feeds: choose one", 1
	m.Store.KeepFeed(s.Feed)
	m.Tell(core.Polled{Feed: s.URL, Problem: s.LastError})
	return true
}

// read reports whether the feed was read since its owner subscribed to it.
func (s *Subscription) read() bool {
	return !s.LastSuccess.IsZero() && !s.LastSuccess.Before(s.Since)
}

// noFeed reports whether what is followed has been a page, and never a feed, for so long that it is asked for no more.
func (m *Machine) noFeed(s *Subscription) bool {
	return s.Names != "" && !s.read() && s.Errors >= pagePolls && m.Now.Sub(s.Since) >= pagePatience
}

// replacePage follows a feed in place of the page that named it, as the page was followed.
func (m *Machine) replacePage(page *Subscription, to feed.URL) {
	m.Unsubscribe(page.URL)
	m.became[page.URL] = replacement{to, m.Feeds[to] != nil}
	if s := m.Feeds[to]; s == nil {
		m.follow(to, page.wish(), m.Known(to), page.URL)
	} else if s.Page == "" {
		s.Page = page.URL
		m.Store.KeepFeed(s.Feed)
	}
	m.Store.Inherit(to, page.URL)
	m.Tell(core.Replaced{Page: page.URL, Feed: to})
}

// inPlaceOf reports whether a feed is followed in the place of that page.
func (m *Machine) inPlaceOf(page feed.URL) bool {
	for _, s := range m.Feeds {
		if s.Page == page {
			return true
		}
	}
	return false
}

// wish is how the feed that a page names is to be followed: as the page was, where its owner said something.
func (s *Subscription) wish() *core.Subscribe {
	w := &core.Subscribe{Weight: s.Weight}
	if s.Discreet {
		w.Discreet = &s.Discreet
	}
	if s.Policy != "" {
		w.Policy = &s.Policy
	}
	// what it says is for its owner alone, as it is; that the page may be known says nothing of the feed
	if s.Withheld {
		w.Private = &s.Withheld
	}
	return w
}

// chosen follows a page no more that waits for its owner to choose, where what is followed now is one of those it
// names.
func (m *Machine) chosen(u feed.URL) {
	var pages []*Subscription
	for _, s := range m.Feeds {
		if s.Ended && s.URL != u && strings.Contains(s.Names, "{") && s.names(u) {
			pages = append(pages, s)
		}
	}
	slices.SortFunc(pages, func(a, b *Subscription) int { return strings.Compare(string(a.URL), string(b.URL)) })
	for _, s := range pages {
		m.replacePage(s, u)
	}
}

// names reports whether the page names the feed.
func (s *Subscription) names(u feed.URL) bool {
	return slices.ContainsFunc(discover.Read(s.Names), func(f discover.Feed) bool {
		return f.URL == u || discover.Lend(s.URL, f.URL) == u
	})
}

// A replacement is the feed that is followed in place of a page.
type replacement struct {
	feed  feed.URL
	known bool // it was followed before that
}

// Became is the feed that is followed in place of a page, "" where none was in this run, and whether it was followed
// before that.
func (m *Machine) Became(page feed.URL) (to feed.URL, known bool) {
	r := m.became[page]
	return r.feed, r.known
}

// pageOf is what is known of the web page at a feed's address.
func pageOf(f *archive.Feed) (named []discover.Feed, isPage bool) {
	return discover.Read(f.Names), f.Names != ""
}
