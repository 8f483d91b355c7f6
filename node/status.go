package node

import (
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/node/internal/membership"
	"feedex/node/internal/poller"
	"feedex/protocol"
	"feedex/recommend"
)

type (
	// A FeedStatus describes one feed of the node's own interest.
	FeedStatus = poller.FeedStatus
	// StarredEntry is an entry that neighbors starred whose stars count.
	StarredEntry = exchange.StarredEntry
	// LabelVotes are networks of neighbors that gave an entry a label.
	LabelVotes = exchange.LabelVotes
	// A SourceStatus describes a tracker or a static neighbor that the owner named.
	SourceStatus = membership.SourceStatus
	// Counters count what happened since the node started.
	Counters = core.Counters
)

// A Status is the report of a node to its owner about itself at one moment. Counters run since the start.
type Status struct {
	Self    protocol.NodeID  `json:"self"`         // as the neighbors see it; zero while not known
	Key     protocol.NodeKey `json:"key,omitzero"` // by which neighbors know it wherever it is
	Started time.Time        `json:"started"`
	Feeds   int              `json:"feeds"` // subscribed
	Alone   int              `json:"alone"` // of these, no neighbor offers
	Ended   int              `json:"ended"` // of these, are gone for good, by their publishers
	// of these, are web pages of whose feeds the owner is to choose
	Pages int `json:"pages,omitempty"`
	// of these, stay on this node until the owner says whether they are private
	Undecided int       `json:"undecided,omitempty"`
	Offline   time.Time `json:"offline,omitzero"` // since when no publisher can be reached; zero for not
	Gaps      int       `json:"gaps"`             // of them, feeds of which entries are missing
	Pasts     int       `json:"pasts"`            // of them, feeds of which the past is being filled in
	// feeds that are not followed, and polled for neighbors who want them
	Volunteered []feed.URL     `json:"volunteered,omitempty"`
	Neighbors   int            `json:"neighbors"`         // linked now
	Hosted      int            `json:"hosted"`            // of these, others cannot dial
	Undialled   bool           `json:"undialled"`         // others cannot dial this node
	Seeking     bool           `json:"seeking"`           // it looks for neighbors, as it has too few
	Sources     []SourceStatus `json:"sources"`           // trackers and static neighbors, as the owner named them
	Warning     string         `json:"warning,omitempty"` // what is wrong, in words
	Counters    core.Counters  `json:"counters"`
}

// A NeighborStatus describes one neighbor. Amounts of the account are in entries.
type NeighborStatus struct {
	ID     protocol.NodeID `json:"id"`
	Since  time.Time       `json:"since"`
	Chosen bool            `json:"chosen"` // we asked; otherwise they did
	Static bool            `json:"static"` // the owner named it
	// Dialling says that it calls us over a connection that we keep open to it. A neighbor that we call so has an id of
	// its key and its address (protocol.HostedID).
	Dialling bool `json:"dialling,omitempty"`
	// Key is what it proved to have, and Settled whether that gave for a week.
	Key     protocol.NodeKey `json:"key,omitzero"`
	Settled bool             `json:"settled,omitempty"`
	Feeds   int              `json:"feeds"`   // in its subscription set
	Overlap int              `json:"overlap"` // of these, in our own interest
	Nearest [4]int           `json:"nearest"` // of these, at hop count 0, 1, 2, 3

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
	RTT       time.Duration `json:"rtt_ns"`    // smoothed round trip
	LastError string        `json:"last_error,omitempty"`
}

// Status is the node as a whole at this moment.
func (n *Node) Status() Status {
	feeds := n.poller.Count()
	return Status{
		Self: n.membership.ToldSelf(), Key: protocol.NodeKeyOf(n.core.Config.Key), Started: n.core.Started,
		Feeds: feeds.Followed, Alone: feeds.Alone, Ended: feeds.Ended,
		Pages: feeds.Pages, Undecided: feeds.Undecided, Offline: n.poller.Offline(), Gaps: feeds.Gaps,
		Pasts: feeds.Pasts, Volunteered: n.poller.Volunteered(),
		Neighbors: len(n.core.Links), Hosted: len(n.core.Links) - n.core.Table.Places(), Undialled: n.core.Undialled,
		Seeking: n.membership.Seeking(),
		Sources: n.membership.Sources(),
		Warning: n.membership.Warning(), Counters: n.core.Counters,
	}
}

// Neighbors describes every neighbor, the longest-serving first.
func (n *Node) Neighbors() []NeighborStatus {
	list := make([]NeighborStatus, 0, n.core.Table.Len())
	scores, observed := n.core.Table.Scores(n.core.Now), n.core.Table.Observed(n.core.Now)
	for i, l := range n.core.Links {
		p, traffic := l.Peer, n.exchange.Traffic(l)
		account := n.core.Ledger.Account(l.Holder)
		s := NeighborStatus{
			ID: p.ID, Since: p.Since, Chosen: p.Chosen, Static: p.Static, Dialling: l.Dialling,
			Key: l.Key, Settled: p.Settled,
			Feeds: p.Feeds(), Overlap: n.core.Table.Overlap(p), Nearest: n.core.Table.Nearest(p),
			Claimed: feedsOf(n.core.Table.Claimed(p.ID, nil)), Observed: feedsOf(observed[i]),
			Score: feedsOf(scores[i]),
			Given: account.Given.Entries(), Got: account.Got.Entries(), Fined: account.Fined.Entries(),
			Deficit: account.Deficit.Entries(), Bound: -1, Standing: account.Standing.Points(n.core.Now),
			Ours: float64(traffic.Ours.Deficit) / 1000, OurBound: boundOf(traffic.Ours),
			Delivered: traffic.Delivered, Forwarded: traffic.Forwarded, Waiting: traffic.Waiting,
			Heard: l.Heard, RTT: l.RTT, LastError: l.LastError,
		}
		if s.Unshown, s.Quota = n.core.Quota.Stored(n.core.Now, l.Holder); n.core.StoresAll(l.Holder) {
			s.Quota = -1
		}
		if limit := n.core.Ledger.Limit(l.Holder); limit != incentive.MaxCredit {
			s.Bound = limit.Entries()
		}
		list = append(list, s)
	}
	return list
}

// Starred are the entries that neighbors starred of feeds whose stars the owner shares, those with most weight first.
func (n *Node) Starred() []StarredEntry { return n.exchange.Starred() }

// Interests is what neighbors follow, as they advertise it, beside what the node follows and says that it does. What it
// keeps to itself is in neither.
func (n *Node) Interests() recommend.Profile {
	t := n.core.Table
	facts := recommend.Profile{Own: t.OwnFeeds()}
	for _, p := range t.All() {
		follows, near := t.Interests(p)
		said := recommend.Voice{Network: n.core.VoiceOf(p.ID), Follows: follows, Near: near}
		said.Settled = !n.core.Ledger.OnProbation(n.core.Ledger.HolderOf(p.ID))
		facts.Voices = append(facts.Voices, said)
	}
	return facts
}

// boundOf is how much we may owe by a neighbor's word, in entries, -1 for no bound.
func boundOf(ours protocol.Statement) float64 {
	if ours.Bound < 0 {
		return -1
	}
	return float64(ours.Bound) / 1000
}

// feedsOf is usefulness in feeds of weight 1 at hop count 0.
func feedsOf(u neighbors.Usefulness) float64 { return float64(u) / float64(neighbors.One) }
