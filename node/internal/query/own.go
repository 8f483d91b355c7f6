package query

import (
	"cmp"
	"fmt"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/search"
)

// MaxOwnQueries is how many queries of the owner run at a time.
const MaxOwnQueries = 16

// SearchOthers begins a query of the owner.
func (m *Machine) SearchOthers(ev core.OwnerQuery) {
	q, err := m.admissible(ev)
	if err != nil {
		m.Do(core.QueryResults{Tag: ev.Tag, Done: true, Err: err})
		return
	}
	q.ID = fmt.Sprintf("%016x%016x", m.Rng.Uint64(), m.Rng.Uint64())
	m.Queries.seen.Add(m.Now, q.ID) // should it come back
	if m.Queries.Own == nil {
		m.Queries.Own = make(map[uint64]*inquiry)
	}
	i := m.newInquiry(q, nil)
	m.Queries.Own[ev.Tag] = i
	i.grown = func(fresh []*search.Hit) {
		m.Do(core.QueryResults{Tag: ev.Tag, Hits: m.told(fresh)})
	}
	i.done = func(hits []*search.Hit) {
		delete(m.Queries.Own, ev.Tag)
		m.Do(core.QueryResults{Tag: ev.Tag, Hits: m.told(hits), Done: true, Cut: i.cut, Asked: i.asked,
			Answers: i.answers, CompleteSince: i.completeSince()})
	}
	i.begin(ev.Own)
}

// admissible is the query with its defaults, or why it must stay here.
func (m *Machine) admissible(ev core.OwnerQuery) (protocol.Query, error) {
	q, u := ev.Query, ev.Query.Filter.Feed
	switch {
	case m.Config.QueryNetwork == core.NeverNetwork:
		return q, core.ErrNeverNetwork
	case u != "" && (m.feeds.OwnersAlone(u) || m.feeds.Discreet(u) && !ev.Explicit):
		return q, core.ErrPrivateFeed
	case len(m.Queries.Own) >= MaxOwnQueries:
		return q, core.ErrTooManyQueries
	}
	q.Filter.Limit = min(cmp.Or(max(q.Filter.Limit, 0), feed.DefaultLimit), protocol.MaxAnswerEntries)
	q.Hops = min(cmp.Or(max(q.Hops, 0), protocol.DefaultQueryHops), protocol.MaxQueryHops)
	q.Budget = min(cmp.Or(max(q.Budget, 0), protocol.DefaultBudget), protocol.MaxBudget)
	q.Wait = min(cmp.Or(max(q.Wait, 0), protocol.DefaultWait), protocol.MaxWait)
	return q, nil
}

// EndQuery forgets a query of the owner.
func (m *Machine) EndQuery(tag uint64) {
	if i := m.Queries.Own[tag]; i != nil {
		i.over = true
		delete(m.Queries.Own, tag)
	}
}

// told are hits as the owner is told of them, which their inquiry changes no more. Whether an entry is here is asked of
// the whole archive: a search of it gave no more than its limit, and only versions that fit.
func (m *Machine) told(hits []*search.Hit) []search.Hit {
	out, ids := make([]search.Hit, len(hits)), make([]feed.EntryID, len(hits))
	for k, h := range hits {
		out[k], ids[k] = h.Copy(), h.ID
	}
	for k, v := range m.Store.Known(ids) {
		out[k].Here = v.Kept()
	}
	return out
}
