package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// maxVouching is how many callers are called back at a time before they are believed, and how many more that we
	// know already. A set of more feeds than introduce a node counts for several: it is kept meanwhile. Where there are
	// no more places for them, package admission says which network's caller waits in vain: one that did not vouch
	// within vouchPatience.
	maxVouching   = 64
	vouchPatience = 2 * time.Second
	// connectTimeout leaves the other side time to call us back.
	connectTimeout = 15 * time.Second
)

// token is what we send to a node so that it knows our calls from those of other nodes that share our address: a keyed
// hash, so nothing needs to be kept.
func (n *Node) token(to protocol.NodeID) string {
	mac := hmac.New(sha256.New, n.config.Secret)
	mac.Write([]byte(to.String()))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// callable reports whether the node may call id at all: nobody must be able to send our calls to
// services on this machine, a private network, or below the ports of ordinary programs.
func (n *Node) callable(id protocol.NodeID) bool {
	return id.Port() >= protocol.LowestPort && id != n.self.id &&
		(n.config.AllowLocal || feed.PublicAddr(id.Addr()))
}

// connect asks a node to become a neighbor. static is the owner's name for it, "" for none.
//
// Paper §3.1: "If the connected node Q decides to accept the connecting node P, Q returns its
// subscription set to P. [...] If Q decides not to accept P (for example, because Q's neighbor capacity
// is full), it returns an empty set."
func (n *Node) connect(to protocol.NodeID, static string, done func(err error)) {
	offered := n.table.Introduction(to)
	token := n.token(to)
	n.boot.connecting++
	n.boot.tokens[token]++
	n.call(Target{Node: to}, token, protocol.Connect{Subset: offered, Away: n.away()}, connectTimeout,
		func(a Answered) {
			n.boot.connecting--
			if n.boot.tokens[token]--; n.boot.tokens[token] == 0 {
				delete(n.boot.tokens, token)
			}
			subset, ignored := answeredSet(a.Reply)
			switch {
			case a.Err != nil:
				done(a.Err)
				return
			case len(subset) == 0:
				done(errDeclined)
				return
			}
			victim, ok := n.place(to, true, subset)
			if !ok || n.refused(to) || static == "" && n.bans.banned(n.now, n.accounts.ledger.HolderOf(to)) {
				// Others came while we asked, or it lost its standing. It believes in a link: tell it.
				n.call(Target{Node: to}, token, protocol.Disconnect{Reason: errNoPlace.Error()}, callTimeout,
					func(Answered) {})
				done(errNoPlace)
				return
			}
			n.giveWay(victim)
			n.join(to, true, static, token, a.Session, subset, offered)
			l := n.linkTo(to)
			if len(offered) == neighbors.MaxIntroduction {
				n.tellSoon(l) // the rest
			}
			n.judgeSubset(l, len(subset), ignored) // which may end the link
			done(nil)
		})
}

// answeredSet is the set that answers a connect, and how much of it was left out because it makes no sense.
func answeredSet(r protocol.Reply) (subset protocol.Subset, ignored int) {
	if flawed, ok := r.(protocol.FlawedSubset); ok {
		return flawed.Subset, flawed.Ignored
	}
	subset, _ = r.(protocol.Subset)
	return subset, 0
}

// How a connect may end without a link, although everybody answered.
var (
	errDeclined = errors.New("declined to become a neighbor")
	errNoPlace  = errors.New("there is no place any more")
	errRefused  = errors.New("it broke the rules too often and is refused for a while")
)

// askedConnect decides about a node that wants to become a neighbor. The port in its call is only its
// word, so it is called back there before it is believed.
func (n *Node) askedConnect(ev Asked, c protocol.Connect) {
	switch {
	case ev.Session != "" && n.boot.tokens[ev.Session] > 0:
		n.refuse(ev, protocol.Faultf(protocol.NotVouched, "this is the node itself"))
		return
	case !n.callable(ev.From):
		n.refuse(ev, protocol.Faultf(protocol.Unreachable,
			"%s is not a public address; it cannot be called back", ev.From))
		return
	case len(c.Subset) == 0:
		n.refuse(ev, protocol.Faultf(protocol.BadSubset, "the subset names no feed"))
		return
	case n.refused(ev.From):
		n.refuse(ev, refusal(ev.From))
		return
	}
	if _, ok := n.place(ev.From, n.asking(ev.From), c.Subset); !ok ||
		n.bans.banned(n.now, n.accounts.ledger.HolderOf(ev.From)) || n.table.Silent(ev.From) {
		n.respond(ev, protocol.Subset{})
		return
	}
	pool := n.boot.vouching
	if n.book.Acquainted(ev.From) {
		pool = n.boot.returning
	}
	place, gaveUp := pool.Enter(n.now, ev.From.Addr(), 1+len(c.Subset)/(neighbors.MaxIntroduction+1), ev)
	for _, other := range gaveUp {
		n.refuseConnect(other.Of)
		other.Of = Asked{} // its set is kept no longer
	}
	if place == nil {
		n.refuseConnect(ev)
		return
	}
	n.call(Target{Node: ev.From}, n.token(ev.From), protocol.Vouch{Session: ev.Session}, callTimeout, func(a Answered) {
		if pool.Leave(place) {
			n.vouched(place.Of, a)
		}
	})
}

func (n *Node) refuseConnect(ev Asked) {
	n.refuse(ev, protocol.Faultf(protocol.Busy, "too many connects at once; try again later"))
}

// refusal is what a caller hears that lost its standing.
func refusal(id protocol.NodeID) *protocol.Fault {
	return protocol.Faultf(protocol.Dropped, "%s broke the rules too often; come back another day", id.Addr())
}

// asking reports whether a connect of our own to id is under way.
func (n *Node) asking(id protocol.NodeID) bool {
	return len(n.boot.tokens) > 0 && n.boot.tokens[n.token(id)] > 0
}

// vouched admits the caller of a connect if the node at its address stands by the call.
func (n *Node) vouched(ev Asked, a Answered) {
	c, old := ev.Call.(protocol.Connect), n.linkTo(ev.From)
	switch {
	case a.Err != nil && !isRefusal(a.Err):
		n.refuse(ev, protocol.Faultf(protocol.Unreachable, "%s does not answer; check its port and firewall", ev.From))
		return
	case a.Reply == protocol.Vouched(true):
	case isPlain(a.Err) && ev.Session == "" && (old == nil || old.session == ""):
	default:
		n.refuse(ev, protocol.Faultf(protocol.NotVouched, "the node at %s did not send this connect", ev.From))
		return
	}
	offered := n.table.Offer(ev.From)
	victim, ok := n.place(ev.From, n.asking(ev.From), c.Subset)
	switch { // much may have happened meanwhile
	case n.refused(ev.From):
		n.refuse(ev, refusal(ev.From))
		return
	case !ok || len(offered) == 0 || n.bans.banned(n.now, n.accounts.ledger.HolderOf(ev.From)):
		n.respond(ev, protocol.Subset{})
		return
	}
	// Only now is it sure that the caller is the node that it says, and not somebody behind the same address. A caller
	// that is declined does not make a neighbor begin anew again and again.
	if h := n.accounts.ledger.HolderOf(ev.From); n.bans.countConnect(n.now, h) {
		n.refuse(ev, protocol.Faultf(protocol.Busy, "more than %d connects within an hour; try again later",
			connectsAnHour))
		n.punish(h, incentive.ConnectStorm, 0)
		return
	}
	n.giveWay(victim)
	token := n.token(ev.From)
	n.do(Respond{Tag: ev.Tag, Reply: offered, Session: token})
	n.join(ev.From, n.boot.tokens[token] > 0, "", token, ev.Session, c.Subset, offered)
	n.linkTo(ev.From).away = c.Away
	n.judgeSubset(n.linkTo(ev.From), len(c.Subset), c.Ignored)
}

// isRefusal reports whether a call ended with a fault: somebody was there, and spoke XML-RPC.
func isRefusal(err error) bool {
	var refused *protocol.RemoteError
	return errors.As(err, &refused)
}

// isPlain reports whether a call ended with a fault that shows a node of another make, which knows the
// paper's methods and no more. One of our own kind that is merely busy must not be taken for one.
func isPlain(err error) bool {
	var refused *protocol.RemoteError
	return errors.As(err, &refused) && refused.Code < protocol.UnknownNeighbor && refused.Code != protocol.Internal
}

// askedVouch tells whether we sent the caller a connect with that token, or send it with our calls.
func (n *Node) askedVouch(ev Asked, c protocol.Vouch) {
	ours := c.Session == n.token(ev.From)
	n.respond(ev, protocol.Vouched(ours && (n.boot.tokens[c.Session] > 0 || n.linkTo(ev.From) != nil)))
}

// leave tells all neighbors that the node goes. It does nothing of its own accord any more.
func (n *Node) leave() {
	n.left = true
	n.keepAccounts()
	n.timers = timers{}
	for _, l := range n.linked {
		l.over = true
		n.table.Remove(l.id())
		n.call(Target{Node: l.id()}, l.token, protocol.Disconnect{Reason: "the node stops"}, callTimeout,
			func(Answered) {})
		n.keepPeer(n.book.Parted(n.now, l.peer))
	}
	n.answerWaiting()
	n.linked, n.linkedIDs = nil, nil
	n.open = nil
	clear(n.sought)
}

// answerWaiting answers the offers that are held: nobody is to hang on the line of a node that is gone.
func (n *Node) answerWaiting() {
	dids := slices.SortedFunc(maps.Keys(n.gossip.promises), protocol.DID.Compare)
	for _, did := range dids {
		for _, w := range n.gossip.promises[did].waiting {
			w.answer(true)
		}
	}
	clear(n.gossip.promises)
}
