package node

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/node/internal/membership"
	"feedex/node/internal/poller"
	"feedex/node/internal/query"
	"feedex/protocol"
)

// A Node is one participant of the network. Make one with New. It belongs to one goroutine.
type Node struct {
	core       *core.Core
	poller     *poller.Machine
	exchange   *exchange.Machine
	membership *membership.Machine
	query      *query.Machine
}

// New returns a node that knows what store knows: its feeds with their due times, the bundles it saw,
// its neighbors of earlier. The error wraps ErrConfig.
func New(now time.Time, config Config, store archive.Store, rng *rand.Rand) (*Node, error) {
	c, err := core.New(now, config, store, rng)
	if err != nil {
		return nil, err
	}
	n := &Node{core: c, poller: poller.New(c)}
	n.membership = membership.New(c, n.poller)
	n.exchange = exchange.New(c, n.poller, n.membership)
	n.query = query.New(c, n.poller, n.exchange, n.membership)
	c.Table = neighbors.NewRoutingTable(neighbors.Config{
		Max: c.Config.MaxNeighbors, MaxHosted: c.Config.Hosted,
		MaxHops: c.Config.MaxSubsetHops, MaxRelayed: c.Config.MaxRelayed,
		AllowLocal: c.Config.AllowLocal, Unspeakable: n.poller.Unspeakable, Restless: n.exchange.Restless,
	})
	n.poller.Start(store.LoadFeeds(), n.exchange, n.membership)
	n.membership.Start(n.exchange)
	n.exchange.Start()
	return n, nil
}

// Step tells the node that ev happened at now, and appends to dst what its host must do, in order. It
// does not block and keeps no reference to dst. Time never runs back: an earlier now counts as the
// last one.
func (n *Node) Step(dst []Effect, now time.Time, ev Event) []Effect {
	n.core.Begin(dst, now)
	switch ev := ev.(type) {
	case Wake:
	case Asked:
		n.asked(ev)
	case Answered:
		n.core.Answered(ev)
	case Fetched:
		n.poller.Fetched(ev)
	case Searched:
		n.core.Searched(ev)
	case Subscribe:
		n.poller.Subscribe(ev)
	case Refresh:
		n.poller.Refresh(ev.Feeds)
	case Unsubscribe:
		for _, u := range ev.Feeds {
			n.poller.Unsubscribe(u)
		}
	case OwnerQuery:
		n.query.SearchOthers(ev)
	case EndQuery:
		n.query.EndQuery(ev.Tag)
	case Pull:
		n.query.Pull(ev)
	case EndPull:
		n.query.EndPull(ev.Tag)
	case Broke:
		n.membership.Broke(ev.To)
	case Forwarded:
		n.membership.Forwarded(ev)
	case Addressed:
		n.membership.Addressed(ev)
	case Discovered:
		n.membership.Discovered(ev)
	case Join:
		n.membership.JoinHost(ev)
	case Sources:
		n.membership.ChangeSources(ev)
	case Recovered:
		n.exchange.ShownOf(ev.Shown)
		n.poller.Filled(ev.Feed, ev.Records)
	case OwnerFetched:
		n.poller.OwnerFetched(ev)
	case Backfilled:
		n.poller.Backfilled(ev)
	case Leave:
		n.leave()
	default:
		panic(fmt.Sprintf("node: event of unknown type %T", ev))
	}
	return n.core.End()
}

// Next is when the node wants a Wake; the zero time if never. Its host keeps one timer; it may be late,
// never early.
func (n *Node) Next() time.Time { return n.core.Next() }

// Selves are the ids under which others know a node.
type Selves = core.Selves

// Self are the node's ids as neighbors see it now, and those on its own networks.
func (n *Node) Self() Selves { return n.membership.SureSelf() }

// Hosted are the neighbors that others cannot dial.
func (n *Node) Hosted() (ids []protocol.NodeID) {
	for _, id := range n.core.LinkIDs {
		if id.Hosted() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Hosts is how many neighbors that cannot be dialled the node has at most.
func (n *Node) Hosts() int { return n.core.Config.Hosted }

// leave ends what the node does of its own accord. It tells its neighbors.
func (n *Node) leave() {
	n.core.Leave()
	n.membership.SayGoodbye()
	n.exchange.AnswerWaiting()
	n.core.Forget()
}

// Acquaintances are the addresses for which places are to be kept: of all neighbors, and of some who were neighbors
// before.
func (n *Node) Acquaintances() map[netip.Addr]bool {
	addrs := make(map[netip.Addr]bool)
	for _, id := range slices.Concat(n.core.LinkIDs, n.membership.Book.Acquaintances()) {
		addrs[id.Addr()] = true
	}
	return addrs
}

// ReserveRequest counts a request of the owner's at the host of u, beside the polls, and returns when it may be made.
// Where that is more than a minute after now it is not counted and not to be made: the host wants to be left alone.
func (n *Node) ReserveRequest(now time.Time, u feed.URL) (at time.Time, ok bool) {
	return n.poller.ReserveRequest(now, u)
}

// HostRests is until when the host of u wants to be left alone, the zero time where it does not say so.
func (n *Node) HostRests(now time.Time, u feed.URL) time.Time { return n.poller.Rests(now, u) }

// Offline is since when no publisher can be reached, the zero time where one can.
func (n *Node) Offline() time.Time { return n.poller.Offline() }

// Became is the feed that is followed in place of an address, "" for none, and whether it was followed before that.
func (n *Node) Became(page feed.URL) (to feed.URL, known bool) { return n.poller.Became(page) }

// New reports whether nothing of a feed that is not followed was ever read here.
func (n *Node) New(u feed.URL) bool { return n.poller.New(u) }

// AwaitsPoll reports whether a feed of the node's own interest was not asked for yet since its owner subscribed, or
// that which is followed in the place of the page there.
func (n *Node) AwaitsPoll(u feed.URL) bool { return n.poller.AwaitsPoll(u) }

// Feed describes a feed of the node's own interest, by its address or one that has moved to it, nil for any other.
func (n *Node) Feed(u feed.URL) *FeedStatus { return n.poller.Feed(u) }

// Feeds describes every feed of the node's own interest, ordered by URL.
func (n *Node) Feeds() []FeedStatus { return n.poller.Statuses() }

// PollsHeard returns when others polled a feed of the node's own interest, by the word of neighbors since the start:
// the latest 256 at most, in the order in which they were heard of.
func (n *Node) PollsHeard(u feed.URL) []time.Time { return n.poller.PollsHeard(u) }

// asked answers a peer's call, now or later.
func (n *Node) asked(ev Asked) {
	if n.core.Left {
		n.core.Refuse(ev, protocol.Faultf(protocol.UnknownNeighbor, "the node stops"))
		return
	}
	l, known := n.caller(ev)
	if !ev.Reversed {
		n.membership.Dialled(ev.From)
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
	}
	if known != nil {
		ev.From = known.ID() // a hosted neighbor has no address of its own
	}
	switch c := ev.Call.(type) {
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
	n.askedByNeighbor(l, ev)
}

// caller is the link to where a call comes from, nil where there is none; and known is that link where it is its
// neighbor that calls.
func (n *Node) caller(ev Asked) (l, known *core.Link) {
	l = n.core.LinkTo(ev.From)
	known = l
	if l != nil && l.Session != "" && l.Session != ev.Session {
		known = nil // somebody else on its address, or itself after a restart
	}
	if known == nil || known.Session == "" && ev.Session != "" { // a plain neighbor may be at the address of homes
		if hosted := n.core.HostedCaller(ev); hosted != nil {
			return hosted, hosted
		}
	}
	return l, known
}

// askedByNeighbor answers a call that is for neighbors alone.
func (n *Node) askedByNeighbor(l *core.Link, ev Asked) {
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
		n.exchange.AskedChecks(l, ev, c)
	case protocol.PutEntries:
		n.exchange.Noticed(l, c.Notices)
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
	case protocol.Notify:
		n.exchange.AskedPolled(l, ev, c.Notices)
	case protocol.TellStars:
		n.exchange.AskedStars(l, ev, c.Stars)
	case protocol.Disconnect:
		n.core.Respond(ev, protocol.OK{})
		n.membership.Part(l, "it ended the link: "+c.Reason)
	default:
		n.core.Refuse(ev, protocol.Faultf(protocol.UnknownMethod, "%s is not for nodes", ev.Call.Method()))
	}
}

// overLimit refuses a call that is beyond what its caller may cause. l is the link that it came over, nil for
// none.
func (n *Node) overLimit(ev Asked, l *core.Link) bool {
	if l == nil {
		if n.core.Trusted(n.core.Ledger.HolderOf(ev.From)) || !n.core.Limits.Stranger(n.core.Now, ev.From.Addr()) {
			return false
		}
		n.core.Refuse(ev, protocol.Faultf(protocol.Busy,
			"too many calls within a minute from nodes that are not linked with this one; try again later"))
		return true
	}
	over, first := l.Usage.Call(n.core.Now, ev.Call)
	if !over || n.core.Trusted(l.Holder) {
		return false
	}
	n.core.Refuse(ev, core.ErrExhausted)
	if first && !l.ID().Hosted() { // others at its address may have made most of the calls
		n.membership.Punish(l.Holder, incentive.CallFlood, 0)
	}
	return true
}
