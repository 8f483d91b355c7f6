package archive

import (
	"time"

	"feedex/feed"
)

// Shared implements Entries.
func (m *Memory) Shared() Shared { return memoryShared{m} }

// memoryShared is a Memory as others may know it.
type memoryShared struct{ *Memory }

// Known implements Shared.
func (m memoryShared) Known(ids []feed.EntryID) []Version {
	versions := make([]Version, len(ids))
	for i, id := range ids {
		if seq, ok := m.seq(id); ok {
			if versions[i] = m.versionAt(seq); m.at(seq).owners {
				versions[i].Confirmed, versions[i].Polled = m.at(seq).confirmed, false
			}
		} else if p, ok := m.purged[id]; ok && !m.feeds[p.feed].Discreet {
			versions[i] = p.version()
		}
	}
	return versions
}

// seq is the Seq of an entry as others know it, and whether they do.
func (m memoryShared) seq(id feed.EntryID) (seq int, known bool) {
	if seq, ok := m.apart[id]; ok {
		return seq, true
	}
	if m.hidden[id] {
		return 0, false
	}
	return m.Memory.seq(id)
}

// Keep implements Shared.
func (m memoryShared) Keep(records []Record) {
	for i := range records {
		r := &records[i]
		if seq, ok := m.seq(r.ID); ok {
			next := m.came(r)
			if k := m.at(seq); k.owners && k.version != next.version && (next.confirmed || !k.confirmed) {
				m.part(seq)
			}
			m.at(seq).giveWay(&next)
		} else if m.hidden[r.ID] || m.feeds[r.Entry.Feed].Discreet && m.staysAway(r) {
			m.setApart(r.ID, m.add(m.came(r)))
		} else if !m.staysAway(r) {
			next := m.came(r)
			m.index.add(m.pool.contents[next.version].number, m.add(next))
		}
	}
}

// setApart notes that what has that Seq is an entry as others know it.
func (m *Memory) setApart(id feed.EntryID, seq int) {
	k := m.at(seq)
	k.apart, k.owners, m.apart[id] = true, false, seq
}

// part leaves an entry that is the same to everybody to others, under its Seq, and gives the owner a copy that is
// hidden.
func (m *Memory) part(seq int) (copied int) {
	k := *m.at(seq)
	k.confirmed, k.polled, k.owners = k.confirmed || k.owners, k.polled || k.owners, false
	c := m.content(&k)
	m.setApart(c.id, seq)
	if seq < 0 { // what was filled in is no news to the owner either
		m.past = append(m.past, k)
		copied = -len(m.past)
	} else {
		m.records = append(m.records, k)
		copied = len(m.records)
	}
	m.index.remove(c.number)
	m.index.add(c.number, copied)
	m.hidden[c.id] = true
	return copied
}

// setRight has others know an entry as an own poll showed it, where they know it apart, and its feed is followed openly
// since. It returns what Unshown has no more of.
func (m *Memory) setRight(id feed.EntryID, version int32) (shares []Share) {
	seq, apart := m.apart[id]
	if !apart || m.feeds[m.content(m.at(seq)).entry.Feed].Discreet {
		return nil
	}
	k := m.at(seq)
	if seq > 0 && !m.shown(k) {
		shares = []Share{m.share(seq)}
	}
	k.version, k.confirmed, k.polled = version, true, true
	return shares
}

// Confirm implements Shared.
func (m memoryShared) Confirm(_ time.Time, ids []feed.EntryID) {
	for _, id := range ids {
		if seq, ok := m.seq(id); ok {
			m.at(seq).confirmed = true
		}
	}
}
