package node

import (
	"feedex/protocol"
)

// asked answers a peer's call, now or later.
func (n *Node) asked(ev Asked) {
	if n.core.Left {
		n.core.Refuse(ev, protocol.Faultf(protocol.UnknownNeighbor, "the node stops"))
		return
	}
	l := n.core.LinkTo(ev.From)
	known := l
	if l != nil && l.Session != "" && l.Session != ev.Session {
		known = nil // somebody else on its address, or itself after a restart
	}
	if n.overLimit(ev, known) {
		return
	}
	switch c := ev.Call.(type) {
	case protocol.Connect:
		n.membership.AskedConnect(ev, c)
		return
	case protocol.Vouch:
		n.membership.AskedVouch(ev, c)
		return
	case protocol.WhoAmI:
		n.core.Respond(ev, ev.From)
		return
	case protocol.GetEntries:
		n.query.Serve(known, ev, c)
		return
	case protocol.GetBundle:
		if l == nil && n.exchange.AskedPartedBundle(ev, c.DID) {
			return
		}
	}
	switch {
	case l == nil:
		n.core.Refuse(ev, protocol.Faultf(protocol.UnknownNeighbor,
			"%s is not linked with this node; connect first", ev.From))
		return
	case known == nil:
		n.core.Refuse(ev, protocol.Faultf(protocol.NotVouched, "the call does not carry the session of %s", ev.From))
		return
	}
	l.Heard = n.core.Now
	switch c := ev.Call.(type) {
	case protocol.GetNeighbors:
		n.core.Respond(ev, n.membership.NeighborList(ev.From))
	case protocol.UpdateSubset:
		n.membership.Updated(l, ev, c.Changes)
		n.membership.JudgeSubset(l, len(c.Changes), c.Ignored)
	case protocol.CheckDID:
		n.exchange.AskedCheck(l, ev, c)
	case protocol.CheckDIDs:
		n.exchange.AskedChecks(l, ev, c.DIDs)
	case protocol.PutEntries:
		n.exchange.Received(l, c.Bundle, func(err error) {
			if err != nil {
				n.core.Refuse(ev, err)
			} else {
				n.core.Respond(ev, protocol.OK{})
			}
		})
	case protocol.GetBundle:
		n.exchange.AskedBundle(l, ev, c.DID)
	case protocol.QueryFeed:
		n.query.Queried(l, ev, c.Query)
	case protocol.StateAccount:
		n.exchange.AskedAccount(l, ev, c.Account)
	case protocol.Disconnect:
		n.core.Respond(ev, protocol.OK{})
		n.membership.Part(l, "it ended the link: "+c.Reason)
	default:
		n.core.Refuse(ev, protocol.Faultf(protocol.UnknownMethod, "%s is not for nodes", ev.Call.Method()))
	}
}
