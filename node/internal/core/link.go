package core

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// LinkHeldBy is a link with the account of h, nil where there is none.
func (c *Core) LinkHeldBy(h incentive.Holder) *Link {
	if i := slices.IndexFunc(c.Links, func(l *Link) bool { return l.Holder == h }); i >= 0 {
		return c.Links[i]
	}
	return nil
}

const (
	// CallTimeout is how long a small call may take.
	CallTimeout = 10 * time.Second
	// ProbeIn is how soon after a failed call a neighbor is called again.
	ProbeIn = 3 * time.Second
	// RecentFor is how far back a new neighbor is offered what went round. One that says that it had no neighbors
	// for longer is offered more, as far as it is remembered.
	RecentFor = time.Hour
	// SaidFor is how long after an absence nodes that we ask to become neighbors hear of it. The first of them need
	// not have everything.
	SaidFor = 15 * time.Minute
)

// A Link is what goes on between the node and one neighbor. Package neighbors keeps the rest: its
// subscription set and what we advertised.
type Link struct {
	// What most calls touch stands first.
	Session     string    // what it must send so that we know it; "" for a plain peer
	Usage       *Usage    // what it caused in the current minute
	Heard       time.Time // of it, last
	Peer        *neighbors.Neighbor
	Holder      incentive.Holder // of its account
	Shared      bool             // that is the account of another neighbor as well
	Over        bool
	Established bool   // both sides have heard of it
	Batches     bool   // it has check_dids
	Accounts    bool   // it has feedex.account
	Notices     bool   // it has feedex.polled
	Token       string // what we send so that it knows us

	RTT       time.Duration // smoothed; zero while unknown
	Failures  int           // failed calls in a row
	LastError string
	Away      time.Duration // for how long it had no neighbors before, by its word

	// What each machine keeps of the link. It alone reads and writes that.
	Exchange, Membership, Query any
}

// ID is the id of the neighbor.
func (l *Link) ID() protocol.NodeID { return l.Peer.ID }

// LinkTo is the link to the node id, nil where there is none.
func (c *Core) LinkTo(id protocol.NodeID) *Link {
	if i := slices.Index(c.LinkIDs, id); i >= 0 {
		return c.Links[i]
	}
	return nil
}

// LinkOf is the link to a neighbor.
func (c *Core) LinkOf(p *neighbors.Neighbor) *Link { return c.Links[slices.Index(c.Table.All(), p)] }
