package node

import "feedex/protocol"

// asked answers a peer's call, now or later.
func (n *Node) asked(ev Asked) {
	if n.left {
		n.refuse(ev, protocol.Faultf(protocol.UnknownNeighbor, "the node stops"))
		return
	}
	l := n.linkTo(ev.From)
	known := l
	if l != nil && l.session != "" && l.session != ev.Session {
		known = nil // somebody else on its address, or itself after a restart
	}
	if n.overLimit(ev, known) {
		return
	}
	switch c := ev.Call.(type) {
	case protocol.Connect:
		n.askedConnect(ev, c)
		return
	case protocol.Vouch:
		n.askedVouch(ev, c)
		return
	case protocol.WhoAmI:
		n.respond(ev, ev.From)
		return
	case protocol.GetEntries:
		n.serve(known, ev, c)
		return
	case protocol.GetBundle:
		if out := n.openWith(ev.From); l == nil && out != nil && out.link.session == ev.Session {
			n.askedBundle(out.link, ev, c.DID)
			return
		}
	}
	switch {
	case l == nil:
		n.refuse(ev, protocol.Faultf(protocol.UnknownNeighbor,
			"%s is not linked with this node; connect first", ev.From))
		return
	case known == nil:
		n.refuse(ev, protocol.Faultf(protocol.NotVouched, "the call does not carry the session of %s", ev.From))
		return
	}
	l.heard = n.now
	switch c := ev.Call.(type) {
	case protocol.GetNeighbors:
		n.respond(ev, n.neighborList(ev.From))
	case protocol.UpdateSubset:
		n.updated(l, ev, c.Changes)
		n.judgeSubset(l, len(c.Changes), c.Ignored)
	case protocol.CheckDID:
		n.askedCheck(l, ev, c)
	case protocol.CheckDIDs:
		n.askedChecks(l, ev, c.DIDs)
	case protocol.PutEntries:
		n.received(l, c.Bundle, func(err error) {
			if err != nil {
				n.refuse(ev, err)
			} else {
				n.respond(ev, protocol.OK{})
			}
		})
	case protocol.GetBundle:
		n.askedBundle(l, ev, c.DID)
	case protocol.QueryFeed:
		n.queried(l, ev, c.Query)
	case protocol.StateAccount:
		n.askedAccount(l, ev, c.Account)
	case protocol.Disconnect:
		n.respond(ev, protocol.OK{})
		n.part(l, "it ended the link: "+c.Reason)
	default:
		n.refuse(ev, protocol.Faultf(protocol.UnknownMethod, "%s is not for nodes", ev.Call.Method()))
	}
}

// neighborList names our neighbors to one of them: of more than a list holds some, by chance.
func (n *Node) neighborList(asker protocol.NodeID) protocol.NodeList {
	var list protocol.NodeList
	for _, p := range n.table.All() {
		if p.ID != asker {
			list = append(list, p.ID)
		}
	}
	n.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), protocol.MaxNeighborList)]
}

func (n *Node) respond(ev Asked, r protocol.Reply) { n.do(Respond{Tag: ev.Tag, Reply: r}) }

// refuse answers with err, which must be or wrap a *protocol.Fault.
func (n *Node) refuse(ev Asked, err error) { n.do(Respond{Tag: ev.Tag, Fault: protocol.AsFault(err)}) }

// suspect notes what no honest peer does.
func (n *Node) suspect(id protocol.NodeID, what string) { n.tell(Suspect{Peer: id, What: what}) }
