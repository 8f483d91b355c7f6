package archive

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/protocol"
)

// Memory is an archive in memory, for tests and simulated nodes. Its content is kept at once; it is gone with the
// process. Nothing of it is safe for concurrent use. The zero value is not ready: make one with NewMemory.
//
// Memory shares strings and lists with the records it is given and gives out; nobody may write to
// them.
type Memory struct {
	pool     *Pool
	records  []keptRecord            // in order of Seq, which is the index plus one
	past     []keptRecord            // that were filled in, back from -1
	seqs     map[int32]int           // of both, by the pool's numbers of the entries
	hidden   map[feed.EntryID]bool   // entries not to be shared
	apart    map[feed.EntryID]int    // the Seqs of entries as others know them, where that is not as the index has them
	purged   map[feed.EntryID]gone   // entries that were here
	starred  []star                  // as Star left them
	labelled map[feed.URL][]Labelled // as Label left them
	feeds    map[feed.URL]Feed       // as KeepFeed left them
	dids     []int32                 // in order of arrival, by the pool's numbers
	hasDID   map[int32]bool          // the same
	peers    map[protocol.NodeID]protocol.FormerNeighbor
	requests []grade.Request
	accounts map[string][]byte // texts by holder
	hosts    map[string]KnownHost

	was map[feed.EntryID]feed.EntryID // first ids of entries whose feeds were renamed, by their ids
}

var (
	_ Store    = (*Memory)(nil)
	_ Searcher = (*Memory)(nil)
)

// NewMemory returns an empty archive.
func NewMemory() *Memory { return NewPool().NewMemory() }

// NewMemory returns an empty archive that shares what it keeps with the pool's others.
func (p *Pool) NewMemory() *Memory {
	return &Memory{
		pool:     p,
		seqs:     make(map[int32]int),
		hasDID:   make(map[int32]bool),
		hidden:   make(map[feed.EntryID]bool),
		apart:    make(map[feed.EntryID]int),
		purged:   make(map[feed.EntryID]gone),
		feeds:    make(map[feed.URL]Feed),
		peers:    make(map[protocol.NodeID]protocol.FormerNeighbor),
		accounts: make(map[string][]byte),
		hosts:    make(map[string]KnownHost),
	}
}

// Commit has nothing to do and cannot fail. It lets a host treat Memory like an archive on disk.
func (m *Memory) Commit() error { return nil }

// Known implements Entries.
func (m *Memory) Known(ids []feed.EntryID) []Version {
	versions := make([]Version, len(ids))
	for i, id := range ids {
		if seq, ok := m.seq(id); ok {
			versions[i] = m.versionAt(seq)
		} else if g, ok := m.purged[id]; ok {
			versions[i] = g.version()
		}
	}
	return versions
}

// versionAt is the version with a Seq.
func (m *Memory) versionAt(seq int) Version {
	r := m.at(seq)
	c := m.content(r)
	return Version{
		Digest: c.digest, Extras: c.entry.Extras.Sum(), Published: c.entry.Published, Updated: c.entry.Updated,
		Seen:      r.seen(),
		Confirmed: r.confirmed || r.owners,
		Polled:    r.polled || r.owners,
	}
}

// A star is what an owner starred.
type star struct {
	feed  feed.URL
	entry feed.EntryID
}

// Star stars an entry of a feed, as its owner does in an archive on disk.
func (m *Memory) Star(u feed.URL, id feed.EntryID) { m.starred = append(m.starred, star{u, id}) }

// Starred implements Entries. The entry that was starred last is taken for the latest.
func (m *Memory) Starred(u feed.URL, n int) (ids []feed.EntryID) {
	for _, s := range slices.Backward(m.starred) {
		if s.feed == u && len(ids) < n && !m.hidden[s.entry] {
			ids = append(ids, s.entry)
		}
	}
	return ids
}

// Label has an entry of a feed labelled, as its owner does in an archive on disk.
func (m *Memory) Label(u feed.URL, l Labelled) {
	if m.labelled == nil {
		m.labelled = make(map[feed.URL][]Labelled)
	}
	m.labelled[u] = append(m.labelled[u], l)
}

// Labelled implements Entries. The label that was given last is taken for the latest.
func (m *Memory) Labelled(u feed.URL, n, bytes int) (list []Labelled) {
	for _, l := range slices.Backward(m.labelled[u]) {
		if len(list) < n && len(l.Name) <= bytes && !m.hidden[l.Entry] {
			list = append(list, l)
		}
	}
	return list
}

// Arrivals implements Entries.
func (m *Memory) Arrivals(u feed.URL, n int) (list []Arrival) {
	for seq := len(m.records); seq > 0 && len(list) < n; seq-- {
		if k := m.at(seq); k.purged || k.apart || !k.owners && !m.shown(k) {
			continue
		}
		if r := m.record(seq); r.Entry.Feed == u {
			list = append(list, Arrival{r.Time().Unix(), r.Seen.Unix()})
		}
	}
	return list
}

// Holds implements Entries.
func (m *Memory) Holds(u feed.URL) bool {
	for seq := range m.candidates(nil) {
		if k := m.at(seq); !k.purged && !k.apart && m.content(k).entry.Feed == u {
			return true
		}
	}
	return false
}

// Looking implements Entries: there are no filters.
func (m *Memory) Looking() int { return 0 }

// Keep implements Entries.
func (m *Memory) Keep(records []Record) {
	for i := range records {
		r := &records[i]
		if m.staysAway(r) {
			continue
		}
		discreet := m.feeds[r.Entry.Feed].Discreet
		seq, ok := m.seq(r.ID)
		if ok && discreet && !m.hidden[r.ID] {
			c := m.content(m.at(seq))
			if c.digest == r.Digest && (!r.Source.IsZero() || c.entry.Extras.Equal(&r.Entry.Extras)) {
				if r.Source.IsZero() {
					m.MarkPolled(r.Seen, []feed.EntryID{r.ID})
				}
				continue
			}
			if _, apart := m.apart[r.ID]; apart {
				m.hidden[r.ID] = true
			} else {
				seq = m.part(seq)
			}
		}
		next := m.came(r)
		if ok {
			m.giveWay(m.at(seq), &next)
		} else {
			m.seqs[m.pool.contents[next.version].number] = m.add(next)
			if discreet {
				m.hidden[r.ID] = true
			}
		}
		if next.polled {
			m.setRight(r.ID, next.version)
		}
	}
}

// came is a record as it came.
func (m *Memory) came(r *Record) keptRecord {
	polled := r.Source.IsZero()
	return keptRecord{
		version: m.pool.version(r), unix: seconds(r.Seen), source: m.pool.nodes.number(r.Source),
		confirmed: r.Confirmed || polled, polled: polled,
	}
}

// add adds what is not there, and returns its Seq.
func (m *Memory) add(k keptRecord) (seq int) {
	m.records = append(m.records, k)
	return len(m.records)
}

// giveWay makes k the version that came now, unless more speaks for the one that it is.
func (m *Memory) giveWay(k, next *keptRecord) {
	switch {
	case m.alike(k, next):
		k.confirmed, k.polled = k.confirmed || next.confirmed, k.polled || next.polled
		if next.polled {
			k.version = next.version // with its extras
		}
	case next.polled || !k.polled && !k.owners && (next.confirmed || !k.confirmed):
		k.version, k.confirmed, k.polled = next.version, next.confirmed, next.polled
	}
	k.owners = k.owners && !k.polled
}

// alike reports whether two records of an entry are of one version, but for its extras.
func (m *Memory) alike(a, b *keptRecord) bool { return m.content(a).digest == m.content(b).digest }

// Fill implements Entries.
func (m *Memory) Fill(_ time.Time, records []Record) []bool {
	stored := make([]bool, len(records))
	for i := range records {
		r := &records[i]
		if _, known := m.seq(r.ID); known || m.staysAway(r) {
			continue
		}
		version := m.pool.version(r)
		m.seqs[m.pool.contents[version].number] = m.addPast(r, version)
		if stored[i] = true; m.feeds[r.Entry.Feed].Discreet {
			m.hidden[r.ID] = true
		}
	}
	return stored
}

// addPast adds a record of the past that is not there, and returns its Seq.
func (m *Memory) addPast(r *Record, version int32) (seq int) {
	m.past = append(m.past, keptRecord{
		version: version, unix: seconds(r.Seen), source: m.pool.nodes.number(r.Source), confirmed: r.Confirmed,
		polled: r.Confirmed && r.Source.IsZero(),
	})
	return -len(m.past)
}

// seq is the Seq of an entry, and whether it is kept.
func (m *Memory) seq(id feed.EntryID) (seq int, kept bool) {
	number, known := m.pool.entries[id]
	if !known {
		return 0, false
	}
	seq, kept = m.seqs[number]
	return seq, kept
}

// at is the entry that is kept with a Seq.
func (m *Memory) at(seq int) *keptRecord {
	if seq < 0 {
		return &m.past[-seq-1]
	}
	return &m.records[seq-1]
}

// content is the content of an entry that is kept.
func (m *Memory) content(k *keptRecord) *content { return &m.pool.contents[k.version] }

// record is the record with a Seq.
func (m *Memory) record(seq int) Record {
	r := m.at(seq)
	c := m.content(r)
	return Record{
		Seq: int64(seq), ID: c.id, Was: m.was[c.id], Digest: c.digest, Entry: c.entry,
		Seen: r.seen(), Source: m.pool.nodes.list[r.source], Confirmed: r.confirmed || r.owners,
	}
}

// Confirm implements Entries.
func (m *Memory) Confirm(_ time.Time, ids []feed.EntryID) {
	for _, id := range ids {
		if seq, ok := m.seq(id); ok && !m.settled(id, seq) && !m.at(seq).owners {
			m.at(seq).confirmed = true
		}
	}
}

// shown reports whether an own poll has listed what is kept, as far as others may know.
func (m *Memory) shown(k *keptRecord) bool { return k.polled || m.pool.nodes.list[k.source].IsZero() }

// settled reports whether an entry of a feed that is followed discreetly was here before: others know it as it is.
func (m *Memory) settled(id feed.EntryID, seq int) bool {
	return !m.hidden[id] && m.feeds[m.content(m.at(seq)).entry.Feed].Discreet
}

// MarkPolled implements Entries.
func (m *Memory) MarkPolled(_ time.Time, ids []feed.EntryID) (shares []Share) {
	for _, id := range ids {
		seq, ok := m.seq(id)
		if !ok {
			continue
		}
		shares = append(shares, m.setRight(id, m.at(seq).version)...)
		switch k := m.at(seq); {
		case k.polled:
		case m.settled(id, seq):
			k.owners = true
		default:
			if seq > 0 && !m.shown(k) && !m.hidden[id] {
				shares = append(shares, m.share(seq))
			}
			k.confirmed, k.polled, k.owners = true, true, false
		}
	}
	return shares
}

// share is an entry as a part of what its source brought.
func (m *Memory) share(seq int) Share {
	r := m.record(seq)
	return Share{r.Source, r.Entry.Feed, r.Seen, 1, Room(TextBytes(&r.Entry))}
}

// Unshown implements Entries. It makes a Share of each entry.
func (m *Memory) Unshown(since time.Time) (shares []Share) {
	for seq := range m.records {
		k := &m.records[seq]
		if !k.purged && !m.shown(k) && !k.seen().Before(since) && (k.apart || !m.hidden[m.content(k).id]) {
			shares = append(shares, m.share(seq+1))
		}
	}
	return shares
}

// Hide implements Entries.
func (m *Memory) Hide(ids []feed.EntryID) {
	for _, id := range ids {
		if _, ok := m.seq(id); ok {
			m.hidden[id] = true
		}
	}
}

// Search implements Searcher.
func (m *Memory) Search(ctx context.Context, f feed.Filter) ([]Record, error) {
	if of := m.feeds[f.Feed]; !of.Subscribed && !f.Shareable {
		f.Feed = cmp.Or(of.Became, f.Feed)
	}
	matcher := NewMatcher(f)
	if f.Relevance {
		return m.ranked(ctx, f, matcher)
	}
	if matcher.Dated() {
		found, err := m.newest(ctx, f, matcher, math.MaxInt)
		SortDated(found)
		return found[:min(matcher.Limit(), len(found))], err
	}
	return m.newest(ctx, f, matcher, matcher.Limit())
}

// SortDated sorts records as a search for the latest by their time lists them: of one time the newest arrival first.
func SortDated(records []Record) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(b.Time().Unix(), a.Time().Unix()), cmp.Compare(b.Seq, a.Seq))
	})
}

// ranked is the best of the candidates that match.
func (m *Memory) ranked(ctx context.Context, f feed.Filter, matcher *Matcher) (found []Record, err error) {
	records, err := m.newest(ctx, f, matcher, RankCandidates)
	if err != nil {
		return nil, err
	}
	if titles, ok := InTitles(f); ok {
		more, err := m.newest(ctx, titles, NewMatcher(titles), RankCandidates)
		if err != nil {
			return nil, err
		}
		records = append(records, more...)
	}
	candidates, bySeq := make([]Candidate, len(records)), make(map[int64]*Record, len(records))
	for i := range records {
		candidates[i] = Candidate{records[i].Seq, matcher.Score(&records[i].Entry)}
		bySeq[records[i].Seq] = &records[i]
	}
	for _, c := range Best(candidates, matcher.Limit()) {
		found = append(found, *bySeq[c.Seq])
	}
	return found, nil
}

// candidates are the Seqs among which a search looks, the newest first: of the entries that it names, or of all where
// it names none.
func (m *Memory) candidates(ids []feed.EntryID) iter.Seq[int] {
	if len(ids) == 0 {
		return func(yield func(int) bool) {
			for seq := len(m.records); seq >= -len(m.past); seq-- {
				if seq != 0 && !yield(seq) {
					return
				}
			}
		}
	}
	var seqs []int
	for _, id := range ids {
		if seq, kept := m.seq(id); kept {
			seqs = append(seqs, seq)
		}
		if seq, apart := m.apart[id]; apart {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return func(yield func(int) bool) {
		for _, seq := range slices.Backward(slices.Compact(seqs)) {
			if !yield(seq) {
				return
			}
		}
	}
}

// newest is the newest records that match, at most limit of them.
func (m *Memory) newest(ctx context.Context, f feed.Filter, matcher *Matcher, limit int) (found []Record, err error) {
	for seq := range m.candidates(f.IDs) {
		if err := ctx.Err(); err != nil || len(found) >= limit {
			return found, err
		}
		k := m.at(seq)
		if k.purged || k.apart && !f.Shareable || f.Feed != "" && m.content(k).entry.Feed != f.Feed {
			continue
		}
		r := m.record(seq)
		if f.Shareable {
			r.Confirmed = k.confirmed
		}
		if !matcher.Match(&r) || f.Shareable && !m.shareable(&r) || f.NoSecrets && m.secret(r.Entry.Feed) {
			continue
		}
		found = append(found, r)
	}
	return found, nil
}

// shareable reports whether the entry may be served to others.
func (m *Memory) shareable(r *Record) bool {
	f := m.feeds[r.Entry.Feed]
	if m.secret(r.Entry.Feed) {
		return false
	}
	return !f.Confidential() && (m.at(int(r.Seq)).apart || !m.hidden[r.ID])
}

// secret reports whether others may not know the feed's URL.
func (m *Memory) secret(u feed.URL) bool {
	f := m.feeds[u]
	f.URL = u // nothing but entries may be kept of it
	return f.Secret()
}
