// Package query is the machine that answers archive queries, the owner's and recursively those of others (Paper §3.6),
// downloads entries of the past from their holders, and serves them.
package query

import (
	"cmp"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/search"
)

// Feeds is the part of the poller that queries need.
type Feeds interface {
	// Private reports whether entries of the feed must not leave the node, and OwnersAlone whether the owner's wishes
	// about it must not.
	Private(u feed.URL) bool
	OwnersAlone(u feed.URL) bool
	// Discreet reports whether a feed is followed discreetly.
	Discreet(u feed.URL) bool
	// Filled counts entries of the past that came from others against the gap of their feed.
	Filled(u feed.URL, records []archive.Record)
}

// Exchange is the part of the exchange of entries that queries need: the accounts.
type Exchange interface {
	// Allowance is how much may still be given to a neighbor.
	Allowance(l *core.Link) incentive.Credit
	// Earn books what a neighbor gave us, for the owner or for others alone.
	Earn(l *core.Link, v incentive.Credit, owners bool)
}

// Membership is the part of the node's membership in the network that queries need.
type Membership interface {
	// Punish counts an offence. A holder without standing left loses every link.
	Punish(h incentive.Holder, o incentive.Offence, value incentive.Credit)
}

// A Machine answers queries. Make one with New.
type Machine struct {
	*core.Core
	feeds      Feeds
	exchange   Exchange
	membership Membership

	Queries queries // searches of archives
	Rings   rings   // exchanges of entries of the past
	Gifts   *incentive.Gifts
}

// New returns a machine that nobody asked anything yet.
func New(c *core.Core, f Feeds, x Exchange, s Membership) *Machine {
	return &Machine{
		Core: c, feeds: f, exchange: x, membership: s,
		Gifts: incentive.NewGifts(c.Config.Incentive), Rings: rings{Tabs: incentive.NewExchanges(c.Config.Incentive)},
	}
}

const (
	// RelayPrice is the price of an answer that lists anything, for a neighbor.
	RelayPrice = incentive.Entry / 10
	// MessagePrice is the price of each call that its query took, the one to us included, whatever came of it. All that
	// a minute allows cost as much as one answer, so that a node that has given little yet can ask for the past.
	MessagePrice = RelayPrice / search.MessagesPerMinute
	// maxRelayWait is how long a neighbor's query is worked on at most, whatever the asker says: its
	// connection does not stay open for longer.
	maxRelayWait = 20 * time.Second
	// maxAnswerBytes bounds an answer, about.
	maxAnswerBytes = 256 << 10
)

// queries is the state of queries of others and of our own.
type queries struct {
	seen  search.IDs
	cache search.Cache
	Own   map[uint64]*inquiry // those of the owner, by tag

	pulls   map[uint64]*pull // downloads of the owner, by tag
	shunned Shunned          // holders that are not asked
}

// Queried answers a neighbor's query, from our own archive and those of our neighbors.
//
// Paper §3.6: "once a neighbor receives a query, it propagates the query to its neighbors on behalf of the
// original requester."
func (m *Machine) Queried(l *core.Link, ev core.Asked, q protocol.Query) {
	trusted := m.Trusted(l.Holder)
	over, flood := l.Usage.Query(m.Now)
	if flood && !trusted && !l.ID().Hosted() { // others at its address may have asked most of them
		m.membership.Punish(l.Holder, incentive.CallFlood, 0)
	}
	switch {
	case of(l).searches >= search.AtOnce && !trusted:
		m.Refuse(ev, protocol.Faultf(protocol.Busy, "%d queries are under way; wait for their answers", of(l).searches))
		return
	case over && !trusted:
		m.Refuse(ev, protocol.Faultf(protocol.Busy,
			"more than %d queries within a minute, or than %v of search; slow down", search.PerMinute,
			core.SearchAMinute))
		return
	case !m.Ledger.MayAsk(l.Holder, RelayPrice):
		m.Refuse(ev, protocol.Faultf(protocol.AtBound, "the account is at its bound; give before asking"))
		return
	}
	q = m.bounded(q)
	if q.ID != "" && !m.Queries.seen.Add(m.Now, q.ID) {
		m.Respond(ev, protocol.Answer{Left: q.Budget}) // it came by another way before
		return
	}
	key := search.Key(q)
	if a, ok := m.Queries.cache.Find(m.Now, key, q); ok {
		a.Left = q.Budget
		a, _ = m.charged(l, a, 1)
		m.Respond(ev, a)
		return
	}
	asked := q.Budget
	q.Budget = m.Affordable(l, asked)
	of(l).searches++
	i := m.newInquiry(q, l)
	i.done = func(hits []*search.Hit) {
		of(l).searches--
		a := i.answer(hits)
		if q.Budget == asked { // others may afford more
			m.Queries.cache.Keep(m.Now, key, q, a)
		}
		l.Usage.Spared(m.Now, i.left)
		a.Left = asked - (q.Budget - i.left)
		a, paid := m.charged(l, a, 1+q.Budget-i.left)
		m.Respond(ev, a)
		if len(a.Found) > 0 {
			i.share(min(paid, RelayPrice))
		}
	}
	f := q.Filter
	f.Shareable = true
	f.Limit++ // one more tells whether there is more
	m.SearchFor(f, m.searchTime(l, q.Wait), func(found core.Searched) {
		l.Usage.Searched(m.Now, found.Took)
		if i.over {
			return
		}
		if found.Err != nil {
			i.cut |= protocol.CutTime
		}
		i.begin(found.Records)
	})
}

// Affordable is how many of the messages a neighbor's query may cause: no more than a minute allows, or than half
// of what is left in its account is for.
func (m *Machine) Affordable(l *core.Link, messages int) int {
	if m.Trusted(l.Holder) {
		return messages
	}
	if left := m.exchange.Allowance(l); left != incentive.MaxCredit {
		messages = min(messages, int(left/2/MessagePrice))
	}
	return l.Usage.Cause(m.Now, messages)
}

// bounded is the query with what it leaves open filled in. One for a private feed goes no further: its URL
// may be a secret, or its publisher wants nothing of it passed on.
func (m *Machine) bounded(q protocol.Query) protocol.Query {
	if q.Filter.Limit <= 0 {
		q.Filter.Limit = feed.DefaultLimit
	}
	q.Filter.Limit = min(q.Filter.Limit, protocol.MaxAnswerEntries)
	if q.Wait <= 0 {
		q.Wait = protocol.DefaultWait
	}
	q.Wait = min(q.Wait, maxRelayWait)
	if q.ID == "" || q.Filter.Feed != "" && m.feeds.Private(q.Filter.Feed) {
		q.Hops = 0
	}
	return q
}

// searchTime is how long the archive may be searched for a neighbor that waits so long: half of that, so that there is
// time to ask others, and no more than its share.
func (m *Machine) searchTime(l *core.Link, wait time.Duration) time.Duration {
	if m.Trusted(l.Holder) {
		return wait / 2
	}
	return min(wait/2, l.Usage.SearchTime(m.Now))
}

// answer lists hits, without the longest where all are too long for an answer: long titles are made up as easily as
// short ones, and would leave no room for those.
func (i *inquiry) answer(hits []*search.Hit) protocol.Answer {
	shortest := slices.Clone(hits)
	slices.SortStableFunc(shortest, func(a, b *search.Hit) int {
		return cmp.Compare(search.AnswerBytes(&a.Found), search.AnswerBytes(&b.Found))
	})
	bytes, fits := 0, make(map[*search.Hit]bool, len(hits))
	var left []*search.Hit
	for k, h := range shortest {
		if bytes += search.AnswerBytes(&h.Found); bytes > maxAnswerBytes {
			i.cut |= protocol.CutLimit
			left = shortest[k:]
			break
		}
		fits[h] = true
	}
	a := protocol.Answer{Cut: i.cut, CompleteSince: i.completeSince(left...)}
	for _, h := range hits {
		if fits[h] {
			a.Found = append(a.Found, i.m.forOthers(h.Found))
		}
	}
	return a
}

// charged is the answer as the neighbor gets it, and is debited for it: a price for each message that it took, a tenth
// of an entry where it lists anything, and the value of what is news to the neighbor. At most half of what its account
// allows goes into that, so that nobody who asks is left without the entries that it follows; news beyond that is left
// out. Entries that became private since the answer was put together are left out as well. What it paid is without that
// for news.
func (m *Machine) charged(l *core.Link, a protocol.Answer, messages int) (charged protocol.Answer,
	paid incentive.Credit) {
	left, question, news := m.exchange.Allowance(l), incentive.Credit(messages)*MessagePrice, incentive.Credit(0)
	if left != incentive.MaxCredit {
		left = left/2 - RelayPrice - question
	}
	all := a.Found
	a.Found = make([]protocol.Found, 0, len(all))
	for i := range all {
		switch {
		case m.feeds.Private(all[i].Feed):
			continue
		case !m.newsTo(l, &all[i]):
		case left < incentive.Entry:
			a.Cut |= protocol.CutRefused
			continue
		default:
			news += incentive.Entry
			if left != incentive.MaxCredit {
				left -= incentive.Entry
			}
		}
		a.Found = append(a.Found, all[i])
	}
	if len(a.Found) > 0 {
		question += RelayPrice
	}
	paid = m.Ledger.Question(m.Now, l.Holder, question)
	m.Gave(l, news+paid)
	return a, paid
}

// newsTo reports whether the entry is young, and of a feed that the neighbor does not get from us anyway.
func (m *Machine) newsTo(l *core.Link, f *protocol.Found) bool {
	if _, wants := l.Peer.Hops(f.Feed); wants {
		return false
	}
	return incentive.Young(m.Now, []feed.Entry{{Published: search.Time(f)}}) > 0
}

// FoundHere describes records of our own archive.
func FoundHere(r *archive.Record) protocol.Found {
	return protocol.Found{
		ID: r.ID, Digest: r.Digest, Feed: r.Entry.Feed, Title: cut(r.Entry.Title, protocol.MaxTitleBytes),
		Link: cut(r.Entry.Link, feed.MaxURLBytes), Published: r.Entry.Published, Updated: r.Entry.Updated, Seen: r.Seen,
		Holders: []protocol.NodeID{{}},
	}
}

// cut is s where it keeps to the limit, and nothing where it does not.
func cut(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	return s
}

// holdersOf are those holders of an entry that l told of and that we would ask for it: not ourselves, and none at an
// address that is not public.
func (m *Machine) holdersOf(l *core.Link, f *protocol.Found) []protocol.NodeID {
	var holders []protocol.NodeID
	for _, id := range f.Holders {
		if id.IsZero() {
			id = l.ID()
		}
		usable := id == l.ID() || m.Config.AllowLocal || feed.PublicAddr(id.Addr())
		dialled := id.Port() >= protocol.LowestPort && !m.Self.Has(id)
		if usable && (dialled || id == l.ID()) && !slices.Contains(holders, id) {
			holders = append(holders, id)
		}
	}
	if len(f.Holders) == 0 {
		return []protocol.NodeID{l.ID()}
	}
	return holders
}

// A link is the state that queries keep of a core.Link.
type link struct {
	searches   int                      // queries of it under way
	inquiries  int                      // queries under way that it was asked
	queryLimit search.QueryLimit        // of queries
	passing    map[protocol.Wanted]bool // entries that it told of, where nobody but its hosts can call it
}

// of returns the state that queries keep of a link.
func of(l *core.Link) *link {
	if l.Query == nil {
		l.Query = new(link)
	}
	return l.Query.(*link)
}
