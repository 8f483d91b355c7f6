// Package exchange is the machine that exchanges entries with neighbors (Paper §3.3 to §3.5): what a poll brought is
// offered, what they offer is asked for, taken in, checked and passed on, and both sides keep accounts.
package exchange

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/trust"
)

// Feeds is the part of the poller that the exchange needs.
type Feeds interface {
	// Private reports whether entries of the feed must not leave the node.
	Private(u feed.URL) bool
	// Discreet reports whether a feed is followed discreetly.
	Discreet(u feed.URL) bool
	// Volume is how much a feed brings, as far as own polls have shown.
	Volume(u feed.URL) incentive.DailyVolume
	// Brought takes in what neighbors brought first of a feed, which may be followed or not.
	Brought(u feed.URL, fresh []archive.Record)
	// Heard takes in that a node polled a feed, which may be polled here or not, or was refused there, and returns when
	// that was as far as can be told, and whether it is news to pass on.
	Heard(p core.PollHeard) (at time.Time, news bool)
	// Open reports whether a feed is polled, and neighbors may know of it.
	Open(u feed.URL) bool
	// StarFeeds are the feeds of which stars are told to neighbors who tell theirs, and whether the owner wants that of
	// any, be it possible or not.
	StarFeeds() (open []feed.URL, wanted bool)
	// TellsLabels reports whether labels are told along with the stars of a feed.
	TellsLabels(u feed.URL) bool
	// LatestPolls are the latest polls of feeds of which neighbors may know, but for those of long ago.
	LatestPolls() []core.AnnouncedPoll
	// Spacing is the usual time between polls of the feed by anybody.
	Spacing(u feed.URL) time.Duration
	// SpotPoll sees to it that a feed is polled soon, to check what neighbors brought of it.
	SpotPoll(u feed.URL)
}

// Membership is the part of the node's membership in the network that the exchange needs.
type Membership interface {
	// Punish counts an offence. A holder without standing left loses every link.
	Punish(h incentive.Holder, o incentive.Offence, value incentive.Credit)
	// Expel ends a link from our side without a word, and keeps the holder out for a while.
	Expel(l *core.Link, reason string)
	// LookForMore looks for one more neighbor in a while, if one is wanted by then.
	LookForMore()
	// AbsentAt reports whether the publisher dates the entry within the latest long absence of the node.
	AbsentAt(e *feed.Entry) bool
	// NamedBy is our id by a neighbor's word, the zero id where it said nothing.
	NamedBy(id protocol.NodeID) protocol.NodeID
}

// A Machine exchanges entries with the neighbors. Make one with New.
type Machine struct {
	*core.Core
	feeds      Feeds
	membership Membership

	Gossip   gossip                     // what goes round: bundles seen, promised and recent
	Hearsay  hearsay                    // what neighbors say that no own poll has shown
	Lately   []*outstanding             // what is outstanding with those whose link ended a moment ago
	earnings *incentive.Earnings        // what they earned with which bundle
	starring struct{ soon, later bool } // neighbors are to be told of stars
}

// gossip is the state of the bundles that go round: which are stored, which were promised to us, and which are young
// enough to be of use to a new neighbor.
type gossip struct {
	Seen     seenDIDs
	Promises map[protocol.DID]*promise
	Recent   []recent                  // oldest first
	bytes    int                       // of recent
	polls    map[feed.URL]relayedPolls // the latest of feeds that the node relays
	weighed  int64                     // what came up to then was looked at by WeighRelays; Unix nanoseconds
}

func newGossip(seen int, store archive.Bundles) gossip {
	return gossip{Seen: newSeenDIDs(seen, store), Promises: make(map[protocol.DID]*promise),
		polls: make(map[feed.URL]relayedPolls)}
}

// New returns a machine that knows the bundles that the archive knows.
func New(c *core.Core, f Feeds, s Membership) *Machine {
	return &Machine{
		Core: c, feeds: f, membership: s,
		Gossip: newGossip(c.Config.SeenDIDs, c.Store), Hearsay: hearsay{Register: trust.NewRegister()},
		earnings: incentive.NewEarnings(earningRules(c)),
	}
}

// Start has the machine remember what went round before the node stopped.
func (m *Machine) Start() {
	m.After(0, m.recollect)
	m.TellStars()
}

// LinkTraffic counts the entries and bundles that pass between the node and a neighbor in its link.
type LinkTraffic struct {
	Delivered, Forwarded int64              // entries that it brought first, and that it got
	Waiting              int                // bundles to be offered or delivered to it
	Ours                 protocol.Statement // how we stand with it, by its word
}

// Traffic returns the counts of a neighbor's link.
func (m *Machine) Traffic(to *core.Link) LinkTraffic {
	l := Of(to)
	return LinkTraffic{
		Delivered: l.delivered, Forwarded: l.forwarded, Waiting: len(l.Waiting) + len(l.Offers), Ours: l.ours,
	}
}

// earningRules are the rules in force, by which parties earn.
func earningRules(c *core.Core) incentive.Rules {
	r := c.Config.Incentive.InForce()
	r.HolderOf = func(id protocol.NodeID) incentive.Holder { return c.Ledger.Party(c.Ledger.HolderOf(id)) }
	return r
}
