package sqlite

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A feed that is renamed keeps its row, and so do its entries: what readers, filters and messages know by numbers stays
// as it is. New are the entries' ids, of which the feed's name is a part.

// Rename implements archive.Feeds.
func (s *Store) Rename(at time.Time, from, to feed.URL, listed []feed.Entry) bool {
	s.begin()
	var row int64
	if !s.row(`SELECT id FROM feeds WHERE url = ? AND subscribed`, []any{string(from)}, &row) ||
		!s.mayBeNamed(row, to) {
		return false
	}
	gone := s.purgedAs(listed, to)
	s.write(`DELETE FROM purged WHERE feed = ?`, row) // by ids that nothing has any more
	records := s.takeAway(to, row)
	s.identify(row, to)
	s.write(`DELETE FROM purged WHERE feed = ?1 AND id IN (SELECT id FROM entries WHERE feed = ?1)`, row)
	for _, g := range gone {
		s.write(`INSERT OR REPLACE INTO purged (id, feed, seen, at, shown, digest) VALUES (?, ?, ?, ?, ?, ?)`, g.id[:],
			row, g.seen, g.at, g.shown, g.digest)
	}
	s.write(`UPDATE feeds SET url = ? WHERE id = ?`, string(to), row)
	s.write(`UPDATE feeds SET became = ? WHERE became = ?`, string(to), string(from))
	s.write(`UPDATE requests SET feed = ? WHERE iif(feed = '', url, feed) = ?`, string(to), string(from))
	clear(s.feedIDs)
	s.KeepFeed(s.LoadFeed(to)) // whether its address is a secret, and leads to one
	s.KeepFeed(archive.Feed{URL: from, Became: to})
	s.Fill(at, records)
	return s.err == nil
}

// mayBeNamed reports whether the feed in that row may have that name: nobody here read what has it, what others know of
// both is what the owner has, and it takes no longer than a step of the loop may.
func (s *Store) mayBeNamed(row int64, to feed.URL) bool {
	var own, others int64
	const sum = `SELECT coalesce(sum(?1 + size), 0) FROM
		(SELECT size FROM entries WHERE feed = (SELECT id FROM feeds WHERE id = ?2 OR url = ?3) LIMIT 1 + ?4 / ?1)`
	s.row(sum, []any{archive.RenamedEntry, row, "", archive.MaxRenamed}, &own)
	s.row(sum, []any{archive.RenamedEntry, 0, string(to), archive.MaxMerged}, &others)
	return own <= archive.MaxRenamed && others <= archive.MaxMerged &&
		!s.row(`SELECT 1 FROM feeds f WHERE (f.id = ?1 OR f.url = ?2) AND (f.discreet
				OR EXISTS (SELECT 1 FROM feeds x WHERE x.url = f.url || ?3)
				OR f.url = ?2 AND (f.subscribed OR EXISTS (SELECT 1 FROM items WHERE feed = f.id)
					OR EXISTS (SELECT 1 FROM entries e JOIN hidden h ON h.seq = e.seq WHERE e.feed = f.id)))`,
			[]any{row, string(to), apartMark}, new(int)) && s.err == nil
}

// A purgedEntry is what there remains of an entry that was purged.
type purgedEntry struct {
	id       feed.EntryID
	seen, at int64
	shown    bool
	digest   []byte
}

// purgedAs is what was purged of a list of entries, by their ids in the feed with that name.
func (s *Store) purgedAs(listed []feed.Entry, to feed.URL) (gone []purgedEntry) {
	if !s.anyPurged() {
		return nil
	}
	ids := make([]feed.EntryID, len(listed))
	for i := range listed {
		ids[i] = listed[i].EntryID()
	}
	s.rows(`SELECT j.key, p.seen, p.at, p.shown, p.digest
		FROM json_each(?) j CROSS JOIN purged p ON p.id = unhex(j.value)`, []any{jsonIDs(ids)}, func(rows *sql.Rows) error {
		var i int
		var g purgedEntry
		err := scan(rows, &i, &g.seen, &g.at, &g.shown, &g.digest)
		if err == nil {
			e := listed[i]
			e.Feed = to
			g.id = e.EntryID()
			gone = append(gone, g)
		}
		return err
	})
	return gone
}

// takeAway removes what is kept of a feed that nobody here read, and returns its entries, the newest first. What was
// purged of it is so of the feed in that row.
func (s *Store) takeAway(u feed.URL, row int64) []archive.Record {
	var old int64
	if !s.row(`SELECT id FROM feeds WHERE url = ?`, []any{string(u)}, &old) {
		return nil
	}
	records := load(&s.writer, func(row rowScanner) (archive.Record, error) { return scanRecord(row) },
		`SELECT `+recordColumns+` FROM entries e JOIN feeds f ON f.id = e.feed WHERE f.id = ? ORDER BY e.seq DESC`, old)
	seqs := make([]int64, len(records))
	for i := range records {
		seqs[i] = records[i].Seq
	}
	s.drop(seqs)
	s.write(`UPDATE purged SET feed = ? WHERE feed = ?`, row, old)
	s.write(`DELETE FROM pages WHERE feed = ?`, old)
	s.write(`DELETE FROM feeds WHERE id = ?`, old)
	return records
}

// identify gives the entries of the feed in that row the ids that they have by a name of it.
func (s *Store) identify(row int64, name feed.URL) {
	type identified struct {
		Seq int64  `json:"seq"`
		ID  string `json:"id"`
	}
	all := load(&s.writer, func(row rowScanner) (x identified, err error) {
		e := feed.Entry{Feed: name}
		err = scan(row, &x.Seq, &e.ID, &e.Title, &e.Link)
		x.ID = e.EntryID().String()
		return x, err
	}, `SELECT seq, guid, title, link FROM entries WHERE feed = ?`, row)
	for part := range slices.Chunk(all, knownIDs) {
		list, _ := json.Marshal(part) // which cannot fail
		s.write(`UPDATE entries AS e SET was = coalesce(e.was, e.id), id = unhex(j.value ->> 'id')
			FROM json_each(?) AS j WHERE e.seq = j.value ->> 'seq'`, string(list))
	}
}
