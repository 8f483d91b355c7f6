package sqlite

import (
	"database/sql"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// What others know of an entry, where it is not what the owner has (archive.Shared), is an entry of its own: its id
// is that of the entry with each bit turned over, and its feed that of the entry with a mark behind the URL, which no
// URL of a feed has. So whatever looks for the owner's entries, by their ids or by their feeds, does not come upon
// it.

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
const isSettled = `(EXISTS (SELECT 1 FROM feeds WHERE id = e.feed AND discreet) AND e.seq NOT IN (SELECT seq FROM hidden))`

// lookApart finds out what others may know otherwise, once in the life of a Store.
func (s *Store) lookApart() {
	if s.discreet != nil {
		return
	}
	discreet := make(map[feed.URL]bool)
	s.rows(`SELECT url FROM feeds WHERE discreet`, nil, func(rows *sql.Rows) error {
		var u feed.URL
		err := scan(rows, &u)
		discreet[u] = true
		return err
	})
	differs := len(discreet) > 0 || s.row(`SELECT 1 FROM hidden UNION ALL SELECT 1 FROM feeds WHERE apart LIMIT 1`, nil, new(int))
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
		s.write(`UPDATE feeds SET (secret, private) = (SELECT f.secret, `+isConfidential+` FROM feeds f WHERE f.url = ?) WHERE url = ?`,
			string(u), string(u+apartMark))
	}
}

// keepOwn is keep for what others need not know.
func (s *Store) keepOwn(r *archive.Record) (at place, isNew bool) {
	if !s.isDiscreet(r.Entry.Feed) {
		return s.keep(r)
	}
	var seq int64
	var digest []byte
	if s.row(`SELECT seq, digest FROM entries WHERE id = ? AND seq NOT IN (SELECT seq FROM hidden)`, []any{r.ID[:]}, &seq, &digest) {
		if slices.Equal(digest, r.Digest[:]) {
			return place{}, false
		}
		s.part(seq, r)
	}
	if at, isNew = s.keep(r); isNew {
		s.hideOwn(r, at)
	}
	return at, isNew
}

// hideOwn has others know nothing of a record that was stored there, where its feed is followed discreetly.
func (s *Store) hideOwn(r *archive.Record, at place) {
	if s.isDiscreet(r.Entry.Feed) {
		s.write(`INSERT INTO hidden VALUES (?)`, at.seq)
	}
}

// part leaves an entry that is the same to everybody to others, and gives the owner a copy that is hidden.
func (s *Store) part(seq int64, r *archive.Record) {
	own, apart := s.feedID(r.Entry.Feed), s.feedID(r.Entry.Feed+apartMark)
	id := turned(r.ID)
	s.write(`UPDATE entries SET id = ?, feed = ? WHERE seq = ?`, id[:], apart, seq)
	var next any
	if seq < 0 { // what was filled in is no news to the owner either
		var lowest int64
		s.row(`UPDATE state SET lowest = lowest - 1 RETURNING lowest`, nil, &lowest)
		s.write(`INSERT INTO stale VALUES (?)`, lowest)
		next = lowest
	}
	copied, _ := s.insertRow(`
		INSERT INTO entries (seq, id, digest, feed, published, updated, seen, source, guid, title, link,
			authors, categories, enclosures, summary, content, confirmed, polled)
		SELECT ?, ?, digest, ?, published, updated, seen, source, guid, title, link,
			authors, categories, enclosures, summary, content, confirmed, polled
		FROM entries WHERE seq = ?`, next, r.ID[:], own, seq)
	s.write(`INSERT INTO hidden VALUES (?)`, copied)
	s.write(`UPDATE items SET seq = ? WHERE seq = ?`, copied, seq)
	s.paginate([]place{{copied, own}, {seq, apart}})
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
	for _, query := range []string{
		`SELECT j.key FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value) WHERE e.seq IN (SELECT seq FROM hidden)`,
		`SELECT j.key FROM json_each(?) j CROSS JOIN purged p ON p.id = unhex(j.value) WHERE p.feed IN (SELECT id FROM feeds WHERE discreet)`,
	} {
		s.rows(query, []any{list}, func(rows *sql.Rows) error {
			var i int
			err := scan(rows, &i)
			versions[i] = archive.Version{}
			return err
		})
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
				s.paginate([]place{at})
			}
		} else if s.isDiscreet(r.Entry.Feed) { // it was here before
			s.keep(r)
		} else {
			s.Keep(records[i : i+1])
		}
	}
}

// isApart reports whether what others know of an entry is, or would be, apart from what the owner has.
func (x shared) isApart(r *archive.Record) bool {
	s := x.s
	id := turned(r.ID)
	switch {
	case s.row(`SELECT 1 FROM entries WHERE id = ?`, []any{id[:]}, new(int)):
		return true
	case s.isDiscreet(r.Entry.Feed):
		return !s.row(`SELECT 1 FROM entries WHERE id = ? AND seq NOT IN (SELECT seq FROM hidden)`, []any{r.ID[:]}, new(int))
	}
	return s.row(`SELECT 1 FROM entries WHERE id = ? AND seq IN (SELECT seq FROM hidden)`, []any{r.ID[:]}, new(int))
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
		if apart := turned(id); s.row(`SELECT 1 FROM entries WHERE id = ?`, []any{apart[:]}, new(int)) {
			id = apart
		}
		s.confirm(at, id, `e.seq NOT IN (SELECT seq FROM hidden)`)
	}
}
