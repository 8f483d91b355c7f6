package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// Purged entries leave their id behind, in fifty bytes or seventy: polls and neighbors may go on showing them for as
// long as their publisher lists them. ForgetPurged drops these after a while, where no own poll had shown the entry or
// the owner does not follow the feed.

// isWanted is whether somebody starred or labelled entry e. What a filter labelled goes as any other: a neighbor may
// have chosen its words.
const isWanted = `(EXISTS (SELECT 1 FROM items i CROSS JOIN people p CROSS JOIN marks m ON m.person = p.id AND m.item = i.id
	WHERE i.seq = e.seq AND m.starred) OR EXISTS (SELECT 1 FROM items i
	CROSS JOIN labelled l INDEXED BY labelled_by_item ON l.item = i.id WHERE i.seq = e.seq AND l.filter IS NULL))`

// Purge implements archive.Entries.
func (s *Store) Purge(at time.Time, ids []feed.EntryID) []bool {
	s.purges = true
	return s.purge(at, ids)
}

// purge drops entries. Each table is gone through once for all of them. Those that are the same to the owner and to
// others, of a feed that is followed discreetly, are left to others, or to the owner where they are purged as theirs.
func (s *writer) purge(at time.Time, ids []feed.EntryID) []bool {
	s.begin()
	dropped := s.purgeOthers(at, ids)
	var seqs, rest []int64
	var bytes, dead int64
	taken := make(map[int64]bool)
	var left []storedPlace // to others
	var of []feed.EntryID  // the entries there
	s.rows(`SELECT j.key, e.seq, e.size, e.feed, `+isSettled+
		` FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value)
		WHERE NOT `+isWanted+` AND NOT `+isKept+` ORDER BY j.key`, []any{jsonIDs(ids)}, func(rows *sql.Rows) error {
		var i int
		var size int64
		var at storedPlace
		var settled bool
		err := scan(rows, &i, &at.seq, &size, &at.feed, &settled)
		if err != nil || taken[at.seq] {
			return err
		}
		taken[at.seq], dropped[i] = true, true
		if seqs = append(seqs, at.seq); settled {
			left, of = append(left, at), append(of, ids[i])
		} else {
			rest, bytes, dead = append(rest, at.seq), bytes+size,
				dead+archive.WordRoom*min(size, archive.MaxFoldedBytes)
		}
		return nil
	})
	if s.err != nil {
		return make([]bool, len(ids))
	}
	if len(seqs) == 0 {
		return dropped
	}
	list := jsonNumbers(seqs)
	const these = `IN (SELECT value FROM json_each(?))`
	s.write(`INSERT INTO purged (id, feed, seen, at, shown, digest)
		SELECT e.id, e.feed, e.seen, ?, NOT `+isUnshown+`, iif(`+isUnshown+
		`, e.digest, NULL) FROM entries e WHERE e.seq `+these, at.Unix(), list)
	s.write(`UPDATE feeds SET replaced = replaced + 1, replaced_at = max(?, coalesce(replaced_at, 0))
		WHERE id IN (SELECT feed FROM entries WHERE seq `+these+`)`, at.Unix(), list) // what it had is not what it has
	for i, at := range left {
		if s.othersHave(of[i]) {
			rest = append(rest, at.seq)
			continue
		}
		s.leave(at, of[i])
		s.write(`DELETE FROM items WHERE seq = ?`, at.seq)
		s.write(`DELETE FROM found WHERE seq = ?`, at.seq)
	}
	s.drop(rest)
	s.write(`UPDATE state SET purge_at = ?1,
		purge_entries = ?2 + CASE purge_at WHEN ?1 THEN purge_entries ELSE 0 END,
		purge_bytes = ?3 + CASE purge_at WHEN ?1 THEN purge_bytes ELSE 0 END, dead = dead + ?4`, at.Unix(),
		len(seqs), bytes, dead)
	return dropped
}

// drop removes entries, and with them their items.
func (w *writer) drop(seqs []int64) {
	const these = `IN (SELECT value FROM json_each(?))`
	list := jsonNumbers(seqs)
	for _, table := range []string{`stale`, `hidden`, `entries`} {
		w.write(`DELETE FROM `+table+` WHERE seq `+these, list)
	}
	for _, index := range indexes {
		w.write(`DELETE FROM `+index+` WHERE rowid `+these, list)
	}
}

// purgeOthers leaves to the owner, hidden, what is the same to others and goes as theirs.
func (s *writer) purgeOthers(at time.Time, ids []feed.EntryID) []bool {
	dropped := make([]bool, len(ids))
	own := make([]feed.EntryID, len(ids))
	for i := range ids {
		own[i] = turned(ids[i])
	}
	same := make(map[int]storedPlace)
	s.rows(`SELECT j.key, e.seq, e.feed FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value)
		WHERE `+isSettled+` AND e.source <> ''`, []any{jsonIDs(own)}, func(rows *sql.Rows) error {
		var i int
		var at storedPlace
		err := scan(rows, &i, &at.seq, &at.feed)
		same[i] = at
		return err
	})
	for i, id := range ids {
		if x, is := same[i]; is && !s.othersHave(own[i]) {
			dropped[i] = true
			s.write(`INSERT INTO purged (id, feed, seen, at, shown, digest)
				SELECT ?, ?, e.seen, ?, 0, e.digest FROM entries e WHERE e.seq = ? ON CONFLICT DO NOTHING`,
				id[:], s.apartFeed(x.feed), at.Unix(), x.seq)
			s.write(`INSERT INTO hidden VALUES (?) ON CONFLICT DO NOTHING`, x.seq)
			s.write(`UPDATE entries AS e SET confirmed = `+isConfirmed+`, polled = abs(polled) WHERE seq = ?`, x.seq)
		}
	}
	return dropped
}

// jsonNumbers is a list of numbers as a statement takes it.
func jsonNumbers[T ~int64 | ~uint32](list []T) string {
	text, _ := json.Marshal(list) // which cannot fail
	return string(text)
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

// whichPurged are the indices of records of entries that were purged and stay away. Others were purged no more, from
// the record on that brings them back.
func (s *Store) whichPurged(records []archive.Record) map[int]bool {
	if !s.anyPurged() {
		return nil
	}
	ids, was := archive.IDsOf(records), make(map[int]archive.Version)
	s.eachPurged(ids, func(i int, v archive.Version) { was[i] = v })
	gone, back := make(map[int]bool, len(was)), make(map[feed.EntryID]bool)
	for i := range records {
		v, purged := was[i]
		switch {
		case !purged || back[ids[i]]:
		case v.Admits(&records[i]):
			back[ids[i]] = true
			s.Readmit(ids[i : i+1])
		default:
			gone[i] = true
		}
	}
	return gone
}

// eachPurged calls f with each of the ids that was purged, and what is known of it.
func (s *Store) eachPurged(ids []feed.EntryID, f func(i int, v archive.Version)) {
	s.rows(`SELECT j.key, p.seen, p.shown, p.digest FROM json_each(?) j CROSS JOIN purged p ON p.id = unhex(j.value)`,
		[]any{jsonIDs(ids)}, func(rows *sql.Rows) error {
			var i int
			v := archive.Version{Purged: true}
			err := scan(rows, &i, seconds(&v.Seen), &v.Polled, maybeBytesOf(v.Gone[:]))
			if err == nil {
				f(i, v)
			}
			return err
		})
}

// indexes are the full-text indexes: of all words, and of those of the titles.
var indexes = []string{`words`, `headings`}

// mergePages is how many pages of each index one step writes when it merges parts of it: some milliseconds, unless one
// word alone fills more.
const mergePages = 32

// Tidy takes a step towards an index without the words of entries that are gone, in a transaction of its own, and
// reports whether there is another to take. As Index it is for a process that has the archive alone.
func (s *Store) Tidy() (more bool, err error) {
	if s.tx != nil {
		return false, wrap("tidy", s.path, errBusy)
	}
	more = s.merge(mergePages)
	err = s.Commit()
	return err == nil && more, err
}

// merge takes a step of so many pages; the first of those that merge the whole index is below zero.
func (s *writer) merge(pages int) (more bool) {
	var before, after int64
	for _, index := range indexes {
		s.row(`SELECT total_changes()`, nil, &before)
		s.write(`INSERT INTO `+index+` (`+index+`, rank) VALUES ('merge', ?)`, pages)
		s.row(`SELECT total_changes()`, nil, &after)
		more = more || after-before >= 2 // https://sqlite.org/fts5.html#the_merge_command
	}
	return more
}

// compact takes a step towards an index in one part, in which no purged entry has left any word. It begins where dead
// is below zero, and returns what it is called with the next time; below zero when it is done.
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

// forgetPurged looks at some of the entries that were purged, those after an id, and forgets those that were purged
// long ago and that nothing brings back. It returns the last that it looked at, and whether there are more.
func (s *writer) forgetPurged(now time.Time, after feed.EntryID) (last feed.EntryID, more bool) {
	const step = 2000
	more = s.row(`SELECT id FROM purged WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, []any{after[:], step - 1},
		bytesOf(last[:]))
	if !more {
		last = turned(feed.EntryID{}) // the highest
	}
	s.write(`DELETE FROM purged WHERE id > ? AND id <= ? AND at < ? AND (NOT shown OR feed NOT IN (SELECT id FROM `+
		`feeds WHERE subscribed))`,
		after[:], last[:], now.Add(-tombstoneLife).Unix())
	return last, more && s.err == nil
}
