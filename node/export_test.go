package node

import (
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/node/internal/poller"
	"feedex/protocol"
	"feedex/trust"
)

// Access for tests to a node, beyond that of its owner and its neighbors. Methods with an effect are for use Within a
// step.

// Within has f act on the node as a step of its own would.
func (n *Node) Within(now time.Time, f func(*Node)) []Effect {
	n.core.Begin(nil, now)
	f(n)
	return n.core.End()
}

// Config is the node's Config with defaults, which a test may change.
func (n *Node) Config() *Config { return &n.core.Config }

// SetSelf has the node know itself by an id.
func (n *Node) SetSelf(id protocol.NodeID) { *n.core.Self.By(id) = id }

// Tasks are how many tasks wait for their time, and how many of them have not lost their purpose.
func (n *Node) Tasks() (all, open int) {
	for task := range n.core.Timers.Tasks.All() {
		if all++; task.Value != nil {
			open++
		}
	}
	return all, open
}

// Forgive has the node forget what neighbors caused in this minute and in all.
func (n *Node) Forgive() error {
	n.core.Limits = core.NewRateLimits()
	return n.core.LoadAccounts()
}

// CallersCounted is of how many callers without a link, and holders that had one, the node counts calls.
func (n *Node) CallersCounted() int {
	return n.core.Limits.Strangers.Len() + len(n.core.Limits.Holders)
}

// Demand has so many bytes have been asked for of a neighbor in this minute.
func (n *Node) Demand(id protocol.NodeID, bytes int) {
	n.core.UsageOf(n.core.LinkTo(id).Holder).Demanded = bytes
}

// Links.

// LinkIDs are the ids of the neighbors, in the order of their links.
func (n *Node) LinkIDs() []protocol.NodeID { return n.core.LinkIDs }

// Links are the links to them.
func (n *Node) Links() []*core.Link { return n.core.Links }

// LinkTo is the link to a neighbor, nil for none.
func (n *Node) LinkTo(id protocol.NodeID) *core.Link { return n.core.LinkTo(id) }

// SessionOf is the token by which the node knows a neighbor, TokenOf the one by which that knows the node.
func (n *Node) SessionOf(id protocol.NodeID) string { return n.core.LinkTo(id).Session }
func (n *Node) TokenOf(id protocol.NodeID) string   { return n.core.LinkTo(id).Token }

// Token is the token that the node has for anybody of that id.
func (n *Node) Token(id protocol.NodeID) string { return n.membership.Token(id) }

// Dialled is how many neighbors the node has beside those that it hosts.
func (n *Node) Dialled() int { return n.core.Table.Places() }

// Connect asks a node for a link.
func (n *Node) Connect(id protocol.NodeID, f func(error)) {
	n.membership.Connect(id, "", protocol.NodeKey{}, f)
}

// Join makes a node a neighbor that knows the node by that token and has that subset, without a word between them.
func (n *Node) Join(id protocol.NodeID, chosen bool, token string, subset protocol.Subset) {
	n.JoinByKey(id, protocol.NodeKey{}, chosen, token, subset)
}

// JoinByKey does the same, and the node has proved its key.
func (n *Node) JoinByKey(id protocol.NodeID, key protocol.NodeKey, chosen bool, token string, subset protocol.Subset) {
	n.membership.Join(id, key, chosen, "", n.Token(id), token, subset, n.Offering(id))
}

// Tie makes a node a neighbor of those interests, which was told those of this node.
func (n *Node) Tie(id protocol.NodeID, chosen bool, theirs, ours protocol.Subset) {
	n.membership.Join(id, protocol.NodeKey{}, chosen, "", n.Token(id), "", theirs, ours)
}

// Meet makes a node a neighbor that has no tokens and heard no advert.
func (n *Node) Meet(id protocol.NodeID, subset protocol.Subset) {
	n.membership.Join(id, protocol.NodeKey{}, true, "", "", "", subset, nil)
}

// Part ends the link to a neighbor, where there is one.
func (n *Node) Part(id protocol.NodeID, why string) {
	if l := n.core.LinkTo(id); l != nil {
		n.membership.Part(l, why)
	}
}

// Places are how many places of neighbors are taken.
func (n *Node) Places() int { return n.core.Table.Len() }

// Subscription sets.

// HopsOf is at what hop count a neighbor says that it is interested in a feed.
func (n *Node) HopsOf(id protocol.NodeID, u feed.URL) (hops int, ok bool) {
	return n.core.LinkTo(id).Peer.Hops(u)
}

// Offering is the set of interests that the node would tell a node of that id.
func (n *Node) Offering(id protocol.NodeID) protocol.Subset { return n.core.Table.Offer(id) }

// Told is at what hop count the node tells a neighbor of a feed.
func (n *Node) Told(u feed.URL, id protocol.NodeID) int {
	return n.core.Table.Hops(u, n.core.LinkTo(id).Peer)
}

// Advertises reports whether the neighbor was told of the feed.
func (n *Node) Advertises(id protocol.NodeID, u feed.URL) bool {
	return n.core.Table.Advertises(n.core.LinkTo(id).Peer, u)
}

// Hear takes in interests of a neighbor, as if it had told them.
func (n *Node) Hear(id protocol.NodeID, s protocol.Subset) {
	n.core.Table.Hear(n.core.LinkTo(id).Peer, s)
}

// Own has the node be interested in a feed of which its poller knows nothing.
func (n *Node) Own(u feed.URL) { n.core.Table.Own(u, true) }

// Relays reports whether a feed is relayed, Spare notes that neighbors can do without that.
func (n *Node) Relays(u feed.URL) bool { return n.core.Table.Relays(u) }
func (n *Node) Spare(u feed.URL)       { n.core.Table.Spare(u, true) }

// Restless reports whether a feed is relayed although nobody needs it.
func (n *Node) Restless(u feed.URL) bool { return n.exchange.Restless(u) }

// ChooseRelays chooses anew what is relayed, and tells all neighbors.
func (n *Node) ChooseRelays() {
	n.core.Table.Relay(n.core.Now, n.core.Rng)
	for _, l := range n.core.Links {
		n.membership.Advertise(l)
	}
}

// Membership.

// BookLen is how many addresses the node remembers.
func (n *Node) BookLen() int { return n.membership.Book.Len() }

// Candidates are the two addresses that it would connect to first.
func (n *Node) Candidates(not func(protocol.NodeID) bool) []protocol.NodeID {
	return n.membership.Book.Candidates(n.core.Now, 2, nil, not)
}

// NoteNodes has it hear of nodes, and NoteAddresses remember them without looking for neighbors.
func (n *Node) NoteNodes(s neighbors.Origin, ids []protocol.NodeID) { n.membership.NoteNodes(s, ids) }
func (n *Node) NoteAddresses(ids ...protocol.NodeID) {
	n.membership.Book.Add(n.core.Now, neighbors.Tracked, ids)
}

// NeighborList is its answer to get_neighbors.
func (n *Node) NeighborList(to protocol.NodeID) protocol.NodeList {
	return n.membership.NeighborList(to)
}

// Vouching is how many callers of connect are being called back, Connecting how many connects of its own are open.
func (n *Node) Vouching() int   { return n.membership.Boot.Vouching.Len() }
func (n *Node) Connecting() int { return n.membership.Boot.Connecting }

// AskedAll has a neighbor have asked what it may for nothing.
func (n *Node) AskedAll(id protocol.NodeID) {
	n.core.Ledger.Question(n.core.Now, n.core.Ledger.HolderOf(id), incentive.Entry)
}

// Refused reports whether a node is to have no link, Ban sees to it, and Punish counts an offence of its.
func (n *Node) Refused(id protocol.NodeID) bool { return n.membership.Refused(id) }
func (n *Node) Ban(id protocol.NodeID)          { n.membership.Bans.Ban(n.core.Now, n.core.Ledger.HolderOf(id)) }
func (n *Node) Punish(id protocol.NodeID, o incentive.Offence, value incentive.Credit) {
	n.membership.Punish(n.core.Ledger.HolderOf(id), o, value)
}

// Away is for how long the node says that it had no neighbors, and AwaySince since when it has none.
func (n *Node) Away() time.Duration  { return n.membership.Away() }
func (n *Node) AwaySince() time.Time { return n.membership.Absence.Since }

// WeekOfFirsts is how many entries of a week were counted by who was the first to bring them.
func (n *Node) WeekOfFirsts() int64 {
	_, entries, _ := n.membership.Reviewed.First.Week(n.core.Now)
	return entries
}

// Accounts.

// Account is the account of the holder that a node of that id is.
func (n *Node) Account(id protocol.NodeID) incentive.Account {
	return n.core.Ledger.Account(n.HolderOf(id))
}

// Fined is how many holders were fined.
func (n *Node) Fined() (count int) {
	for _, a := range n.core.Ledger.Accounts() {
		if a.Fined > 0 {
			count++
		}
	}
	return count
}

// HolderOf is the holder of a node's account, and EarnLate pays what it brought before.
func (n *Node) HolderOf(id protocol.NodeID) incentive.Holder { return n.core.Ledger.HolderOf(id) }
func (n *Node) EarnLate(id protocol.NodeID, v incentive.Credit) {
	n.exchange.EarnLate(id, n.HolderOf(id), exchange.Earning{Credit: v})
}

// Revoked takes back what a neighbor earned, and AccountOf is the account of a holder.
func (n *Node) Revoked(id protocol.NodeID, v incentive.Credit) { n.core.Revoked(id, n.HolderOf(id), v) }
func (n *Node) AccountOf(h incentive.Holder) incentive.Account {
	return n.core.Ledger.Account(h)
}

// Expel ends the link to a neighbor, and keeps it out.
func (n *Node) Expel(id protocol.NodeID) { n.membership.Expel(n.core.LinkTo(id), "a test") }

// Settle has a key be one that gave for long at that address.
func (n *Node) Settle(id protocol.NodeID, key protocol.NodeKey) {
	n.haveAccount(key, incentive.Account{At: id, Got: 20 * incentive.Entry,
		Since: n.core.Now.Add(-30 * 24 * time.Hour)})
}

// Indebt has a key at that address owe more than one may, by a fine.
func (n *Node) Indebt(id protocol.NodeID, key protocol.NodeKey) {
	n.haveAccount(key, incentive.Account{At: id, Got: incentive.Entry, Given: 11 * incentive.Entry,
		Fined: incentive.Entry, Deficit: 11 * incentive.Entry, Since: n.core.Now.Add(-time.Hour)})
}

func (n *Node) haveAccount(key protocol.NodeKey, a incentive.Account) {
	holder, err := incentive.ParseHolder(key.String())
	if err != nil {
		panic(err)
	}
	a.Holder, a.Met = holder, n.core.Now
	n.core.Ledger.Load(n.core.Now, []incentive.Account{a})
}

// Got and Gave book what a neighbor gave and got. Allowance is what it may get, and Limit the most that it may owe.
func (n *Node) Got(id protocol.NodeID, value incentive.Credit) {
	if l := n.core.LinkTo(id); l != nil {
		n.core.Got(l, value)
		return
	}
	n.core.Ledger.Got(n.core.Now, n.core.Ledger.HolderOf(id), value)
}
func (n *Node) Gave(id protocol.NodeID, value incentive.Credit) {
	n.core.Ledger.Gave(n.core.Now, n.core.Ledger.HolderOf(id), value)
}
func (n *Node) Allowance(id protocol.NodeID) incentive.Credit {
	return n.core.Ledger.Allowance(n.core.Ledger.HolderOf(id))
}
func (n *Node) Limit(id protocol.NodeID) incentive.Credit {
	return n.core.Ledger.Limit(n.core.Ledger.HolderOf(id))
}

// Fit is how much of a bundle a neighbor may get for that allowance.
func (n *Node) Fit(id protocol.NodeID, b *protocol.Bundle, allowance incentive.Credit) (now, rest *protocol.Bundle) {
	return n.exchange.Fit(exchange.Of(n.core.LinkTo(id)), b, allowance)
}

// Earn credits a neighbor, EarnEntries what it brings of a feed.
func (n *Node) Earn(id protocol.NodeID, value incentive.Credit) {
	n.exchange.Earn(n.core.LinkTo(id), value, true)
}
func (n *Node) EarnEntries(id protocol.NodeID, count int, u feed.URL) {
	n.exchange.EarnEntries(exchange.Of(n.core.LinkTo(id)), count, u)
}

// SaveAccounts has accounts kept in a while.
func (n *Node) SaveAccounts() { n.core.SaveAccounts() }

// OverQuota reports whether a neighbor had as much stored of a feed as it may.
func (n *Node) OverQuota(id protocol.NodeID, u feed.URL) bool {
	return n.exchange.OverQuota(exchange.Of(n.core.LinkTo(id)), u)
}

// Exchange of entries.

// Saw reports whether the node had a bundle, SawLately whether that is one of the latest, and See has it be so.
func (n *Node) Saw(d protocol.DID) bool       { return n.exchange.Gossip.Seen.Has(d) }
func (n *Node) SawLately(d protocol.DID) bool { return n.exchange.Gossip.Seen.Latest.Has(d) }
func (n *Node) See(d protocol.DID)            { n.exchange.Gossip.Seen.Add(d) }

// Store has the node have a bundle that no neighbor brought.
func (n *Node) Store(b *protocol.Bundle) {
	n.See(b.DID)
	n.exchange.Stored(b, b.Entries, nil)
}

// Recent are the bundles that a new neighbor is offered, the oldest first.
func (n *Node) Recent() (list []*protocol.Bundle) {
	for _, r := range n.exchange.Gossip.Recent {
		list = append(list, r.Bundle)
	}
	return list
}

// Spread offers a bundle to all that want it, Offer to one neighbor, and Put delivers it as worth an entry.
func (n *Node) Spread(b *protocol.Bundle) { n.exchange.Spread(b, protocol.NodeID{}) }
func (n *Node) Offer(id protocol.NodeID, b *protocol.Bundle) {
	n.exchange.Offer(exchange.Of(n.core.LinkTo(id)), b)
}
func (n *Node) Put(id protocol.NodeID, b *protocol.Bundle) {
	n.exchange.Put(exchange.Of(n.core.LinkTo(id)), &exchange.Offer{Bundle: b, Value: incentive.Entry})
}

// NoteOffered notes that a neighbor knows of a bundle, ForgetOffered that it knows of none, and Wants reports whether
// it wants it.
func (n *Node) NoteOffered(id protocol.NodeID, d protocol.DID) {
	exchange.Of(n.core.LinkTo(id)).Offered.Add(d)
}
func (n *Node) ForgetOffered(id protocol.NodeID) {
	exchange.Of(n.core.LinkTo(id)).Offered = exchange.Offered{}
}
func (n *Node) Wants(id protocol.NodeID, b *protocol.Bundle) bool {
	return n.exchange.Wants(exchange.Of(n.core.LinkTo(id)), b)
}

// Offers are the offers to a neighbor that are under way, and Lately those to neighbors that were lost a moment ago.
func (n *Node) Offers(id protocol.NodeID) int { return len(exchange.Of(n.core.LinkTo(id)).Offers) }
func (n *Node) Lately() int                   { return len(n.exchange.Lately) }

// Unasked are the neighbors of which no answer to an offer is awaited.
func (n *Node) Unasked() (ids []protocol.NodeID) {
	for _, l := range n.core.Links {
		if !exchange.Of(l).Checking {
			ids = append(ids, l.ID())
		}
	}
	return ids
}

// Waiting are the bundles that wait to be offered to a neighbor, and Demanded reports whether it asked for one that was
// not delivered yet.
func (n *Node) Waiting(id protocol.NodeID) []*protocol.Bundle {
	return exchange.Of(n.core.LinkTo(id)).Waiting
}
func (n *Node) Demanded(id protocol.NodeID) bool {
	o, _ := exchange.Of(n.core.LinkTo(id)).InStage(exchange.Asked)
	return o != nil
}

// Postpones reports whether deliveries to a neighbor wait for its quota, and PutFailures counts those that failed.
func (n *Node) Postpones(id protocol.NodeID) bool {
	return exchange.Of(n.core.LinkTo(id)).Postponed != 0
}
func (n *Node) PutFailures(id protocol.NodeID) int { return exchange.Of(n.core.LinkTo(id)).PutFailures }

// Owe has a neighbor owe a bundle by its promise, GiveUp has it not any more, and Owes reports whether it does.
func (n *Node) Owe(id protocol.NodeID, d protocol.DID, value incentive.Credit) {
	n.exchange.Owe(exchange.Of(n.core.LinkTo(id)), d, exchange.Earning{Credit: value}, false)
}
func (n *Node) GiveUp(id protocol.NodeID, d protocol.DID) {
	n.exchange.GiveUp(exchange.Of(n.core.LinkTo(id)), d)
}
func (n *Node) Owes(id protocol.NodeID, d protocol.DID) bool {
	return exchange.Of(n.core.LinkTo(id)).Owes(d)
}

// Owed is how many bundles a neighbor owes, Promises how many are promised by anybody, and Promised by whom one is.
func (n *Node) Owed(id protocol.NodeID) int { return len(exchange.Of(n.core.LinkTo(id)).Owed) }
func (n *Node) Promises() int               { return len(n.exchange.Gossip.Promises) }
func (n *Node) Promised(d protocol.DID) protocol.NodeID {
	return n.exchange.Gossip.Promises[d].Holder.ID()
}

// Doubted reports whether a bundle goes no further for the word of those that refused it, HeldBack how many wait for
// a poll that decides, and SetAside how many versions do.
func (n *Node) Doubted(b *protocol.Bundle) bool { return n.exchange.Doubted(b) }
func (n *Node) HeldBack() int                   { return len(n.exchange.Hearsay.Held) }
func (n *Node) SetAside() int                   { return n.exchange.Hearsay.Versions.Len() }

// Witness has the node have learned by own polls that a neighbor brings what is true, and Compare that one poll showed
// these entries and the next those.
func (n *Node) Witness(now time.Time, id protocol.NodeID) {
	n.exchange.Hearsay.Witnesses.Earned(now, id)
}
func (n *Node) Compare(u feed.URL, before, after []trust.Listed) {
	n.exchange.Hearsay.Claims.Compare(n.core.Now, u, before, after)
}

// Starving reports whether neighbors bring next to nothing.
func (n *Node) Starving() bool { return n.exchange.Starving() }

// Spared reports whether all neighbors got a bundle that came then without the node's help, and WeighRelays concludes
// from that what need not be relayed.
func (n *Node) Spared(b *protocol.Bundle, came time.Time) bool { return n.exchange.Spared(b, came) }
func (n *Node) WeighRelays()                                   { n.exchange.WeighRelays() }

// CatchUp offers a neighbor what it may have missed.
func (n *Node) CatchUp(id protocol.NodeID) { n.exchange.CatchUp(n.core.LinkTo(id)) }

// NoteOurs takes in how the node stands with a neighbor, by its word, and KeptShort reports whether that word counts
// as saying so long after that it is kept short.
func (n *Node) NoteOurs(id protocol.NodeID, a protocol.Statement) {
	n.exchange.NoteOurs(exchange.Of(n.core.LinkTo(id)), a)
}
func (n *Node) KeptShort(id protocol.NodeID, after time.Duration) bool {
	l := n.core.LinkTo(id)
	defer func(now time.Time) { n.core.Now = now }(n.core.Now)
	n.core.Now = exchange.Of(l).OursAt.Add(after)
	return n.exchange.KeptShort(l)
}

// Feeds that are followed.

// Subscription is the state of a feed that the node follows, nil for any other. A test may change it.
func (n *Node) Subscription(u feed.URL) *poller.Subscription { return n.poller.Feeds[u] }

// ShownFeeds is how many feeds neighbors may know of.
func (n *Node) ShownFeeds() (count int) {
	for _, s := range n.poller.Feeds {
		if s.Shown() {
			count++
		}
	}
	return count
}

// PollAt has a feed polled then, and SpotPoll soon, to check what neighbors brought.
func (n *Node) PollAt(u feed.URL, at time.Time) { n.poller.PollAt(n.poller.Feeds[u], at) }
func (n *Node) SpotPoll(u feed.URL)             { n.poller.SpotPoll(u) }

// Keep has the archive keep what is known of a feed.
func (n *Node) Keep(u feed.URL) { n.core.Store.KeepFeed(n.poller.Feeds[u].Feed) }

// Queries.

// Affordable is how many of so many messages a neighbor's query may cause.
func (n *Node) Affordable(id protocol.NodeID, messages int) int {
	return n.query.Affordable(n.core.LinkTo(id), messages)
}

// SpareMessages notes that so many messages of a neighbor's queries were not sent.
func (n *Node) SpareMessages(id protocol.NodeID, count int) {
	n.core.LinkTo(id).Usage.Spared(n.core.Now, count)
}

// OwnQueries are how many queries of the owner run.
func (n *Node) OwnQueries() int { return len(n.query.Queries.Own) }

// Parked is how many wishes of how many downloads wait to be fulfilled.
func (n *Node) Parked() (wishes, downloads int) {
	for _, p := range n.query.Rings.Parked {
		wishes += p.Len()
	}
	return wishes, len(n.query.Rings.Parked)
}

// GiftsLeft is how much the node gives a holder today for nothing.
func (n *Node) GiftsLeft(id protocol.NodeID) int64 {
	return n.query.Gifts.Left(n.core.Now, incentive.HolderOf(id))
}

// LeaveGifts has nothing given away so far, and nobody have more than so many bytes.
func (n *Node) LeaveGifts(each int64) {
	n.query.Gifts = incentive.NewGifts(incentive.Config{Gift: each})
}

// RefillGifts has nothing given away so far.
func (n *Node) RefillGifts() { n.query.Gifts = incentive.NewGifts(incentive.Config{}) }

// Exchangeable is how much the node gives a holder in exchange.
func (n *Node) Exchangeable(id protocol.NodeID) int {
	return n.query.Rings.Tabs.Allowed(n.core.Now, incentive.HolderOf(id), true)
}

// AskedForBy has a node wait for entries of ours.
func (n *Node) AskedForBy(id protocol.NodeID) { n.query.AskedUs(id, true) }

// AskersBut are those who asked lately for what the node does not have, but for one.
func (n *Node) AskersBut(id protocol.NodeID) []protocol.NodeID { return n.query.AskersBut(id) }
