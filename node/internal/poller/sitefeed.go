package poller

import (
	"cmp"
	"slices"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/discover"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node/internal/core"
)

// Owners say the address of a site where they mean its feed. The first poll then brings a web page, and that says where
// the feed is: no further request is made to find it. The feed is followed from then on, and the page no more.

const (
	// pagePatience is for how long a feed that never was one is asked for whether it has become one: a network that
	// wants its users to log in, or a server under repair, shows a page in place of everything.
	pagePatience = 7 * 24 * time.Hour
	// pagePolls is how often it is asked for at least.
	pagePolls = 3
)

// readdressed reports whether the poll of what never was a feed brought a web page that stands for one, which is
// followed instead. A page that another page named leads no further: nobody can send the node from page to page. Nor
// does one that comes in place of a feed that was read before: it may be anybody's.
func (m *Machine) readdressed(s *Subscription, ev core.Fetched) bool {
	if ev.Instead == "" || s.Page != "" || s.read() {
		return false
	}
	s.Terms.Failed(m.Now, ev.Freshness, ev.RetryAfter)
	m.replacePage(s, ev.Instead)
	return true
}

// isNew reports whether nothing was ever read by the name of the feed, nor came from neighbors. Where its address leads
// for good is then its name: who follows it by that is met by it.
func (m *Machine) isNew(f *archive.Feed) bool {
	return f.Volunteered.IsZero() && f.Page == "" && f.LastSuccess.IsZero() && !m.Store.Holds(f.URL)
}

// New reports whether nothing of a feed that is not followed was ever read here.
func (m *Machine) New(u feed.URL) bool {
	f := m.Known(u)
	f.URL, f.Page, f.Volunteered = u, "", time.Time{} // as it would be followed
	return m.isNew(&f)
}

// polledAs is what the poll of a feed is of: the feed itself, or that which is followed in its place from now on, since
// the feed is new and moved there for good. It is nil where that is followed anyway, and has polls of its own.
func (m *Machine) polledAs(s *Subscription, ev *core.Fetched) *Subscription {
	if ev.Document == nil || ev.Instead == "" {
		return s
	}
	if !m.isNew(&s.Feed) { // something came meanwhile, by the name that it has
		s.Polling = false
		m.PollAt(s, m.Now)
		return nil
	}
	s.Names = ""                                               // of a page that was there before
	s.Terms.Failed(m.Now, courtesy.Freshness{}, ev.RetryAfter) // nothing that is fresh is kept by this name
	if to := m.meant(ev.Instead); to == nil || to == s {
		to = m.replacePage(s, ev.Instead)
		to.Polling, to.Begun, to.Since = true, s.Begun, s.Since
		return to
	}
	m.Counters.Polls++
	m.reached(s)
	m.noteHosts(s, ev)
	to := m.replacePage(s, ev.Instead)
	if to.Ended {
		to.NotBefore = m.Now // it is there, as this poll shows
	}
	// what is private by one of its names is so by the other
	m.change(to, &core.Subscribe{Discreet: said(s.Discreet), Private: said(s.Withheld)})
	if to.Errors > 0 && !to.Polling && !to.Queued.Waiting() {
		m.PollAt(to, when.Later(m.Now, to.NotBefore))
	}
	return nil
}

// read reports whether the feed was read since its owner subscribed to it.
func (s *Subscription) read() bool {
	return !s.LastSuccess.IsZero() && !s.LastSuccess.Before(s.Since)
}

// noFeed reports whether what is followed is a page that is asked for no more, and never was a feed: its owner is to
// choose among the feeds that it names, or it has named none for too long.
func (m *Machine) noFeed(s *Subscription, ev core.Fetched) bool {
	switch {
	case s.Names == "" || s.read():
		return false
	case s.Page == "" && len(discover.Read(s.Names)) > 0:
		s.LastError = "this is a web page that names several feeds: choose one"
		s.Terms.Failed(m.Now, courtesy.Freshness{}, ev.RetryAfter) // who says the page again wants to choose
		return true
	}
	return s.LastSuccess.IsZero() && s.Errors >= pagePolls && m.Now.Sub(s.Since) >= pagePatience
}

// replacePage follows a feed in place of the page that named it, as the page was followed, and returns it. Where the
// page names it as it was called before it moved it is the one that is followed.
func (m *Machine) replacePage(page *Subscription, to feed.URL) *Subscription {
	s := m.meant(to)
	if s == page {
		s = nil
	}
	if s != nil {
		to = s.URL
	}
	page.NextPoll, page.Became = time.Time{}, to
	m.Unsubscribe(page.URL)
	if m.led[page.URL] = s != nil; s == nil {
		s = m.follow(to, page.wish(), m.Known(to), page.URL)
	} else if s.Page == "" {
		if s.Page = page.URL; s.Backlog == archive.UsualBacklog {
			s.Backlog, s.BacklogOf = page.Backlog, page.BacklogOf
		}
		m.Store.KeepFeed(s.Feed)
	}
	m.Store.Inherit(to, page.URL)
	m.Tell(core.Replaced{Page: page.URL, Feed: to})
	return s
}

// meant is the feed that is followed by that address, or since the address moved to it; nil for none. What became of a
// page is none: it may name something else the next time.
func (m *Machine) meant(u feed.URL) *Subscription {
	if s := m.followed(u); s != nil {
		return s
	}
	known := m.Known(u)
	if known.Names != "" {
		return nil
	}
	return m.followed(known.Became)
}

// wish is how the feed that a page names is to be followed: as the page was, where its owner said something.
func (s *Subscription) wish() *core.Subscribe {
	// what it says is for its owner alone, as it is; that the page may be known says nothing of the feed
	return &core.Subscribe{Weight: s.Weight, Discreet: said(s.Discreet), Policy: said(s.Policy),
		Private: said(s.Withheld), Sharing: said(s.Sharing), Backlog: s.Backlog, BacklogOf: s.BacklogOf}
}

// said returns an owner's choice as a pointer, nil for the zero value.
func said[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// chosen follows a page no more that waits for its owner to choose, where what is followed now is one of those it
// names.
func (m *Machine) chosen(u feed.URL) {
	var pages []*Subscription
	for _, s := range m.Feeds {
		meant := func(f discover.SiteFeed) bool { return discover.Lend(s.URL, f.URL) == discover.Lend(s.URL, u) }
		if s.Ended && s.URL != u && slices.ContainsFunc(discover.Read(s.Names), meant) {
			pages = append(pages, s)
		}
	}
	slices.SortFunc(pages, func(a, b *Subscription) int { return cmp.Compare(a.URL, b.URL) })
	for _, s := range pages {
		m.replacePage(s, u)
	}
}

// Became is the feed that is followed in place of an address, "" for none, and whether this run knows
// that it was followed before that.
func (m *Machine) Became(page feed.URL) (to feed.URL, known bool) {
	s := m.followed(m.Store.LoadFeed(page).Became)
	if s == nil {
		return "", false
	}
	return s.URL, m.led[page]
}
