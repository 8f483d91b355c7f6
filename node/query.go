package node

import (
	"cmp"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
	"feedex/search"
)

const (
	// relayPrice is what a neighbor owes for an answer that lists anything.
	relayPrice = incentive.Entry / 10
	// messagePrice is what it owes for each call that its query took, the one to us included, whatever came of it. All
	// that a minute allows cost as much as one answer, so that a node that has given little yet can ask for the past.
	messagePrice = relayPrice / search.MessagesPerMinute
	// maxRelayWait is how long a neighbor's query is worked on at most, whatever the asker says: its
	// connection does not stay open for longer.
	maxRelayWait = 20 * time.Second
	// maxAnswerBytes bounds an answer, about.
	maxAnswerBytes = 256 << 10
)

// queries is what goes on in queries of others and of our own.
type queries struct {
	seen  search.IDs
	cache search.Cache
	own   map[uint64]*inquiry // those of the owner, by tag

	pulls   map[uint64]*pull // downloads of the owner, by tag
	shunned shunned          // holders that are not asked
}

// queried answers a neighbor's query, from our own archive and those of our neighbors.
//
// Paper §3.6: "once a neighbor receives a query, it propagates the query to its neighbors on behalf of the
// original requester."
func (n *Node) queried(l *link, ev Asked, q protocol.Query) {
	trusted := n.trusted(l.holder)
	over, flood := l.usage.query(n.now)
	if flood && !trusted {
		n.punish(l.holder, incentive.CallFlood, 0)
	}
	switch {
	case l.searches >= search.AtOnce && !trusted:
		n.refuse(ev, protocol.Faultf(protocol.Busy, "%d queries are under way; wait for their answers", l.searches))
		return
	case over && !trusted:
		n.refuse(ev, protocol.Faultf(protocol.Busy,
			"more than %d queries within a minute, or than %v of search; slow down", search.PerMinute, searchAMinute))
		return
	case n.accounts.ledger.Allowance(l.holder) < relayPrice:
		n.refuse(ev, protocol.Faultf(protocol.AtBound, "the account is at its bound; give before asking"))
		return
	}
	q = n.bounded(q)
	if q.ID != "" && !n.queries.seen.Add(n.now, q.ID) {
		n.respond(ev, protocol.Answer{Left: q.Budget}) // it came by another way before
		return
	}
	key := search.Key(q)
	if a, ok := n.queries.cache.Find(n.now, key, q); ok {
		a.Left = q.Budget
		n.respond(ev, n.charged(l, a, 1))
		return
	}
	asked := q.Budget
	q.Budget = n.affordable(l, asked)
	l.searches++
	i := n.newInquiry(q, l)
	i.done = func(hits []*search.Hit) {
		l.searches--
		a := i.answer(hits)
		if q.Budget == asked { // others may afford more
			n.queries.cache.Keep(n.now, key, q, a)
		}
		l.usage.spared(n.now, i.left)
		a.Left = asked - (q.Budget - i.left)
		a = n.charged(l, a, 1+q.Budget-i.left)
		n.respond(ev, a)
		if len(a.Found) > 0 {
			i.share()
		}
	}
	f := q.Filter
	f.Shareable = true
	f.Limit++ // one more tells whether there is more
	n.searchFor(f, n.searchTime(l, q.Wait), func(found Found) {
		l.usage.searched(n.now, found.Took)
		if i.over {
			return
		}
		if found.Err != nil {
			i.cut |= protocol.CutTime
		}
		i.begin(found.Records)
	})
}

// affordable is how many of the messages a neighbor's query may cause: no more than a minute allows, or than half
// of what is left in its account is for.
func (n *Node) affordable(l *link, messages int) int {
	if n.trusted(l.holder) {
		return messages
	}
	if left := n.allowance(l); left != incentive.MaxCredit {
		messages = min(messages, int(left/2/messagePrice))
	}
	return l.usage.cause(n.now, messages)
}

// bounded is the query with what it leaves open filled in. One for a private feed goes no further: its URL
// may be a secret, or its publisher wants nothing of it passed on.
func (n *Node) bounded(q protocol.Query) protocol.Query {
	if q.Filter.Limit <= 0 {
		q.Filter.Limit = feed.DefaultLimit
	}
	q.Filter.Limit = min(q.Filter.Limit, protocol.MaxAnswerEntries)
	if q.Wait <= 0 {
		q.Wait = protocol.DefaultWait
	}
	q.Wait = min(q.Wait, maxRelayWait)
	if q.ID == "" || q.Filter.Feed != "" && n.private(q.Filter.Feed) {
		q.Hops = 0
	}
	return q
}

// searchFor looks through the archive for so long, and has then called with what is found.
func (n *Node) searchFor(f feed.Filter, most time.Duration, then func(Found)) {
	n.lastID++
	n.sought[n.lastID] = then
	n.do(Search{ID: n.lastID, Filter: f, Time: most})
}

// searchTime is how long the archive may be searched for a neighbor that waits so long: half of that, so that there is
// time to ask others, and no more than its share.
func (n *Node) searchTime(l *link, wait time.Duration) time.Duration {
	if n.trusted(l.holder) {
		return wait / 2
	}
	return min(wait/2, l.usage.searchTime(n.now))
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
	a := protocol.Answer{Cut: i.cut, CompleteSince: i.whole(left...)}
	for _, h := range hits {
		if fits[h] {
			a.Found = append(a.Found, h.Found)
		}
	}
	return a
}

// charged is the answer as the neighbor gets it, and is debited for it: a price for each message that it took,
// a tenth of an entry where it lists anything, and the value of what is news to the neighbor. At most half of
// what its account allows goes into that, so that nobody who asks is left without the entries that it follows; news
// beyond that is left out. What became private since the answer was put together is left out as well.
func (n *Node) charged(l *link, a protocol.Answer, messages int) protocol.Answer {
	left, price := n.allowance(l), incentive.Credit(messages)*messagePrice
	if left != incentive.MaxCredit {
		left = left/2 - relayPrice - price
	}
	all := a.Found
	a.Found = make([]protocol.Found, 0, len(all))
	for i := range all {
		switch {
		case n.private(all[i].Feed):
			continue
		case !n.newsTo(l, &all[i]):
		case left < incentive.Entry:
			a.Cut |= protocol.CutRefused
			continue
		default:
			price += incentive.Entry
			if left != incentive.MaxCredit {
				left -= incentive.Entry
			}
		}
		a.Found = append(a.Found, all[i])
	}
	if len(a.Found) > 0 {
		price += relayPrice
	}
	n.accounts.ledger.Gave(n.now, l.holder, price)
	n.saveAccounts()
	return a
}

// newsTo reports whether the entry is young, and of a feed that the neighbor does not get from us anyway.
func (n *Node) newsTo(l *link, f *protocol.Found) bool {
	if _, wants := l.peer.Hops(f.Feed); wants {
		return false
	}
	return incentive.Young(n.now, []feed.Entry{{Published: search.Time(f)}}) > 0
}

// foundHere describes records of our own archive.
func foundHere(r *archive.Record) protocol.Found {
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
func (n *Node) holdersOf(l *link, f *protocol.Found) []protocol.NodeID {
	var holders []protocol.NodeID
	for _, id := range f.Holders {
		if id.IsZero() {
			id = l.id()
		}
		usable := id == l.id() || n.config.AllowLocal || feed.PublicAddr(id.Addr())
		if usable && id != n.self.id && id.Port() >= protocol.LowestPort && !slices.Contains(holders, id) {
			holders = append(holders, id)
		}
	}
	if len(f.Holders) == 0 {
		return []protocol.NodeID{l.id()}
	}
	return holders
}
