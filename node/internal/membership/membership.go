// Package membership is the machine that keeps the node in the network (Paper §3.1, §3.2): it finds neighbors, admits
// and chooses them, tells them what the node wants, notices who is gone, and reviews how well they serve.
package membership

import (
	"feedex/feed"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Feeds is the part of the poller that membership needs.
type Feeds interface {
	// AnyOpen reports whether one of the feeds that are polled, and that neighbors may know of, is such.
	AnyOpen(such func(u feed.URL) bool) bool
	// HeardPollers returns the nodes that were heard to poll feeds lately, with those feeds, as far as neighbors may
	// know of them.
	HeardPollers() map[protocol.NodeID]protocol.Subset
}

// Exchange is the part of the exchange of entries that membership needs.
type Exchange interface {
	// Joined goes on, over a new link, with what is outstanding; old is the link that it takes the place of, nil for
	// none.
	Joined(l, old *core.Link)
	// CatchUp offers a new neighbor what went round lately.
	CatchUp(l *core.Link)
	// Parted lets others deliver what a neighbor that is gone was to.
	Parted(l *core.Link)
	// Learned is called when it is known which calls a new neighbor has.
	Learned(l *core.Link)
	// StateAccount tells a neighbor how it stands with us, where it is time for that.
	StateAccount(l *core.Link)
	// Forgive goes on with a neighbor where neither side gives anything any more.
	Forgive(l *core.Link)
	// WeighRelays notes of which feeds the neighbors are served by others.
	WeighRelays()
	// KeptShort reports whether the neighbor keeps us at our bound, and Starving whether half of them do.
	KeptShort(l *core.Link) bool
	Starving() bool
	// Owing reports whether a neighbor brings nothing because we owe it.
	Owing(l *core.Link) bool
}

// A Machine keeps the neighbors. Make one with New.
type Machine struct {
	*core.Core
	feeds    Feeds
	exchange Exchange

	Book     *neighbors.Book
	Boot     bootstrap         // looking for neighbors
	Absence  absence           // when it had no neighbors
	Bans     bans              // neighbors that were sent away
	Reviewed review            // how well the neighbors serve us
	reach    reach             // whether others can dial the node
	near     near              // who is on its own networks
	here     []protocol.NodeID // see core.Addressed
	votes    map[protocol.NodeID]protocol.NodeID
}

// New returns a machine that knows the neighbors of earlier that the archive keeps.
func New(c *core.Core, f Feeds) *Machine {
	peers := c.Store.LoadPeers()
	m := &Machine{
		Core: c, feeds: f, Book: neighbors.NewBook(c.Now, c.Rng, c.Config.AllowLocal, peers),
		Bans: newBans(), votes: make(map[protocol.NodeID]protocol.NodeID),
	}
	m.Absence.recall(c.Now, peers)
	c.Failed = m.failed
	return m
}

// Start looks for neighbors.
func (m *Machine) Start(x Exchange) {
	m.exchange = x
	m.setUndialled(m.Config.Undialled)
	m.startBootstrap()
}

// Sources describes the trackers and static neighbors that the owner named.
func (m *Machine) Sources() []SourceStatus {
	list := make([]SourceStatus, len(m.Boot.sources))
	for i, s := range m.Boot.sources {
		list[i] = s.SourceStatus
	}
	return list
}

// Warning says what is wrong with how neighbors serve us, "" for nothing.
func (m *Machine) Warning() string { return m.Reviewed.warning }
