package node

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"feedex/archive"
	"feedex/discover"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// A Status is what a node tells its owner about itself at one moment. Counters run since the start.
type Status struct {
	Self    protocol.NodeID `json:"self"` // as the neighbors see it; zero while not known
	Started time.Time       `json:"started"`
	Feeds   int             `json:"feeds"` // subscribed
	Alone   int             `json:"alone"` // of these, no neighbor offers
	Ended   int             `json:"ended"` // of these, are gone for good, by their publishers
	// of these, are web pages of whose feeds the owner is to choose
	Pages int `json:"pages,omitempty"`
	// of these, stay on this node until the owner says whether they are private
	Undecided int            `json:"undecided,omitempty"`
	Offline   time.Time      `json:"offline,omitzero"`  // since when no publisher can be reached; zero for not
	Gaps      int            `json:"gaps"`              // of them, feeds of which entries are missing
	Pasts     int            `json:"pasts"`             // of them, feeds of which the past is being filled in
	Covers    int            `json:"covers"`            // advertised as if they were subscribed
	Neighbors int            `json:"neighbors"`         // linked now
	Sources   []SourceStatus `json:"sources"`           // trackers and static neighbors, as the owner named them
	Warning   string         `json:"warning,omitempty"` // what is wrong, in words
	Counters  Counters       `json:"counters"`
}

// A SourceStatus describes a tracker or a static neighbor that the owner named.
type SourceStatus struct {
	Name    string    `json:"name"`              // as the owner wrote it
	Tracker bool      `json:"tracker"`           // otherwise a static neighbor
	Asked   time.Time `json:"asked,omitzero"`    // when it last answered, or failed to; zero for never
	Problem string    `json:"problem,omitempty"` // why it was of no use then
}

// Counters count what happened since the node started.
type Counters struct {
	Polls         int64 `json:"polls"`          // answered polls of feeds
	PollsFailed   int64 `json:"polls_failed"`   // polls that ended in an error
	NotModified   int64 `json:"not_modified"`   // polls answered "not modified"
	Polled        int64 `json:"polled"`         // entries that an own poll brought first
	Delivered     int64 `json:"delivered"`      // entries that a neighbor brought first
	Forwarded     int64 `json:"forwarded"`      // entries delivered to neighbors
	Duplicates    int64 `json:"duplicates"`     // entries received that were known already
	ChecksSent    int64 `json:"checks_sent"`    // dids offered to neighbors
	ChecksSeen    int64 `json:"checks_seen"`    // of these, answered "seen"
	ChecksAsked   int64 `json:"checks_asked"`   // dids that neighbors offered
	PutsSent      int64 `json:"puts_sent"`      // bundles delivered
	PutsReceived  int64 `json:"puts_received"`  // bundles received
	PutsRefused   int64 `json:"puts_refused"`   // bundles received and refused
	CallsFailed   int64 `json:"calls_failed"`   // own calls that ended in an error
	Broken        int64 `json:"broken"`         // bundles that neighbors offered, were asked for and did not have
	Audits        int64 `json:"audits"`         // offers answered "unseen" only to see whether they are true
	PathsTampered int64 `json:"paths_tampered"` // bundles whose path named us without cause
	Confirmed     int64 `json:"confirmed"`      // entries that a neighbor brought first and an own poll then showed
	// entries that a neighbor claimed as its own poll and the publisher never listed
	Forged int64 `json:"forged"`
	// versions of entries that a neighbor brought and the publisher never had
	Altered int64 `json:"altered"`
	// entries that were refused because their neighbor had brought enough that no own poll has shown
	Unkept int64 `json:"unkept"`
}

// A NeighborStatus describes one neighbor. Amounts of the account are in entries.
type NeighborStatus struct {
	ID      protocol.NodeID `json:"id"`
	Since   time.Time       `json:"since"`
	Chosen  bool            `json:"chosen"`  // we asked; otherwise they did
	Static  bool            `json:"static"`  // the owner named it
	Feeds   int             `json:"feeds"`   // in its subscription set
	Overlap int             `json:"overlap"` // of these, in our own interest
	Nearest [4]int          `json:"nearest"` // of these, at hop count 0, 1, 2, 3

	// Usefulness, in feeds of weight 1 at hop count 0: by its word (Paper §3.2), by what it really brought
	// within the day, and all things considered.
	Claimed  float64 `json:"claimed"`
	Observed float64 `json:"observed"`
	Score    float64 `json:"score"`

	Given    float64 `json:"given"`    // what we delivered to it
	Got      float64 `json:"got"`      // what it earned: delivered first, or truly had
	Fined    float64 `json:"fined"`    // what it was fined
	Deficit  float64 `json:"deficit"`  // what it owes us; below zero what we owe it
	Bound    float64 `json:"bound"`    // the most that it may owe; below zero for no bound
	Standing int     `json:"standing"` // 100 is spotless, 0 ends the link
	Ours     float64 `json:"ours"`     // what we owe it, by its word
	// the most that we may owe it, by its word; below zero for no bound, 0 while not told
	OurBound float64 `json:"our_bound"`

	// Room on disk, at most, of what it brought within a day and no own poll has shown, and how much that may be; below
	// zero for no bound. Both are its address's.
	Unshown int64 `json:"unshown"`
	Quota   int64 `json:"quota"`

	Delivered int64         `json:"delivered"` // entries it brought first, in this link
	Forwarded int64         `json:"forwarded"` // entries we delivered to it, in this link
	Waiting   int           `json:"waiting"`   // bundles waiting to be offered or delivered to it
	Heard     time.Time     `json:"heard"`     // last call or answer
	RTT       time.Duration `json:"rtt"`       // smoothed round trip, in nanoseconds
	LastError string        `json:"last_error,omitempty"`
}

// A FeedStatus describes one feed of the node's own interest.
type FeedStatus struct {
	URL   feed.URL `json:"url"`
	Title string   `json:"title"`
	Alias feed.URL `json:"alias,omitempty"` // where it has moved to
	// its publisher says that it is gone for good; polled no more
	Ended   bool   `json:"ended"`
	Private bool   `json:"private"`        // never leaves this node
	Kept    string `json:"kept,omitempty"` // why it does not
	// that is for the look of an address, and its owner has not said anything
	Undecided bool `json:"undecided,omitempty"`
	// neighbors are not to learn that the interest is the node's own
	Discreet    bool          `json:"discreet"`
	Weight      int           `json:"weight"`             // of preference, 1 to 100
	Policy      string        `json:"policy"`             // by which it is polled, "" for the node's own
	Offered     int           `json:"offered"`            // neighbors that have it in their set, within reach
	Interval    time.Duration `json:"interval"`           // between polls, in nanoseconds
	LastPoll    time.Time     `json:"last_poll,omitzero"` // zero for never, here and in the next
	LastSuccess time.Time     `json:"last_success,omitzero"`
	NextPoll    time.Time     `json:"next_poll,omitzero"` // zero while none is planned
	// for its publisher's sake it is left alone until then; zero where that is past
	NotBefore time.Time `json:"not_before,omitzero"`
	Since     time.Time `json:"since,omitzero"` // when the owner subscribed
	Errors    int       `json:"errors"`         // failed polls in a row
	LastError string    `json:"last_error,omitempty"`
	Polled    int64     `json:"polled"`    // entries that an own poll brought first, since the start
	Delivered int64     `json:"delivered"` // entries that neighbors brought first, since the start
	// share of its entries that neighbors bring before own polls do, of late
	Helped float64     `json:"helped"`
	Gap    *GapStatus  `json:"gap,omitempty"`
	Past   *PastStatus `json:"past,omitempty"` // while it is filled in, and where others may have more

	Page    feed.URL        `json:"page,omitempty"`     // the web page that named it
	WebPage bool            `json:"web_page,omitempty"` // the last poll brought a web page instead
	Names   []discover.Feed `json:"names,omitempty"`    // the feeds that this names, of which the owner is to choose
}

// Asked reports whether the feed was asked for since its owner subscribed, whatever came of it.
func (f *FeedStatus) Asked() bool { return f.LastError != "" || f.LastPoll.After(f.Since) }

// A GapStatus describes a span of time of which entries of a feed are missing: it published more between two
// polls than its document lists.
type GapStatus struct {
	After   time.Time `json:"after"`   // they were published after that
	Before  time.Time `json:"before"`  // and before that
	Missing int       `json:"missing"` // about how many there are
	Filled  int       `json:"filled"`  // how many of them came since
}

// Status is the node as a whole at this moment.
func (n *Node) Status() Status {
	s := n.status
	s.Covers = len(n.covers.list)
	s.Sources, s.Warning = append([]SourceStatus{}, n.boot.sources...), n.reviewed.warning
	s.Offline = n.outage.Since()
	for u, f := range n.feeds {
		switch named, _ := pageOf(&f.Feed); {
		case len(named) > 0 && f.Ended:
			s.Pages++
		case f.Ended:
			s.Ended++
		}
		if n.table.Offering(u) == 0 {
			s.Alone++
		}
		if f.undecided {
			s.Undecided++
		}
		if f.Gap.Open() {
			s.Gaps++
		}
		if p := n.pastStatus(f); p != nil && p.Stage != archive.PastDone {
			s.Pasts++
		}
	}
	return s
}

// Acquaintances are the addresses for which places are to be kept: of all neighbors, and of some who were neighbors
// before.
func (n *Node) Acquaintances() map[netip.Addr]bool {
	addrs := make(map[netip.Addr]bool)
	for _, id := range slices.Concat(n.linkedIDs, n.book.Acquaintances()) {
		addrs[id.Addr()] = true
	}
	return addrs
}

// Neighbors describes every neighbor, the longest-serving first.
func (n *Node) Neighbors() []NeighborStatus {
	list := make([]NeighborStatus, 0, n.table.Len())
	scores, observed := n.table.Scores(n.now), n.table.Observed(n.now)
	for i, l := range n.linked {
		p := l.peer
		account, _ := n.accounts.ledger.Account(l.holder)
		s := NeighborStatus{
			ID: p.ID, Since: p.Since, Chosen: p.Chosen, Static: p.Static,
			Feeds: p.Feeds(), Overlap: n.table.Overlap(p), Nearest: n.table.Nearest(p),
			Claimed: feedsOf(n.table.Claimed(p.ID, nil)), Observed: feedsOf(observed[i]), Score: feedsOf(scores[i]),
			Given: account.Given.Entries(), Got: account.Got.Entries(), Fined: account.Fined.Entries(),
			Deficit: account.Deficit.Entries(), Bound: -1, Standing: account.Standing.Points(n.now),
			Ours: float64(l.ours.Deficit) / 1000, OurBound: boundOf(l.ours),
			Delivered: l.delivered, Forwarded: l.forwarded, Waiting: len(l.waiting) + len(l.offers),
			Heard: l.heard, RTT: l.rtt, LastError: l.lastError,
		}
		if s.Unshown, s.Quota = n.accounts.quota.Stored(n.now, l.holder); n.storesAll(l.holder) {
			s.Quota = -1
		}
		if limit := n.accounts.ledger.Limit(l.holder); limit != incentive.MaxCredit {
			s.Bound = limit.Entries()
		}
		list = append(list, s)
	}
	return list
}

// boundOf is how much we may owe by a neighbor's word, in entries, -1 for no bound.
func boundOf(ours protocol.Account) float64 {
	if ours.Bound < 0 {
		return -1
	}
	return float64(ours.Bound) / 1000
}

// feedsOf is usefulness in feeds of weight 1 at hop count 0.
func feedsOf(u neighbors.Usefulness) float64 { return float64(u) / float64(neighbors.One) }

// Feed describes a feed of the node's own interest, nil for any other.
func (n *Node) Feed(u feed.URL) *FeedStatus {
	s := n.feeds[u]
	if s == nil {
		return nil
	}
	status := n.feedStatus(s)
	return &status
}

// Feeds describes every feed of the node's own interest, ordered by URL.
func (n *Node) Feeds() []FeedStatus {
	list := make([]FeedStatus, 0, len(n.feeds))
	for _, s := range n.feeds {
		list = append(list, n.feedStatus(s))
	}
	slices.SortFunc(list, func(a, b FeedStatus) int { return cmp.Compare(a.URL, b.URL) })
	return list
}

func (n *Node) feedStatus(s *subscription) FeedStatus {
	names, isPage := pageOf(&s.Feed)
	return FeedStatus{
		Since: s.Since, Page: s.Page, WebPage: isPage, Names: names,
		URL: s.URL, Title: s.Title, Alias: s.Alias, Ended: s.Ended, Private: s.kept != "", Kept: s.kept,
		Undecided: s.undecided, Discreet: s.Discreet, Weight: max(s.Weight, 1), Offered: n.table.Offering(s.URL),
		Interval: s.Interval, LastPoll: s.LastPoll, LastSuccess: s.LastSuccess, NextPoll: s.expected(),
		NotBefore: n.wantedLater(s),
		Errors:    s.Errors, LastError: s.LastError, Polled: s.polled, Delivered: s.delivered,
		Policy: s.Policy, Helped: s.Helped, Gap: gapStatus(&s.Gap), Past: n.pastStatus(s),
	}
}
