package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/search"
)

// A Query is what the owner searches for, here and in the network (Paper §3.6).
type QueryRequest struct {
	Filter feed.Filter
	// Network says whether neighbors are asked; nil leaves it to the setting query.network.
	Network *bool
	Hops    int           // how far it goes; 0 is protocol.DefaultQueryHops
	Wait    time.Duration // how long it takes at most; 0 is protocol.DefaultWait
}

// A QueryPart is a part of what comes of a Query; of its fields one is set. First comes what is here, then,
// if neighbors are asked, what they tell as it arrives, and at last the end.
type QueryPart struct {
	Here  *Local   // what the node's own archive has
	Found []Remote // what neighbors told, and is new
	End   *QueryEnd
}

// Local is what the own archive has.
type Local struct {
	Records []archive.Record // newest arrival first, or the best where that was asked for
	More    bool             // there are more than the limit lets through
	Cut     bool             // not everything was ranked in time (archive.ErrCut)
}

// QueryEnd says how a Query ended.
type QueryEnd struct {
	Network bool     `json:"network"`           // neighbors were to be asked
	Asked   int      `json:"asked"`             // how many were
	Answers int      `json:"answers"`           // how many of them answered
	Cut     []string `json:"cut,omitempty"`     // why there may be more (protocol.Cut); none where it is complete
	Problem string   `json:"problem,omitempty"` // why nobody was asked
	// CompleteSince is since when nothing was left out for lack of room, where Cut says that something was and the
	// latest by their time were asked for (protocol.Answer.Whole).
	CompleteSince time.Time `json:"whole,omitzero"`
	Found         []Remote  `json:"found"` // the best, in order, those among them that are here too
}

// A Remote is an entry that others have, in JSON. Members are only ever added.
type Remote struct {
	ID        string            `json:"id"`     // the EntryID, 40 hexadecimal digits
	Digest    string            `json:"digest"` // of this version, likewise
	Feed      feed.URL          `json:"feed"`
	Title     string            `json:"title"`
	Link      string            `json:"link,omitempty"`
	Published time.Time         `json:"published,omitzero"`
	Updated   time.Time         `json:"updated,omitzero"`
	Seen      time.Time         `json:"seen"`           // when a holder stored it
	Here      bool              `json:"here,omitempty"` // our own archive has it as well
	Holders   []protocol.NodeID `json:"holders"`        // the nodes that have it, besides this one
	Told      int               `json:"told"`           // how many neighbors told of it
}

func newRemote(h *search.Hit) Remote {
	r := Remote{
		ID: h.ID.String(), Digest: h.Digest.String(), Feed: h.Feed, Title: h.Title, Link: h.Link,
		Published: h.Published, Updated: h.Updated, Seen: h.Seen, Told: h.Told(), Holders: h.Holders,
	}
	if len(r.Holders) > 0 && r.Holders[0].IsZero() {
		r.Here, r.Holders, r.Told = true, r.Holders[1:], r.Told-1
	}
	if r.Holders == nil {
		r.Holders = []protocol.NodeID{}
	}
	return r
}

func newRemotes(hits []search.Hit) []Remote {
	out := make([]Remote, len(hits))
	for i := range hits {
		out[i] = newRemote(&hits[i])
	}
	return out
}

// Time is when the entry was published, as far as that is known; see search.Time.
func (r *Remote) Time() time.Time {
	return search.Time(&protocol.Found{Published: r.Published, Updated: r.Updated, Seen: r.Seen})
}

// maxResults is how many Results of one query may wait to be read: each neighbor that is asked brings at most one, and
// there are no more than 64 neighbors.
const maxResults = 128

// errRests is how queries end while nothing can be stored.
var errRests = errors.New("the node rests because entries cannot be stored")

// Query implements Owner.
func (h *host) Query(ctx context.Context, q QueryRequest, each func(QueryPart) error) error {
	limit := q.Filter.Limit
	if limit <= 0 {
		limit = feed.DefaultLimit
	}
	q.Filter.Limit = limit + 1 // one more tells whether there are more
	records, err := h.store.Search(ctx, q.Filter)
	cut := errors.Is(err, archive.ErrCut)
	if err != nil && !cut {
		return fmt.Errorf("search the archive: %w", err)
	}
	here := &Local{Records: records[:min(limit, len(records))], More: len(records) > limit, Cut: cut}
	if err := each(QueryPart{Here: here}); err != nil {
		return err
	}
	always := h.config.Node.QueryNetwork == node.AlwaysNetwork
	if q.Network == nil && !always || q.Network != nil && !*q.Network {
		return each(QueryPart{End: &QueryEnd{}})
	}
	q.Filter.Limit = limit
	return h.queryOthers(ctx, q, here.Records, each)
}

// queryOthers has the node ask its neighbors, and passes on what they tell.
func (h *host) queryOthers(ctx context.Context, q QueryRequest, own []archive.Record,
	each func(QueryPart) error) error {
	results := make(chan node.Results, maxResults)
	ev := node.Query{
		Tag:   h.lastQuery.Add(1),
		Query: protocol.Query{Filter: q.Filter, Hops: q.Hops, Wait: q.Wait},
		Own:   own, Explicit: q.Network != nil,
	}
	if !h.send(ctx, arrival{event: ev, results: results}) {
		return context.Cause(ctx)
	}
	ended := false
	defer func() {
		if !ended { // the client has gone
			h.send(context.WithoutCancel(ctx), arrival{event: node.EndQuery{Tag: ev.Tag}})
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-results:
			part := QueryPart{Found: newRemotes(r.Hits)}
			if r.Done {
				ended = true
				part = QueryPart{End: &QueryEnd{Network: true, Asked: r.Asked, Answers: r.Answers, Cut: r.Cut.Reasons(),
					CompleteSince: r.CompleteSince, Found: part.Found}}
				if r.Err != nil {
					part.End.Problem = r.Err.Error()
				}
			}
			if err := each(part); err != nil || r.Done {
				return err
			}
		}
	}
}

// tellQuery passes Results on to the request that waits for them. The loop never waits for a reader.
func (h *host) tellQuery(r node.Results) {
	waiting := h.querying[r.Tag]
	if waiting == nil {
		return
	}
	if r.Done {
		delete(h.querying, r.Tag)
	}
	waiting <- r
}

// endQueries ends every query of the owner: the core that worked on them is no more.
func (h *host) endQueries() {
	for tag, waiting := range h.querying {
		delete(h.querying, tag)
		waiting <- node.Results{Done: true, Err: errRests}
	}
}
