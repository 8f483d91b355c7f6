package node

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

// QueryNetwork says whether the owner's queries go to neighbors: they show what the owner is interested in.
type QueryNetwork string

// The values of QueryNetwork. The zero value is AskNetwork.
const (
	AskNetwork    QueryNetwork = "ask"    // where the owner asks for it each time
	AlwaysNetwork QueryNetwork = "always" // unless the owner asks for none
	NeverNetwork  QueryNetwork = "never"
)

// Errors of Results: why nobody was asked.
var (
	// ErrNeverNetwork means that the owner's setting forbids it.
	ErrNeverNetwork = errors.New("queries of the network are switched off by the setting query.network")
	// ErrPrivateFeed means that the feed that is looked for must not leave the node.
	ErrPrivateFeed = errors.New("the feed is private, so nobody is asked about it")
	// ErrTooManyQueries means that too many of the owner's queries run.
	ErrTooManyQueries = errors.New("too many queries of the network run at a time")
)

// maxOwnQueries is how many queries of the owner run at a time.
const maxOwnQueries = 16

// Query is the owner's wish to search the archives of others. Results with the same Tag follow, the last of
// them Done.
type Query struct {
	Tag uint64 // the host's, unique among the owner's queries that run
	// Query is what is looked for, how far and for how long; 0 in Hops, Budget and Wait is the default. Its ID
	// is set by the node.
	Query protocol.Query
	// Own is what the own archive has of it.
	Own []archive.Record
	// Explicit says that the owner asked for the network this time.
	Explicit bool
}

// EndQuery says that nobody waits for the owner's query with that Tag any more. It ends without Results.
type EndQuery struct{ Tag uint64 }

func (Query) event()    {}
func (EndQuery) event() {}

// Results is what came of the owner's Query with the same Tag: what is new since the last Results and, at the
// end, the best of all, in order.
type Results struct {
	Tag   uint64
	Hits  []search.Hit
	Done  bool
	Cut   protocol.Cut // at the end: why there may be more
	Asked int          // at the end: neighbors that were asked
	// Answers is, at the end, how many of them gave an answer, also one that lists nothing.
	Answers       int
	CompleteSince time.Time // at the end: since when nothing was left out for lack of room (protocol.Answer.Whole)
	Err           error     // at the end: why nobody was asked
}

func (Results) effect() {}

// searchOthers begins a query of the owner.
func (n *Node) searchOthers(ev Query) {
	q, err := n.admissible(ev)
	if err != nil {
		n.do(Results{Tag: ev.Tag, Done: true, Err: err})
		return
	}
	q.ID = fmt.Sprintf("%016x%016x", n.rng.Uint64(), n.rng.Uint64())
	n.queries.seen.Add(n.now, q.ID) // should it come back
	if n.queries.own == nil {
		n.queries.own = make(map[uint64]*inquiry)
	}
	i := n.newInquiry(q, nil)
	n.queries.own[ev.Tag] = i
	i.grown = func(fresh []*search.Hit) {
		n.do(Results{Tag: ev.Tag, Hits: copied(fresh)})
	}
	i.done = func(hits []*search.Hit) {
		delete(n.queries.own, ev.Tag)
		n.do(Results{Tag: ev.Tag, Hits: copied(hits), Done: true, Cut: i.cut, Asked: i.asked, Answers: i.answers,
			CompleteSince: i.whole()})
	}
	i.begin(ev.Own)
}

// admissible is the query with its defaults, or why it must stay here.
func (n *Node) admissible(ev Query) (protocol.Query, error) {
	q, u := ev.Query, ev.Query.Filter.Feed
	switch {
	case n.config.QueryNetwork == NeverNetwork:
		return q, ErrNeverNetwork
	case u != "" && (n.ownersAlone(u) || n.discreetly(u) != nil && !ev.Explicit):
		return q, ErrPrivateFeed
	case len(n.queries.own) >= maxOwnQueries:
		return q, ErrTooManyQueries
	}
	q.Filter.Limit = min(cmp.Or(max(q.Filter.Limit, 0), feed.DefaultLimit), protocol.MaxAnswerEntries)
	q.Hops = min(cmp.Or(max(q.Hops, 0), protocol.DefaultQueryHops), protocol.MaxQueryHops)
	q.Budget = min(cmp.Or(max(q.Budget, 0), protocol.DefaultBudget), protocol.MaxBudget)
	q.Wait = min(cmp.Or(max(q.Wait, 0), protocol.DefaultWait), protocol.MaxWait)
	return q, nil
}

// endQuery forgets a query of the owner.
func (n *Node) endQuery(tag uint64) {
	if i := n.queries.own[tag]; i != nil {
		i.over = true
		delete(n.queries.own, tag)
	}
}

// copied are hits that their inquiry changes no more.
func copied(hits []*search.Hit) []search.Hit {
	out := make([]search.Hit, len(hits))
	for k, h := range hits {
		out[k] = h.Copy()
	}
	return out
}
