package query

import (
	"slices"

	"feedex/archive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Nobody but its hosts can call a node that cannot be dialled. So a host that passes on what it found says that it has
// the entry itself, and has it sent when somebody asks: once, checked by its digest, and out of what it may give. A
// node that is hosted hosts nobody, so no entry is passed on twice.

// maxPassed bounds the entries of hosted neighbors that are remembered.
const maxPassed = 4096

// passing are the entries that hosted neighbors told of, and which of them did.
type passing map[protocol.Wanted]protocol.NodeID

// forOthers is what was found as others hear of it.
func (m *Machine) forOthers(f protocol.Found) protocol.Found {
	at := slices.IndexFunc(f.Holders, m.Secluded)
	if at < 0 {
		return f
	}
	if m.Queries.passing == nil || len(m.Queries.passing) >= maxPassed {
		m.Queries.passing = make(passing)
	}
	w := protocol.Wanted{ID: f.ID, Digest: f.Digest}
	if m.LinkTo(m.Queries.passing[w]) == nil {
		m.Queries.passing[w] = f.Holders[at]
	}
	others := slices.DeleteFunc(slices.Clone(f.Holders), func(id protocol.NodeID) bool {
		return m.Secluded(id) || id.IsZero()
	})
	f.Holders = append([]protocol.NodeID{{}}, others...)
	return f
}

// passOn has the hosted neighbor that told of most of the entries that are wanted and not among records send them, and
// calls then with those that it sent besides.
func (m *Machine) passOn(wanted []protocol.Wanted, records []archive.Record, then func([]archive.Record)) {
	asked := make(map[protocol.NodeID][]protocol.Wanted)
	var from *core.Link
	for _, w := range wanted {
		l := m.LinkTo(m.Queries.passing[w])
		if l == nil || !m.Secluded(l.ID()) ||
			slices.ContainsFunc(records, func(r archive.Record) bool { return r.ID == w.ID && r.Digest == w.Digest }) {
			continue
		}
		asked[l.ID()] = append(asked[l.ID()], w)
		if from == nil || len(asked[l.ID()]) > len(asked[from.ID()]) {
			from = l
		}
	}
	if from == nil {
		then(records)
		return
	}
	wishes := asked[from.ID()]
	m.Call(core.Target{Node: from.ID()}, from.Token, protocol.GetEntries{Wanted: wishes}, core.CallTimeout,
		func(a core.Answered) {
			m.AnsweredBy(from, a, func(core.Answered) {})
			b, _ := a.Reply.(protocol.Batch)
			sent, lie := checked(m.Now, from.ID(), wishes, b)
			if lie != "" {
				m.Suspect(from.ID(), lie)
				sent = nil
			}
			if len(sent) == 0 { // others may have what it does not give
				for _, w := range wishes {
					delete(m.Queries.passing, w)
				}
			}
			then(append(slices.Clip(records), slices.DeleteFunc(sent, m.mayNotPass)...))
		})
}

// mayNotPass reports whether an entry is of a feed of which others hear nothing from us.
func (m *Machine) mayNotPass(r archive.Record) bool {
	u := r.Entry.Feed
	return m.feeds.Private(u) || m.feeds.OwnersAlone(u) || u.Secret() || u.Local() && !m.Config.AllowLocal
}
