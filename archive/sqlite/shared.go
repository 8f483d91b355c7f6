package sqlite

import (
	"database/sql"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// The version of an entry that others know, where it is not the one that the owner has (archive.Shared), is an entry of
// its own: its id is that of the entry with each bit turned over, and its feed that of the entry with a mark behind the
// URL, which no URL of a feed has. So whatever looks for the owner's entries, by their ids or by their feeds, does not
// come upon it. A version that neighbors brought is one entry, the owner's and theirs, until it is not the same to both
// any more.

// apartMark is the mark.
const apartMark = "#"

// apartOf is the feed that a row is of, and whether that is of what others know.
func apartOf(u feed.URL) (of feed.URL, apart bool) {
	text, apart := strings.CutSuffix(string(u), apartMark)
	return feed.URL(text), apart
}

// turned is an id with each bit turned over.
func turned(id feed.EntryID) feed.EntryID {
	for i := range id {
		id[i] = ^id[i]
	}
	return id
}

// isOwners is whether entry e is the owner's, and not what others know of one.
const isOwners = `e.feed NOT IN (SELECT id FROM feeds WHERE apart)`

// isSettled is whether entry e is of a feed that is followed discreetly, and was here before: others know it as it is.
const isSettled = `(EXISTS (SELECT 1 FROM feeds WHERE id = e.feed AND discreet) AND e.seq NOT IN (SELECT seq FROM ` +
	`hidden))`

// lookApart finds out what others may know otherwise, once in the life of a Store.
func (s *Store) lookApart() {
	if s.discreet != nil {
		return
	}
	discreet := make(map[feed.URL]bool)
	for _, u := range load(&s.writer, single[feed.URL], `SELECT url FROM feeds WHERE discreet`) {
		discreet[u] = true
	}
	differs := len(discreet) > 0 || s.row(`SELECT 1 FROM hidden UNION ALL SELECT 1 FROM feeds WHERE apart
		UNION ALL SELECT 1 FROM entries WHERE polled < 0 LIMIT 1`, nil, new(int))
	if s.err == nil {
		s.discreet, s.differs = discreet, s.differs || differs
	}
}

// noteDiscreet notes whether a feed is followed discreetly.
func (s *Store) noteDiscreet(u feed.URL, is bool) {
	s.lookApart()
	if is && s.err == nil {
		s.discreet[u], s.differs = true, true
	} else {
		delete(s.discreet, u)
	}
}

// isDiscreet reports whether a feed is followed discreetly, or was when it was followed last.
func (s *Store) isDiscreet(u feed.URL) bool {
	s.lookApart()
	return s.discreet[u]
}

// confine sees to it that what others know of a feed is the owner's alone where the feed is.
func (s *Store) confine(u feed.URL) {
	if s.lookApart(); s.differs {
		s.write(`UPDATE feeds SET (secret, private) = (SELECT f.secret, `+isConfidential+` FROM feeds f WHERE f.url `+
			`= ?) WHERE url = ?`,
			string(u), string(u+apartMark))
	}
}

// keepOwn is keep for what others need not know.
func (s *Store) keepOwn(r *archive.Record) (at storedPlace, isNew bool) {
	if !s.isDiscreet(r.Entry.Feed) {
		if at, isNew = s.keep(r); r.Source.IsZero() && s.differs {
			s.setRight(r.Seen, r.ID)
			s.Readmit([]feed.EntryID{turned(r.ID)})
		}
		return at, isNew
	}
	var seq int64
	var digest []byte
	var extras feed.Extras
	if s.row(`SELECT seq, digest, extras FROM entries WHERE id = ? AND seq NOT IN (SELECT seq FROM hidden)`,
		[]any{r.ID[:]}, &seq, &digest, jsonExtras(&extras)) {
		if slices.Equal(digest, r.Digest[:]) && (!r.Source.IsZero() || extras.Equal(&r.Entry.Extras)) {
			if r.Source.IsZero() {
				s.MarkPolled(r.Seen, []feed.EntryID{r.ID})
			}
			return storedPlace{}, false
		}
		if s.othersHave(r.ID) {
			s.write(`INSERT INTO hidden VALUES (?)`, seq)
		} else {
			s.part(seq, r)
		}
	}
	if at, isNew = s.keep(r); isNew {
		s.hideOwn(r, at)
	}
	return at, isNew
}

// hideOwn has others know nothing of a record that was stored there, where its feed is followed discreetly.
func (s *Store) hideOwn(r *archive.Record, at storedPlace) {
	if s.isDiscreet(r.Entry.Feed) {
		s.write(`INSERT INTO hidden VALUES (?)`, at.seq)
	}
}

// keepSpaced is keep for what neighbors bring. Of a feed that is followed discreetly the next seq stays free: should
// the entry come to be two, both have its place among the others.
func (s *Store) keepSpaced(r *archive.Record) (at storedPlace, isNew bool) {
	if at, isNew = s.keep(r); isNew && s.isDiscreet(r.Entry.Feed) {
		s.write(`UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'entries'`)
	}
	return at, isNew
}

// part makes two of an entry that is the same to everybody: one for others, and one for the owner that is hidden. An
// entry that was here before the feed was followed discreetly may have no room beside it; then others keep the place.
func (s *Store) part(seq int64, r *archive.Record) {
	own := s.feedID(r.Entry.Feed)
	var confirmed, known bool
	var polled, shown sql.NullInt64
	s.row(`SELECT `+isConfirmed+`, confirmed, abs(polled), iif(polled < 0, NULL, polled) FROM entries e WHERE seq = ?`,
		[]any{seq}, &confirmed, &known, &polled, &shown)
	if seq > 0 && !s.row(`SELECT 1 FROM entries WHERE seq = ?`, []any{seq + 1}, new(int)) {
		apart := s.apartFeed(own)
		s.copied(seq, seq+1, turned(r.ID), apart, known, shown)
		s.write(`INSERT INTO stale SELECT ?1 FROM state WHERE indexed >= ?1`, seq+1)
		s.write(`UPDATE entries SET confirmed = ?, polled = ? WHERE seq = ?`, confirmed, polled, seq)
		s.write(`INSERT INTO hidden VALUES (?)`, seq)
		s.paginate([]storedPlace{{seq + 1, apart}})
		return
	}
	apart := s.leave(storedPlace{seq, own}, r.ID)
	var next any
	if seq < 0 { // what was filled in is no news to the owner either
		var lowest int64
		s.row(`UPDATE state SET lowest = lowest - 1 RETURNING lowest`, nil, &lowest)
		s.write(`INSERT INTO stale VALUES (?)`, lowest)
		next = lowest
	}
	owners := s.copied(seq, next, r.ID, own, confirmed, polled)
	s.write(`INSERT INTO hidden VALUES (?)`, owners)
	s.write(`UPDATE items SET seq = ? WHERE seq = ?`, owners, seq)
	s.write(`UPDATE found SET seq = ? WHERE seq = ?`, owners, seq)
	s.paginate([]storedPlace{{owners, own}, {seq, apart}})
}

// copied stores a copy of an entry, with the next seq where it is nil, and returns its seq.
func (s *Store) copied(from int64, seq any, id feed.EntryID, u int64, confirmed bool, polled sql.NullInt64) int64 {
	to, _ := s.insertRow(`
		INSERT INTO entries (seq, id, digest, feed, published, updated, seen, source, guid, title, link,
			authors, categories, enclosures, rights, copied_from, extras, summary, content, confirmed, polled)
		SELECT ?, ?, digest, ?, published, updated, seen, source, guid, title, link,
			authors, categories, enclosures, rights, copied_from, extras, summary, content, ?, ?
		FROM entries WHERE seq = ?`, seq, id[:], u, confirmed, polled, from)
	return to
}

// setRight has others know an entry as an own poll showed it at that time, where they know it apart, and its feed is
// followed openly since. It returns what Unshown has no more of.
func (s *Store) setRight(at time.Time, id feed.EntryID) (shares []archive.Share) {
	if s.lookApart(); !s.differs || !s.othersHave(id) {
		return nil
	}
	kept := load(&s.writer, func(row rowScanner) (archive.Record, error) { return scanRecord(row) },
		`SELECT `+recordColumns+` FROM entries e JOIN feeds f ON f.id = e.feed WHERE e.id = ?`, id[:])
	if len(kept) == 0 || kept[0].ID != id || s.isDiscreet(kept[0].Entry.Feed) { // or id is of what others know
		return nil
	}
	r := forOthers(&kept[0])
	shares = s.MarkPolled(at, []feed.EntryID{r.ID})
	if r.Source, r.Seen = (protocol.NodeID{}), at; s.known([]feed.EntryID{r.ID})[0].Digest != r.Digest {
		s.replace(&r, true)
	}
	return shares
}

// othersHave reports whether others know of an entry what is apart from what the owner has.
func (w *writer) othersHave(id feed.EntryID) bool {
	id = turned(id)
	return w.row(`SELECT 1 FROM entries WHERE id = ?`, []any{id[:]}, new(int))
}

// leave leaves an entry that is the same to everybody to others, as they know it, and returns the feed that it is of
// then.
func (w *writer) leave(at storedPlace, id feed.EntryID) (apart int64) {
	apart = w.apartFeed(at.feed)
	id = turned(id)
	w.write(`UPDATE entries SET id = ?, feed = ?, polled = iif(polled < 0, NULL, polled) WHERE seq = ?`, id[:],
		apart, at.seq)
	return apart
}

// apartFeed is the row of what others know of a feed, made if there is none.
func (w *writer) apartFeed(own int64) (apart int64) {
	if !w.row(`SELECT id FROM feeds WHERE url = (SELECT url || ? FROM feeds WHERE id = ?)`,
		[]any{apartMark, own}, &apart) {
		w.row(`INSERT INTO feeds (id, url, secret, private, apart) SELECT `+nextFeed+`, f.url || ?, f.secret, `+
			isConfidential+`, 1 FROM feeds f WHERE f.id = ?
			RETURNING id`, []any{apartMark, own}, &apart)
	}
	return apart
}

// Shared implements archive.Entries.
func (s *Store) Shared() archive.Shared { return shared{s} }

// shared is the archive as others may know it.
type shared struct{ s *Store }

// Known implements archive.Shared.
func (x shared) Known(ids []feed.EntryID) []archive.Version {
	s := x.s
	versions := s.Known(ids)
	if s.lookApart(); !s.differs {
		return versions
	}
	done := 0
	for part := range slices.Chunk(ids, knownIDs) {
		x.known(part, versions[done:done+len(part)])
		done += len(part)
	}
	if s.err != nil {
		clear(versions)
	}
	return versions
}

// known puts right what others know otherwise of these entries.
func (x shared) known(ids []feed.EntryID, versions []archive.Version) {
	s := x.s
	list := jsonIDs(ids)
	s.rows(`SELECT j.key, `+isKnownConfirmed+
		` FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value) WHERE `+isOwnersPolled,
		[]any{list}, func(rows *sql.Rows) error {
			var i int
			var confirmed bool
			err := scan(rows, &i, &confirmed)
			versions[i].Confirmed, versions[i].Polled = confirmed, false
			return err
		})
	for _, query := range []string{
		`SELECT j.key FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value) WHERE e.seq IN (SELECT seq ` +
			`FROM hidden)`,
		`SELECT j.key FROM json_each(?) j CROSS JOIN purged p ON p.id = unhex(j.value) WHERE p.feed IN (SELECT id ` +
			`FROM feeds WHERE discreet)`,
	} {
		for _, i := range load(&s.writer, single[int], query, list) {
			versions[i] = archive.Version{}
		}
	}
	apart := make([]feed.EntryID, len(ids))
	for i := range ids {
		apart[i] = turned(ids[i])
	}
	for i, v := range s.known(apart) {
		if !v.New() {
			versions[i] = v
		}
	}
}

// Keep implements archive.Shared.
func (x shared) Keep(records []archive.Record) {
	s := x.s
	if s.lookApart(); !s.differs {
		s.Keep(records)
		return
	}
	for i := range records {
		if r := &records[i]; x.isApart(r) {
			apart := forOthers(r)
			if len(s.whichPurged([]archive.Record{apart})) > 0 {
				continue
			}
			if at, isNew := s.keep(&apart); isNew {
				s.paginate([]storedPlace{at})
			}
		} else {
			s.keepEach(records[i:i+1], s.keepSpaced)
		}
	}
}

// isApart reports whether what others know of an entry is apart from what the owner has, or is to be: what an own poll
// has shown the owner alone stays as it is where others come to know another version.
func (x shared) isApart(r *archive.Record) bool {
	s := x.s
	var seq int64
	switch {
	case s.othersHave(r.ID), s.row(`SELECT 1 FROM entries WHERE id = ? AND seq IN (SELECT seq FROM hidden)`,
		[]any{r.ID[:]}, new(int)):
		return true
	case s.row(`SELECT seq FROM entries e WHERE id = ?1 AND `+isOwnersPolled+` AND digest <> ?2 AND (?3 OR NOT `+
		isKnownConfirmed+`)`,
		[]any{r.ID[:], r.Digest[:], r.Confirmed}, &seq):
		s.part(seq, r)
		return true
	}
	if !s.anyPurged() {
		return false
	}
	both := []feed.EntryID{r.ID, turned(r.ID)}
	var was [2]archive.Version // to the owner and to others
	s.eachPurged(both, func(i int, v archive.Version) { was[i] = v })
	kept := func(v archive.Version) bool { return v.Purged && !v.Admits(r) }
	if kept(was[1]) || kept(was[0]) && s.isDiscreet(r.Entry.Feed) {
		return true
	}
	s.Readmit(both[1:])
	return false
}

// forOthers is a record as it is kept apart.
func forOthers(r *archive.Record) archive.Record {
	apart := *r
	apart.ID, apart.Entry.Feed = turned(r.ID), r.Entry.Feed+apartMark
	return apart
}

// Confirm implements archive.Shared.
func (x shared) Confirm(at time.Time, ids []feed.EntryID) {
	s := x.s
	if s.lookApart(); !s.differs {
		s.Confirm(at, ids)
		return
	}
	for _, id := range ids {
		if s.othersHave(id) {
			id = turned(id)
		}
		s.confirm(at, id, `confirmed = 1`, `NOT `+isKnownConfirmed+` AND e.seq NOT IN (SELECT seq FROM hidden)`)
	}
}
