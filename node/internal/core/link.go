package core

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

// A Link is the state of what goes on between the node and one neighbor. Package neighbors keeps the rest: its
// subscription set and what we advertised.
type Link struct {
	// Fields that most calls touch stand first.
	Session     string    // what it must send so that we know it; "" for a plain peer
	Usage       *Usage    // what it caused in the current minute
	Heard       time.Time // of it, last
	Peer        *neighbors.Neighbor
	Holder      incentive.Holder // of its account
	Shared      bool             // that is the account of another neighbor as well
	Over        bool
	Established bool             // both sides have heard of it
	Batches     bool             // it has check_dids
	Accounts    bool             // it has feedex.account
	Notices     bool             // it has feedex.polled
	Stars       bool             // it has feedex.starred
	Token       string           // what we send so that it knows us
	Key         protocol.NodeKey // that it proved, zero for none
	Dialling    bool             // it calls us over a reverse link, which we keep open
	// Given and Got are what was booked since the link came about, and Net is what it owes by that.
	Given, Got, Net incentive.Credit

	RTT       time.Duration // smoothed; zero while unknown
	Failures  int           // failed calls in a row
	LastError string
	Away      time.Duration // for how long it had no neighbors before, by its word

	// The state that each machine keeps of the link, which it alone reads and writes.
	Exchange, Membership, Query any
}

// ID is the id of the neighbor.
func (l *Link) ID() protocol.NodeID { return l.Peer.ID }

// Passed reports whether the neighbor is on a path, by its id or by its key.
func (l *Link) Passed(path []protocol.NodeID) bool {
	return slices.ContainsFunc(path, func(p protocol.NodeID) bool { return p == l.ID() || isNameOf(p, l.Key) })
}

// Passed reports whether the node itself is on a path, as far as it knows its id.
func (c *Core) Passed(path []protocol.NodeID) bool { return slices.ContainsFunc(path, c.Is) }

// Is reports whether id names the node itself, as far as it knows.
func (c *Core) Is(id protocol.NodeID) bool {
	return c.Self.Has(id) && !c.Undialled || isNameOf(id, protocol.NodeKeyOf(c.Config.Key))
}

// isNameOf reports whether id is the name of a node with the key.
func isNameOf(id protocol.NodeID, key protocol.NodeKey) bool {
	return id.Named() && !key.IsZero() && id.Name() == protocol.NameOf(key)
}

// LinkTo is the link to the node id, nil where there is none.
func (c *Core) LinkTo(id protocol.NodeID) *Link {
	if i := slices.Index(c.LinkIDs, id); i >= 0 {
		return c.Links[i]
	}
	return nil
}

// HostedCaller is the link to the hosted neighbor that makes a call, nil where it is another caller: several such have
// one address and port, so it is the session that tells. Its calls need not come from the very address from which it
// keeps its connection open, but from the same network.
func (c *Core) HostedCaller(ev Asked) *Link {
	for _, l := range c.Links {
		if ev.Session == "" || l.Session != ev.Session || !l.ID().Hosted() {
			continue
		}
		// On a private network each node is a network.
		if l.ID().Addr() == ev.From.Addr() || l.ID().Network() == ev.From.Network() {
			return l
		}
	}
	return nil
}

// LinkOf is the link to a neighbor.
func (c *Core) LinkOf(p *neighbors.Neighbor) *Link { return c.Links[slices.Index(c.Table.All(), p)] }
