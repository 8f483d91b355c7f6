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
			if k := m.at(seq); k.owners && !m.alike(k, &next) && (next.confirmed || !k.confirmed) {
				m.part(seq)
				seq = m.apart[r.ID]
			}
			m.giveWay(m.at(seq), &next)
		} else if m.hidden[r.ID] || m.feeds[r.Entry.Feed].Discreet && m.staysAway(r) {
			m.setApart(r.ID, m.add(m.came(r)))
		} else if !m.staysAway(r) {
			next := m.came(r)
			m.seqs[m.pool.contents[next.version].number] = m.add(next)
			if m.feeds[r.Entry.Feed].Discreet { // the next Seq stays free for part
				m.add(keptRecord{purged: true})
			}
		}
	}
}

// setApart notes that what has that Seq is an entry as others know it.
func (m *Memory) setApart(id feed.EntryID, seq int) {
	k := m.at(seq)
	k.apart, k.owners, m.apart[id] = true, false, seq
}

// part makes two of an entry that is the same to everybody: one for others, and one for the owner that is hidden, and
// returns the Seq of that. Others keep theirs only where there is no room beside it.
func (m *Memory) part(seq int) (owners int) {
	k := *m.at(seq)
	theirs := k
	k.confirmed, k.polled, k.owners = k.confirmed || k.owners, k.polled || k.owners, false
	c := m.content(&k)
	m.hidden[c.id] = true
	if seq > 0 && (seq == len(m.records) || m.at(seq+1).purged) {
		if seq == len(m.records) {
			m.add(theirs)
		}
		*m.at(seq), *m.at(seq + 1) = k, theirs
		m.setApart(c.id, seq+1)
		return seq
	}
	m.setApart(c.id, seq)
	if seq < 0 { // what was filled in is no news to the owner either
		m.past = append(m.past, k)
		owners = -len(m.past)
	} else {
		owners = m.add(k)
	}
	m.seqs[c.number] = owners
	return owners
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
