package daemon

import (
	"context"
	"errors"
	"fmt"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// maxResults is how many Results of one query may wait to be read: each neighbor that is asked brings at most one, and
// there are no more than 64 neighbors.
const maxResults = 128

// Query implements control.Owner.
func (h *host) Query(ctx context.Context, q control.QueryRequest, each func(control.QueryPart) error) error {
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
	here := &control.Local{Records: records[:min(limit, len(records))], More: len(records) > limit, Cut: cut}
	if err := each(control.QueryPart{Here: here}); err != nil {
		return err
	}
	always := h.config.Node.QueryNetwork == node.AlwaysNetwork
	if q.Network == nil && !always || q.Network != nil && !*q.Network {
		return each(control.QueryPart{End: &control.QueryEnd{}})
	}
	q.Filter.Limit = limit
	return h.queryOthers(ctx, q, here.Records, each)
}

// queryOthers has the node ask its neighbors, and passes on what they tell.
func (h *host) queryOthers(ctx context.Context, q control.QueryRequest, own []archive.Record,
	each func(control.QueryPart) error) error {
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
			part := control.QueryPart{Found: control.RemotesOf(r.Hits)}
			if r.Done {
				ended = true
				part = control.QueryPart{End: &control.QueryEnd{Network: true, Asked: r.Asked, Answers: r.Answers,
					Cut:           r.Cut.Reasons(),
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
		waiting <- node.Results{Done: true, Err: control.ErrRests}
	}
}
