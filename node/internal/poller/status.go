package poller

import (
	"cmp"
	"slices"
	"time"

	"feedex/archive"
	"feedex/discover"
	"feedex/feed"
)

// A FeedStatus describes one feed of the node's own interest.
type FeedStatus struct {
	URL   feed.URL `json:"url"`
	Title string   `json:"title"`
	Alias feed.URL `json:"alias,omitempty"` // where it has moved to
	// the URL that it had before it was renamed
	Former feed.URL `json:"former,omitempty"`
	// its publisher says that it is gone for good; polled no more
	Ended   bool   `json:"ended"`
	Private bool   `json:"private"`        // never leaves this node
	Kept    string `json:"kept,omitempty"` // why it does not
	// that is for the look of an address, and its owner has not said anything
	Undecided bool `json:"undecided,omitempty"`
	// neighbors are not to learn that the interest is the node's own
	Discreet bool            `json:"discreet"`
	Sharing  archive.Sharing `json:"sharing"`     // of stars and labels, with neighbors who share theirs
	FullText bool            `json:"full_text"`   // full texts of what it publishes are fetched, as the host knows
	Weight   int             `json:"weight"`      // of preference, 1 to 100
	Policy   string          `json:"policy"`      // by which it is polled, "" for the node's own
	Offered  int             `json:"offered"`     // neighbors that have it in their set, within reach
	Interval time.Duration   `json:"interval_ns"` // between own polls
	// Pollers is how many nodes poll it, this one included, by what neighbors told within an interval: an estimate
	// until the node has listened for that long. It is 1 where nobody is heard, as after a start, or those who are
	// heard do not help.
	Pollers int `json:"pollers"`
	// Spacing is the usual time between polls of it by anybody; 0 where nobody else is heard.
	Spacing     time.Duration `json:"spacing_ns,omitempty"`
	LastPoll    time.Time     `json:"last_poll,omitzero"` // zero for never, here and in the next
	LastSuccess time.Time     `json:"last_success,omitzero"`
	NextPoll    time.Time     `json:"next_poll,omitzero"` // zero while none is planned
	// RefreshAt is when its owner may have it polled, at the earliest; zero for now, and while it is being polled.
	RefreshAt time.Time `json:"refresh_at,omitzero"`
	// a program of its owner unfollowed it, as the host knows, and the node goes on with it for a week
	Unfollowed bool `json:"unfollowed,omitempty"`
	// for its publisher's sake it is left alone until then; zero where that is past
	NotBefore time.Time `json:"not_before,omitzero"`
	Since     time.Time `json:"since,omitzero"` // when the owner subscribed
	Errors    int       `json:"errors"`         // failed polls in a row
	LastError string    `json:"last_error,omitempty"`
	// Polled is how many entries own polls brought first, and Delivered how many neighbors did: since the start, as the
	// core knows it, and over restarts where its host has them from the archive.
	Polled    int64 `json:"polled"`
	Delivered int64 `json:"delivered"`
	// share of its entries that neighbors bring before own polls do, of late
	Helped float64       `json:"helped"`
	Gap    *archive.Gap  `json:"gap,omitempty"`  // of which entries are missing
	Past   *archive.Past `json:"past,omitempty"` // while it is filled in, and where others may have more

	Page    feed.URL            `json:"page,omitempty"`     // the address that led to it, as archive.Feed.Page
	WebPage bool                `json:"web_page,omitempty"` // the last poll brought a web page instead
	Names   []discover.SiteFeed `json:"names,omitempty"`    // the feeds that this names: the owner is to choose
}

// AwaitsPoll reports whether a feed of the node's own interest was not asked for yet since its owner subscribed, or
// that which is followed in the place of the page there. Nobody waits for a first poll that was waived, nor while its
// publisher wants to be left alone or it was read just now.
func (m *Machine) AwaitsPoll(u feed.URL) bool {
	s := m.followed(u)
	if s == nil {
		to, _ := m.Became(u)
		s = m.followed(to)
	}
	return s != nil && s.LastError == "" && s.waived.IsZero() && !s.LastPoll.After(s.Since) &&
		(s.Polling || m.wantedLater(s).IsZero() && !m.readAgain(&s.Feed).After(m.Now))
}

// Feed describes a feed of the node's own interest, by its address or one that has moved to it, nil for any other.
func (m *Machine) Feed(u feed.URL) *FeedStatus {
	s := m.meant(u)
	if s == nil {
		return nil
	}
	status := m.feedStatus(s)
	return &status
}

// Statuses describes every feed of the node's own interest, ordered by URL.
func (m *Machine) Statuses() []FeedStatus {
	list := make([]FeedStatus, 0, len(m.Feeds))
	for _, s := range m.Feeds {
		if !s.volunteered() {
			list = append(list, m.feedStatus(s))
		}
	}
	slices.SortFunc(list, func(a, b FeedStatus) int { return cmp.Compare(a.URL, b.URL) })
	return list
}

func (m *Machine) feedStatus(s *Subscription) FeedStatus {
	status := FeedStatus{
		Since: s.Since, Page: s.Page, WebPage: s.Names != "", Names: discover.Read(s.Names),
		URL: s.URL, Title: s.Title, Alias: s.Alias, Former: s.Former,
		Ended: s.Ended, Private: s.kept != "", Kept: s.kept,
		Undecided: s.undecided, Discreet: s.Discreet, Sharing: s.Sharing,
		Weight: max(s.Weight, 1), Offered: m.Table.Offering(s.URL),
		Interval: s.Interval, LastPoll: s.LastPoll, LastSuccess: s.LastSuccess, NextPoll: s.expected(),
		NotBefore: m.wantedLater(s),
		Errors:    s.Errors, LastError: s.LastError, Polled: s.polled, Delivered: s.delivered,
		Policy: s.Policy, Helped: s.Helped, Past: m.pastStatus(s),
	}
	if at := m.refreshAt(s); at.After(m.Now) && !s.Polling {
		status.RefreshAt = at
	}
	if status.Pollers = 1; m.heeds(s) && !s.Ended && s.Interval > 0 {
		status.Pollers = s.pollers(m.Now)
	}
	if status.Pollers > 1 {
		status.Spacing = s.Interval / time.Duration(status.Pollers)
	}
	if gap := s.Gap; gap.Open() {
		status.Gap = &gap
	}
	return status
}

// Counts are how many feeds are followed, and how many of them are such.
type Counts struct {
	Followed  int
	Alone     int // no neighbor offers them
	Ended     int // gone for good, by their publishers
	Pages     int // web pages of whose feeds the owner is to choose
	Undecided int // kept here until the owner says whether they are private
	Gaps      int // of which entries are missing
	Pasts     int // of which the past is being filled in, by others where these have the feed
}

// Count counts the feeds.
func (m *Machine) Count() Counts {
	var c Counts
	for u, s := range m.Feeds {
		if s.volunteered() {
			continue
		}
		c.Followed++
		switch {
		case s.Ended && len(discover.Read(s.Names)) > 0:
			c.Pages++
		case s.Ended:
			c.Ended++
		}
		alone := m.Table.Offering(u) == 0
		if alone {
			c.Alone++
		}
		if s.undecided {
			c.Undecided++
		}
		if s.Gap.Open() {
			c.Gaps++
		}
		if p := m.pastStatus(s); p != nil && p.Stage != archive.PastDone && !(alone && p.Stage == archive.PastNetwork) {
			c.Pasts++
		}
	}
	return c
}

// Offline is since when no publisher can be reached, the zero time where one can.
func (m *Machine) Offline() time.Time { return m.outage.Since() }
