package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// Purged entries leave their id behind, in some fifty bytes: polls and neighbors may go on showing them for as long as
// their publisher lists them. ForgetPurged drops these after a while, where no own poll had shown the entry or the owner
// does not follow the feed.

// isStarred is whether the owner starred entry e.
const isStarred = `EXISTS (SELECT 1 FROM items WHERE seq = e.seq AND starred)`

// Purge implements archive.Entries.
func (s *Store) Purge(at time.Time, ids []feed.EntryID) []bool {
	s.purges = true
	return s.purge(at, ids)
}

// purge drops entries. Each table is gone through once for all of them.
func (s *writer) purge(at time.Time, ids []feed.EntryID) []bool {
	s.begin()
	dropped := make([]bool, len(ids))
	var seqs []int64
	var bytes, dead int64
	taken := make(map[int64]bool)
	s.rows(`SELECT j.key, e.seq, e.size FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value)
		WHERE NOT `+isStarred+` ORDER BY j.key`, []any{jsonIDs(ids)}, func(rows *sql.Rows) error {
		var i, size, seq int64
		err := scan(rows, &i, &seq, &size)
		if err == nil && !taken[seq] {
			taken[seq], dropped[i] = true, true
			seqs, bytes, dead = append(seqs, seq), bytes+size, dead+archive.WordRoom*min(size, archive.MaxFoldedBytes)
		}
		return err
	})
	list, err := json.Marshal(seqs)
	if s.err == nil {
		s.err = err
	}
	if s.err != nil || len(seqs) == 0 {
		return make([]bool, len(ids))
	}
	const these = `IN (SELECT value FROM json_each(?))`
	s.write(`INSERT INTO purged (id, feed, seen, at, shown) SELECT e.id, e.feed, e.seen, ?, NOT `+isUnshown+` FROM entries e WHERE e.seq `+these, at.Unix(), string(list))
	s.write(`UPDATE feeds SET replaced = replaced + 1, replaced_at = max(?, coalesce(replaced_at, 0))
		WHERE id IN (SELECT feed FROM entries WHERE seq `+these+`)`, at.Unix(), string(list)) // what it had is not what it has
	for _, table := range []string{`stale`, `hidden`, `entries`} { // and with the entries, their items
		s.write(`DELETE FROM `+table+` WHERE seq `+these, string(list))
	}
	s.write(`DELETE FROM words WHERE rowid `+these, string(list))
	s.write(`UPDATE state SET purge_at = ?1,
		purge_entries = ?2 + CASE purge_at WHEN ?1 THEN purge_entries ELSE 0 END,
		purge_bytes = ?3 + CASE purge_at WHEN ?1 THEN purge_bytes ELSE 0 END, dead = dead + ?4`, at.Unix(), len(seqs), bytes, dead)
	return dropped
}

// Readmit implements archive.Entries.
func (s *Store) Readmit(ids []feed.EntryID) {
	if !s.anyPurged() {
		return
	}
	for i := range ids {
		s.write(`DELETE FROM purged WHERE id = ?`, ids[i][:])
	}
}

// anyPurged is whether some entry was purged, as far as one knows without looking far: most owners never purge one.
func (s *Store) anyPurged() bool {
	if !s.purges {
		s.purges = s.row(`SELECT 1 FROM purged LIMIT 1`, nil, new(int)) || s.err != nil
	}
	return s.purges
}

// whichPurged are the indices of records of entries that were purged and stay away. Others were purged no more, from the
// record on that brings them back.
func (s *Store) whichPurged(records []archive.Record) map[int]bool {
	if !s.anyPurged() {
		return nil
	}
	ids, shown := make([]feed.EntryID, len(records)), make(map[int]bool)
	for i := range records {
		ids[i] = records[i].ID
	}
	s.eachPurged(ids, func(i int, _ time.Time, byPoll bool) { shown[i] = byPoll })
	gone, back := make(map[int]bool, len(shown)), make(map[feed.EntryID]bool)
	for i := range records {
		byPoll, purged := shown[i]
		switch {
		case !purged || back[ids[i]]:
		case !byPoll && records[i].Source.IsZero():
			back[ids[i]] = true
			s.Readmit(ids[i : i+1])
		default:
			gone[i] = true
		}
	}
	return gone
}

// eachPurged calls f with each of the ids that was purged, when the entry came, and whether an own poll had shown it.
func (s *Store) eachPurged(ids []feed.EntryID, f func(i int, seen time.Time, shown bool)) {
	s.rows(`SELECT j.key, p.seen, p.shown FROM json_each(?) j CROSS JOIN purged p ON p.id = unhex(j.value)`, []any{jsonIDs(ids)}, func(rows *sql.Rows) error {
		var i int
		var seen sql.NullInt64
		var shown bool
		err := scan(rows, &i, &seen, &shown)
		if err == nil {
			f(i, fromSeconds(seen), shown)
		}
		return err
	})
}

// mergePages is how many pages of the index one step writes when it merges parts of it: some milliseconds, unless one
// word alone fills more.
const mergePages = 32

// Tidy takes a step towards an index without the words of entries that are gone, in a transaction of its own, and reports
// whether there is another to take. As Index it is for who has the archive alone.
func (s *Store) Tidy() (more bool, err error) {
	if s.inTx {
		return false, wrap("tidy", s.path, errBusy)
	}
	more = s.tidy()
	err = s.Commit()
	return err == nil && more, err
}

func (s *writer) tidy() (more bool) { return s.merge(mergePages) }

// merge takes a step of so many pages; the first of those that merge the whole index is below zero.
func (s *writer) merge(pages int) (more bool) {
	var before, after int64
	s.row(`SELECT total_changes()`, nil, &before)
	s.write(`INSERT INTO words (words, rank) VALUES ('merge', ?)`, pages)
	s.row(`SELECT total_changes()`, nil, &after)
	return after-before >= 2 // https://sqlite.org/fts5.html#the_merge_command
}

// compact takes a step towards an index in one part, in which no purged entry has left any word. It begins where dead is
// below zero, and returns what it is called with the next time; below zero when it is done.
func (s *writer) compact(dead int64) int64 {
	pages := mergePages
	if dead < 0 {
		s.row(`SELECT dead FROM state`, nil, &dead)
		pages = -pages
	}
	if s.merge(pages) {
		return dead
	}
	s.write(`UPDATE state SET dead = max(0, dead - ?)`, dead)
	return -1
}

// tombstoneLife is how long it is remembered that entries were purged that no own poll had shown, or that are of feeds
// that the owner does not follow: neither polls nor news bring these back later.
const tombstoneLife = 30 * 24 * time.Hour

// ForgetPurged looks at some of the entries that were purged, those after an id, and forgets those that were purged long
// ago and that nothing brings back. It returns the last that it looked at, and whether there are more.
func (s *Store) ForgetPurged(now time.Time, after feed.EntryID) (last feed.EntryID, more bool) {
	return s.forgetPurged(now, after)
}

func (s *writer) forgetPurged(now time.Time, after feed.EntryID) (last feed.EntryID, more bool) {
	const step = 2000
	var blob []byte
	more = s.row(`SELECT id FROM purged WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, []any{after[:], step - 1}, &blob)
	if more {
		if last, s.err = fromBlob[feed.EntryID](blob); s.err != nil {
			return last, false
		}
	} else {
		for i := range last {
			last[i] = 0xff
		}
	}
	s.write(`DELETE FROM purged WHERE id > ? AND id <= ? AND at < ? AND (NOT shown OR feed NOT IN (SELECT id FROM feeds WHERE subscribed))`,
		after[:], last[:], now.Add(-tombstoneLife).Unix())
	return last, more && s.err == nil
}
