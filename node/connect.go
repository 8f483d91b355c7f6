package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

const (
	// maxVouching is how many callers are called back at a time before they are believed.
	maxVouching = 16
	// connectTimeout leaves the other side time to call us back.
	connectTimeout = 15 * time.Second
)

// token is what we send to a target so that it knows our calls from those of others who share our
// address: a keyed hash, so nothing needs to be kept.
func (n *Node) token(t Target) string {
	mac := hmac.New(sha256.New, n.config.Secret)
	mac.Write([]byte(t.String()))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// callable reports whether the node may call id at all: nobody must be able to send our calls to
// services on this machine, a private network, or below the ports of ordinary programs.
func (n *Node) callable(id protocol.NodeID) bool {
	return id.Port() >= protocol.LowestPort && id != n.self.id &&
		(n.config.AllowLocal || feed.PublicAddr(id.Addr()))
}

// connect asks a target to become a neighbor.
//
// Paper §3.1: "If the connected node Q decides to accept the connecting node P, Q returns its
// subscription set to P. [...] If Q decides not to accept P (for example, because Q's neighbor capacity
// is full), it returns an empty set."
func (n *Node) connect(t Target, done func(id protocol.NodeID, err error)) {
	offered := n.table.Offer(t.Node)
	token := n.token(t)
	n.search.connecting++
	n.search.tokens[token]++
	n.call(t, token, protocol.Connect{Subset: offered}, connectTimeout, func(a Answered) {
		n.search.connecting--
		if n.search.tokens[token]--; n.search.tokens[token] == 0 {
			delete(n.search.tokens, token)
		}
		id := t.Node
		if id.IsZero() {
			id = a.Peer
		}
		subset, _ := a.Reply.(protocol.Subset)
		err := a.Err
		switch {
		case err != nil:
		case len(subset) == 0:
			err = errDeclined
		case id == n.self.id:
			err = errSelf
		default:
			if err = n.table.Admit(id); err != nil {
				// Others came while we asked. It believes in a link: tell it.
				n.call(t, token, protocol.Disconnect{Reason: err.Error()}, callTimeout, func(Answered) {})
			}
		}
		if err == nil {
			n.join(id, true, t.Host, token, a.Session, subset, offered)
		}
		done(id, err)
	})
}

var (
	errDeclined = errors.New("declined to become a neighbor")
	errSelf     = errors.New("is this node itself")
)

// askedConnect decides about a node that wants to become a neighbor. The port in its call is only its
// word, so it is called back there before it is believed.
func (n *Node) askedConnect(ev Asked, c protocol.Connect) {
	switch {
	case ev.Session != "" && n.search.tokens[ev.Session] > 0:
		n.self.confirm(ev.From)
		n.book.Forget(ev.From)
		n.refuse(ev, protocol.Faultf(protocol.NotVouched, "this is the node itself"))
		return
	case !n.callable(ev.From):
		n.refuse(ev, protocol.Faultf(protocol.Unreachable, "%s is not a public address; it cannot be called back", ev.From))
		return
	case len(c.Subset) == 0:
		n.refuse(ev, protocol.Faultf(protocol.BadSubset, "the subset names no feed"))
		return
	case n.search.vouching >= maxVouching || n.search.beingVouched[ev.From]:
		n.refuse(ev, protocol.Faultf(protocol.Busy, "too many connects at once; try again later"))
		return
	}
	if n.table.Admit(ev.From) != nil || len(n.table.Offer(ev.From)) == 0 {
		n.respond(ev, protocol.Subset{})
		return
	}
	n.search.vouching++
	n.search.beingVouched[ev.From] = true
	n.call(Target{Node: ev.From}, n.token(Target{Node: ev.From}), protocol.Vouch{Session: ev.Session}, callTimeout, func(a Answered) {
		n.search.vouching--
		delete(n.search.beingVouched, ev.From)
		n.vouched(ev, c, a)
	})
}

// vouched admits the caller of a connect if the node at its address stands by the call.
func (n *Node) vouched(ev Asked, c protocol.Connect, a Answered) {
	var refused *protocol.RemoteError
	plain := errors.As(a.Err, &refused) && ev.Session == "" // it knows XML-RPC and no more
	switch {
	case a.Err != nil && !errors.As(a.Err, &refused):
		n.refuse(ev, protocol.Faultf(protocol.Unreachable, "%s does not answer; check its port and firewall", ev.From))
		return
	case !plain && a.Reply != protocol.Vouched(true):
		n.refuse(ev, protocol.Faultf(protocol.NotVouched, "the node at %s did not send this connect", ev.From))
		return
	}
	offered := n.table.Offer(ev.From)
	if n.table.Admit(ev.From) != nil || len(offered) == 0 {
		n.respond(ev, protocol.Subset{})
		return
	}
	token := n.token(Target{Node: ev.From})
	if old := n.links[ev.From]; old != nil {
		token = old.token
	}
	n.do(Respond{Tag: ev.Tag, Reply: offered, Session: token})
	n.join(ev.From, false, "", token, ev.Session, c.Subset, offered)
}

// askedVouch tells whether the token is one that we sent with a connect, or send to a neighbor.
func (n *Node) askedVouch(ev Asked, c protocol.Vouch) {
	known := c.Session != "" && n.search.tokens[c.Session] > 0
	if l := n.links[ev.From]; l != nil && c.Session != "" && l.token == c.Session {
		known = true
	}
	n.respond(ev, protocol.Vouched(known))
}

// leave tells all neighbors that the node goes.
func (n *Node) leave() {
	for _, p := range n.table.All() {
		l := n.links[p.ID]
		n.call(Target{Node: l.id()}, l.token, protocol.Disconnect{Reason: "the node stops"}, callTimeout, func(Answered) {})
		n.store.KeepPeer(archive.Peer(n.book.Parted(n.now, l.id(), l.peer.Since)))
	}
}
