package query

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Nobody but its hosts can call a node that cannot be dialled. So a host that passes on what it found says that it has
// the entry itself, and has it sent when somebody asks: once, checked by its digest, and out of what it may give. A
// node that is hosted hosts nobody, so no entry is passed on twice.

// maxPassed bounds the entries of a hosted neighbor that are remembered. Each has its own, so that what one invents
// has nothing of others forgotten.
const maxPassed = 1024

// pass notes that a hosted neighbor told of an entry.
func (l *link) pass(w protocol.Wanted) {
	if l.passing == nil || len(l.passing) >= maxPassed {
		l.passing = make(map[protocol.Wanted]bool)
	}
	l.passing[w] = true
}

// forOthers is what was found as others hear of it.
func (m *Machine) forOthers(f protocol.Found) protocol.Found {
	if !slices.ContainsFunc(f.Holders, m.Secluded) {
		return f
	}
	for _, id := range f.Holders {
		if l := m.LinkTo(id); l != nil && m.Secluded(id) {
			of(l).pass(protocol.Wanted{ID: f.ID, Digest: f.Digest})
		}
	}
	others := slices.DeleteFunc(slices.Clone(f.Holders), func(id protocol.NodeID) bool {
		return m.Secluded(id) || id.IsZero()
	})
	f.Holders = append([]protocol.NodeID{{}}, others...)
	return f
}

// passOn has the hosted neighbor that told of most of the entries that are wanted and not among records send them, or
// another where it sends none, while that is before until, and calls then with what came besides.
func (m *Machine) passOn(wanted []protocol.Wanted, records []archive.Record, until time.Time,
	then func([]archive.Record)) {
	var from *core.Link
	var wishes []protocol.Wanted
	for _, l := range m.Links {
		passing := of(l).passing
		if len(passing) == 0 {
			continue
		}
		told := slices.DeleteFunc(slices.Clone(wanted), func(w protocol.Wanted) bool {
			have := func(r archive.Record) bool { return r.ID == w.ID && r.Digest == w.Digest }
			return !passing[w] || slices.ContainsFunc(records, have)
		})
		if len(told) > len(wishes) {
			from, wishes = l, told
		}
	}
	if from == nil {
		then(records)
		return
	}
	m.Call(core.Target{Node: from.ID()}, from.Token, protocol.GetEntries{Wanted: wishes}, core.CallTimeout,
		func(a core.Answered) {
			m.AnsweredBy(from, a, func(core.Answered) {})
			b, _ := a.Reply.(protocol.Batch)
			sent, lie := checked(m.Now, from.ID(), wishes, b)
			if lie != "" {
				m.lied(from.ID(), from, lie)
				sent = nil
			}
			if len(sent) > 0 {
				then(append(slices.Clip(records), slices.DeleteFunc(sent, m.mayNotPass)...))
				return
			}
			for _, w := range wishes {
				delete(of(from).passing, w)
			}
			if m.Now.After(until) {
				then(records)
				return
			}
			m.passOn(wanted, records, until, then)
		})
}

// mayNotPass reports whether an entry is of a feed of which others hear nothing from us.
func (m *Machine) mayNotPass(r archive.Record) bool {
	u := r.Entry.Feed
	return m.feeds.Private(u) || m.feeds.OwnersAlone(u) || u.Secret() || u.Local() && !m.Config.AllowLocal
}
