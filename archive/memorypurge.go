package archive

import (
	"time"

	"feedex/feed"
)

// Purge implements Entries. Nothing in a Memory is starred.
func (m *Memory) Purge(_ time.Time, ids []feed.EntryID) []bool {
	dropped := make([]bool, len(ids))
	for i, id := range ids {
		seq, ok := m.seq(id)
		if !ok {
			continue
		}
		k := m.at(seq)
		c := m.content(k)
		delete(m.seqs, c.number)
		g := gone{unix: int64(k.unix), shown: k.owners || m.shown(k), feed: c.entry.Feed}
		if !g.shown {
			g.digest = c.digest
		}
		m.purged[id], dropped[i] = g, true
		if _, apart := m.apart[id]; !apart && m.settled(id, seq) {
			m.setApart(id, seq) // others keep it
			continue
		}
		delete(m.hidden, id)
		*k = keptRecord{purged: true} // its place stays empty, because no Seq is used twice
	}
	return dropped
}

// gone is the trace of an entry that was purged.
type gone struct {
	unix   int64 // when it came
	shown  bool  // by an own poll
	digest feed.Digest
	feed   feed.URL
}

func (g gone) version() Version {
	return Version{Seen: time.Unix(g.unix, 0).UTC(), Polled: g.shown, Purged: true, Gone: g.digest}
}

// staysAway reports whether a record is of an entry that was purged and does not come back.
func (m *Memory) staysAway(r *Record) bool {
	g, was := m.purged[r.ID]
	if v := g.version(); was && v.Admits(r) {
		delete(m.purged, r.ID)
		return false
	}
	return was
}

// Readmit implements Entries.
func (m *Memory) Readmit(ids []feed.EntryID) {
	for _, id := range ids {
		delete(m.purged, id)
	}
}
