package archive

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"feedex/feed"
)

// Rename implements Feeds.
func (m *Memory) Rename(at time.Time, from, to feed.URL, listed []feed.Entry) bool {
	f, other := m.feeds[from], m.feeds[to]
	own, others := m.of(from), m.of(to)
	if !f.Subscribed || f.Discreet || other.Subscribed || other.Discreet || m.size(own) > MaxRenamed ||
		m.size(others) > MaxMerged || slices.ContainsFunc(append(own, others...), m.isApart) ||
		slices.ContainsFunc(others, func(seq int) bool { return m.hidden[m.content(m.at(seq)).id] }) {
		return false
	}
	was := make(map[feed.EntryID]gone)
	for i := range listed {
		e := listed[i]
		e.Feed = to
		if g, purged := m.purged[listed[i].EntryID()]; purged {
			g.feed = to
			was[e.EntryID()] = g
		}
	}
	records := make([]Record, len(others))
	for i, seq := range others {
		records[i] = m.record(seq)
		delete(m.seqs, m.content(m.at(seq)).number)
		*m.at(seq) = keptRecord{purged: true}
	}
	if m.was == nil {
		m.was = make(map[feed.EntryID]feed.EntryID)
	}
	for _, seq := range own {
		r, k := m.record(seq), m.at(seq)
		old := m.content(k)
		hidden := m.hidden[old.id]
		delete(m.hidden, old.id)
		delete(m.seqs, old.number)
		r.Entry.Feed = to
		r.ID = r.Entry.EntryID()
		delete(m.was, old.id)
		m.was[r.ID] = cmp.Or(r.Was, old.id)
		delete(m.purged, r.ID)
		k.version = m.pool.version(&r)
		m.seqs[m.content(k).number] = seq
		if hidden {
			m.hidden[r.ID] = true
		}
	}
	maps.DeleteFunc(m.purged, func(_ feed.EntryID, g gone) bool { return g.feed == from })
	maps.Copy(m.purged, was)
	for u, f := range m.feeds {
		if f.Became == from {
			f.Became = to
			m.feeds[u] = f
		}
	}
	f.URL = to
	m.feeds[to], m.feeds[from] = f, Feed{URL: from, Became: to}
	m.Fill(at, records)
	return true
}

// of are the Seqs of what is kept of a feed, the newest first.
func (m *Memory) of(u feed.URL) (seqs []int) {
	for seq := range m.candidates(nil) {
		if k := m.at(seq); !k.purged && m.content(k).entry.Feed == u {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// size is how much there is with those Seqs, as MaxRenamed counts it.
func (m *Memory) size(seqs []int) (sum int64) {
	for _, seq := range seqs {
		sum += RenamedEntry + TextBytes(&m.content(m.at(seq)).entry)
	}
	return sum
}

// isApart reports whether what others know of an entry is not what the owner has.
func (m *Memory) isApart(seq int) bool {
	_, apart := m.apart[m.content(m.at(seq)).id]
	return apart
}
