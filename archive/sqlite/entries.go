package sqlite

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// knownIDs is how many ids one statement looks up. It takes a list of them, which costs a third of as many
// statements.
const knownIDs = 256

// Known implements archive.Entries.
func (s *Store) Known(ids []feed.EntryID) []archive.Version {
	versions := make([]archive.Version, 0, len(ids))
	for part := range slices.Chunk(ids, knownIDs) {
		versions = append(versions, s.known(part)...)
	}
	return versions
}

func (s *Store) known(ids []feed.EntryID) []archive.Version {
	versions := make([]archive.Version, len(ids))
	s.rows(`SELECT j.key, e.digest, e.extras, e.published, e.updated, e.seen, `+isConfirmed+`, `+isPolled+`
		FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value)`, []any{jsonIDs(ids)},
		func(rows *sql.Rows) error {
			var i int
			var v archive.Version
			var extras feed.Extras
			err := scan(rows, &i, bytesOf(v.Digest[:]), jsonExtras(&extras), seconds(&v.Published), seconds(&v.Updated),
				seconds(&v.Seen), &v.Confirmed, &v.Polled)
			if err == nil {
				v.Extras = extras.Sum()
				versions[i] = v
			}
			return err
		})
	if s.anyPurged() {
		s.eachPurged(ids, func(i int, v archive.Version) { versions[i] = v })
	}
	if s.err != nil {
		clear(versions)
	}
	return versions
}

// jsonIDs is a list of ids as a statement takes it.
func jsonIDs(ids []feed.EntryID) string {
	list := make([]byte, 0, 43*len(ids)+2)
	for i := range ids {
		list = append(list, ',', '"')
		list = hex.AppendEncode(list, ids[i][:])
		list = append(list, '"')
	}
	if len(list) == 0 {
		return "[]"
	}
	list[0] = '['
	return string(append(list, ']'))
}

// Keep implements archive.Entries.
func (s *Store) Keep(records []archive.Record) {
	if len(records) == 0 {
		return
	}
	s.keepEach(records, s.keepOwn)
}

// keepEach has keep store each record that does not stay away, and sees to what follows from those that are new.
func (s *Store) keepEach(records []archive.Record, keep func(*archive.Record) (at storedPlace, isNew bool)) {
	s.begin() // what is read here is to hold until it is written
	newest, last := s.newestSeq(), s.lastItem()
	var news counted
	var stored []storedPlace
	var kept []*archive.Record // each where stored has its place
	gone := s.whichPurged(records)
	for i := range records {
		if gone[i] {
			continue
		}
		if at, ok := keep(&records[i]); ok {
			stored, kept = append(stored, at), append(kept, &records[i])
			news.add(&records[i])
		}
	}
	if len(stored) > 0 {
		arrived := slices.Clone(stored) // which is put into another order
		s.paginate(stored)
		s.arrived(newest)
		s.countNews(&news) // and of what a first poll brings, most is none
		s.catchItems(kept[0].Seen.Unix(), s.arrivals(last, arrived, kept))
		s.announce(last)
	}
}

// keep stores a record and reports whether it is a new one, and where it stands then.
func (s *Store) keep(r *archive.Record) (at storedPlace, isNew bool) {
	polled := r.Source.IsZero()
	if at, ok := s.insert(nil, r, r.Confirmed || polled, sql.NullInt64{}); ok || s.err != nil {
		return at, ok
	}
	// SQLite has taken a number for the row that it then did not insert; it gets it back.
	s.write(`UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'entries'`)
	s.replace(r, polled)
	return storedPlace{}, false
}

// replace puts a record, which an own poll has shown or a neighbor brought, into the place of the version that is kept,
// unless more speaks for that.
func (s *Store) replace(r *archive.Record, polled bool) {
	if polled {
		s.MarkPolled(r.Seen, []feed.EntryID{r.ID}) // nothing speaks for more
	}
	e := &r.Entry
	if s.write(`
		UPDATE entries AS e SET digest = ?1, published = ?2, updated = ?3, guid = ?4, title = ?5, link = ?6,
			authors = ?7, categories = ?8, enclosures = ?9, summary = ?10, content = ?11, confirmed = ?12 OR confirmed AND digest = ?1,
			rights = ?15, copied_from = ?16, extras = iif(?14 OR digest <> ?1, ?17, extras),
			polled = iif(?14, abs(polled), polled), changed = (SELECT replaced + 1 FROM feeds WHERE id = feed)
		WHERE id = ?13 AND (?14 OR digest = ?1 OR NOT `+isPolled+` AND (?12 OR NOT `+isConfirmed+`))`,
		r.Digest[:], seconds(&e.Published), seconds(&e.Updated), e.ID, e.Title, e.Link, jsonList(&e.Authors),
		jsonList(&e.Categories), jsonList(&e.Enclosures), e.Summary, e.Content, r.Confirmed || polled,
		r.ID[:], polled, jsonList(&e.Rights), jsonValue(&e.CopiedFrom),
		jsonExtras(&e.Extras)) == 0 {
		return
	}
	s.write(`
		INSERT INTO stale SELECT seq FROM entries WHERE id = ? AND seq <= (SELECT indexed FROM state)
		ON CONFLICT DO NOTHING`, r.ID[:])
	s.write(`UPDATE feeds SET replaced = replaced + 1, replaced_at = max(?, coalesce(replaced_at, 0)) WHERE id = ?`,
		r.Seen.Unix(), s.feedID(e.Feed))
	s.edited(r)
}

// A storedPlace is where an entry stands that was stored: its row, and that of its feed.
type storedPlace struct{ seq, feed int64 }

// insert stores a record that is not kept yet, with the next seq where it is nil, and reports whether it did. polled is
// the column. Its caller has to paginate.
func (s *Store) insert(seq any, r *archive.Record, confirmed bool, polled sql.NullInt64) (at storedPlace, stored bool) {
	e := &r.Entry
	at.feed = s.feedID(e.Feed)
	at.seq, stored = s.insertRow(`
		INSERT INTO entries (seq, id, digest, feed, published, updated, seen, source, guid, title, link,
			authors, categories, enclosures, rights, copied_from, extras, summary, content, confirmed, polled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		seq, r.ID[:], r.Digest[:], at.feed, seconds(&e.Published), seconds(&e.Updated), r.Seen.Unix(),
		r.Source.String(), e.ID, e.Title, e.Link, jsonList(&e.Authors), jsonList(&e.Categories),
		jsonList(&e.Enclosures), jsonList(&e.Rights), jsonValue(&e.CopiedFrom),
		jsonExtras(&e.Extras), e.Summary, e.Content, confirmed, polled)
	return at, stored
}

// Fill implements archive.Entries. Entries with a seq below zero are all brought into the index as if they had
// been replaced.
func (s *Store) Fill(at time.Time, records []archive.Record) []bool {
	if len(records) == 0 {
		return nil
	}
	s.begin()
	var oldest int64
	s.row(`SELECT lowest FROM state`, nil, &oldest)
	stored, seq := make([]bool, len(records)), oldest
	var places []storedPlace
	var kept []*archive.Record // each where places has its place
	gone := s.whichPurged(records)
	for i := range records {
		if gone[i] {
			continue
		}
		r := &records[i]
		polled := sql.NullInt64{Int64: at.Unix(), Valid: r.Confirmed && r.Source.IsZero()}
		var where storedPlace
		if where, stored[i] = s.insert(seq-1, r, r.Confirmed, polled); stored[i] {
			places, kept = append(places, where), append(kept, r)
			seq--
			s.hideOwn(r, where)
		}
	}
	if seq < oldest {
		last, filled := s.lastItem(), slices.Clone(places) // which are put into another order
		s.paginate(places)
		s.write(`UPDATE state SET lowest = ?`, seq)
		s.write(`INSERT INTO stale SELECT seq FROM entries INDEXED BY entries_by_seq WHERE seq < ?`, oldest)
		s.write(`
			UPDATE feeds SET replaced_at = max(?1, coalesce(replaced_at, 0)), replaced = replaced + added.n
			FROM (SELECT feed, count(*) AS n FROM entries INDEXED BY entries_by_seq WHERE seq < ?2 GROUP BY feed) AS added
			WHERE id = added.feed`, at.Unix(), oldest)
		s.filledIn(at.Unix(), oldest)
		s.catchItems(at.Unix(), s.arrivals(last, filled, kept))
	}
	return stored
}

const (
	// isKnownConfirmed is whether entry e is confirmed, as far as others may know.
	isKnownConfirmed = `(e.confirmed OR e.source = '' AND e.seq > 0)`
	// isOwnersPolled is whether an own poll has shown entry e, as it is, and others must not know; the index
	// entries_owners has those alone.
	isOwnersPolled = `(e.polled IS NOT NULL AND e.polled < 0)`
	// isConfirmed is whether entry e is confirmed.
	isConfirmed = `(` + isKnownConfirmed + ` OR ` + isOwnersPolled + `)`
	// isPolled is whether an own poll has shown entry e, as it is.
	isPolled = `(e.source = '' AND e.seq > 0 OR e.confirmed AND e.polled IS NOT NULL OR ` + isOwnersPolled + `)`
	// isUnshown is whether a neighbor brought entry e and no own poll has listed it, in whatever version; the index
	// entries_unshown has those alone.
	isUnshown = `(e.source <> '' AND e.polled IS NULL)`
)

// Confirm implements archive.Entries. To readers of the feed it is a change like any other, but of what was filled in
// and is no news: that they need not be told again.
func (s *Store) Confirm(at time.Time, ids []feed.EntryID) {
	for _, id := range ids {
		s.confirm(at, id, `confirmed = 1`, `NOT `+isConfirmed+` AND NOT `+isSettled)
	}
}

// confirm writes what makes an entry a confirmed one, if the condition holds of entry e.
func (s *Store) confirm(at time.Time, id feed.EntryID, set, condition string) {
	if s.write(`
		UPDATE entries AS e SET `+set+`,
			changed = CASE WHEN seq > 0 THEN (SELECT replaced + 1 FROM feeds WHERE id = e.feed) ELSE changed END
		WHERE id = ? AND `+condition, id[:]) > 0 {
		s.write(`
			UPDATE feeds SET replaced = replaced + 1, replaced_at = max(?, coalesce(replaced_at, 0))
			WHERE id = (SELECT feed FROM entries WHERE id = ?)`, at.Unix(), id[:])
	}
}

// MarkPolled implements archive.Entries. An entry that was filled in is no news, and nobody was earlier with it. Where
// others must not know, the time of the poll is below zero, until a poll shows the entry that they may know of.
func (s *Store) MarkPolled(at time.Time, ids []feed.EntryID) (shares []archive.Share) {
	hour := archive.Hour{At: at}
	for i := range ids {
		shares = append(shares, s.setRight(at, ids[i])...)
		var seq, seen, size int64
		var source protocol.NodeID
		var u feed.URL
		var settled, hidden, listed, owners bool
		if !s.row(`SELECT e.seq, e.seen, e.source, f.url, e.size, `+isSettled+
			`, e.seq IN (SELECT seq FROM hidden), e.polled IS NOT NULL, `+isOwnersPolled+`
			FROM entries e JOIN feeds f ON f.id = e.feed
			WHERE e.id = ? AND (NOT `+isPolled+` OR `+isOwnersPolled+` AND NOT `+isSettled+`)`, []any{ids[i][:]},
			&seq, &seen, spelled{&source}, &u, &size, &settled, &hidden, &listed, &owners) {
			continue
		}
		if polled := at.Unix(); settled {
			s.confirm(at, ids[i], `polled = -1`, `NOT `+isConfirmed) // readers of the feed hear of that
			s.write(`UPDATE entries SET polled = ? WHERE seq = ?`, -max(polled, 1), seq)
		} else {
			s.confirm(at, ids[i], `confirmed = 1`, `NOT `+isKnownConfirmed)
			s.write(`UPDATE entries SET polled = coalesce(abs(polled), ?) WHERE seq = ?`, polled, seq)
		}
		if seq < 0 || listed && !owners { // before that was written down
			continue
		}
		u, apart := apartOf(u)
		if !listed && !apart {
			hour.Compared++
			hour.Ahead += time.Duration(max(0, at.Unix()-seen)) * time.Second
		}
		if !settled && !hidden {
			shares = append(shares, archive.Share{Source: source, Feed: u, At: time.Unix(seen, 0).UTC(), Entries: 1,
				Room: archive.Room(size)})
		}
	}
	if hour.Compared > 0 {
		s.addHour(hour)
	}
	return shares
}

// roomOf is archive.Room of entry e.
var roomOf = fmt.Sprintf(`(%d + e.size * %d / 10 + %d * min(e.size, %d))`, archive.EntryRoom, archive.TextRoom,
	archive.WordRoom, archive.MaxFoldedBytes)

// Unshown implements archive.Entries.
func (s *Store) Unshown(since time.Time) []archive.Share {
	const unshown = `SELECT e.source, f.url, e.seen / 3600 * 3600, count(*), sum(%s) FROM entries e INDEXED BY %s
		JOIN feeds f ON f.id = e.feed WHERE %s AND e.seq > 0 AND e.seen >= ?1 AND e.seq NOT IN (SELECT seq FROM hidden) GROUP BY 1, 2, 3`
	return load(&s.writer, func(row rowScanner) (x archive.Share, err error) {
		err = scan(row, spelled{&x.Source}, &x.Feed, seconds(&x.At), &x.Entries, &x.Room)
		x.Feed, _ = apartOf(x.Feed)
		return x, err
	}, fmt.Sprintf(unshown, roomOf, `entries_unshown`, isUnshown)+` UNION ALL `+
		fmt.Sprintf(unshown, roomOf, `entries_owners`, isOwnersPolled+` AND e.source <> ''`)+` ORDER BY 1, 2, 3`,
		since.Unix())
}

// Hide implements archive.Entries.
func (s *Store) Hide(ids []feed.EntryID) {
	s.differs = s.differs || len(ids) > 0
	for i := range ids {
		s.write(`INSERT INTO hidden SELECT seq FROM entries WHERE id = ? ON CONFLICT DO NOTHING`, ids[i][:])
	}
}

// Arrivals implements archive.Entries.
func (s *Store) Arrivals(u feed.URL, n int) []archive.Arrival {
	return load(&s.writer, by(func(a *archive.Arrival) []any { return []any{&a.Time, &a.Seen} }),
		`SELECT e.time, e.seen FROM entries e INDEXED BY entries_by_feed
		WHERE e.feed = (SELECT id FROM feeds WHERE url = ?) AND e.seq > 0 AND `+isPolled+` ORDER BY e.seq DESC LIMIT ?`,
		string(u), max(n, 0))
}

// Holds implements archive.Entries.
func (s *Store) Holds(u feed.URL) bool {
	return s.row(`SELECT 1 FROM entries e INDEXED BY entries_by_feed
		WHERE e.feed = (SELECT id FROM feeds WHERE url = ?) LIMIT 1`, []any{string(u)}, new(int))
}

// Starred implements archive.Entries.
func (s *Store) Starred(u feed.URL, n int) []feed.EntryID {
	return load(&s.writer, func(row rowScanner) (id feed.EntryID, err error) {
		err = scan(row, bytesOf(id[:]))
		return id, err
	}, `SELECT e.id FROM marks m INDEXED BY marks_starred_of_feed CROSS JOIN items i ON i.id = m.item
			CROSS JOIN entries e ON e.seq = i.seq
		WHERE m.person = ?1 AND m.feed = (SELECT id FROM feeds WHERE url = ?2) AND m.starred
			AND e.seq NOT IN (SELECT seq FROM hidden)
			AND NOT EXISTS (SELECT 1 FROM caught c INDEXED BY caught_by_item CROSS JOIN filters f ON f.id = c.filter
				WHERE c.item = m.item AND c.did = ?4 AND f.person = m.person)
		ORDER BY m.item DESC LIMIT ?3`, reading.Owner, string(u), max(n, 0), string(reading.RuleStar))
}

// labelledAmong is of how many of a feed's latest items it is asked what labels they have.
const labelledAmong = 1000

// Labelled implements archive.Entries.
func (s *Store) Labelled(u feed.URL, n, bytes int) []archive.Labelled {
	return load(&s.writer, func(row rowScanner) (l archive.Labelled, err error) {
		err = scan(row, &l.Name, bytesOf(l.Entry[:]))
		return l, err
	}, `SELECT n.name, e.id FROM (SELECT id, seq FROM items INDEXED BY items_by_feed
			WHERE feed = (SELECT id FROM feeds WHERE url = ?) ORDER BY id DESC LIMIT ?) i
			CROSS JOIN labelled l INDEXED BY labelled_by_item ON l.item = i.id
			CROSS JOIN labels n ON n.id = l.label CROSS JOIN entries e ON e.seq = i.seq
		WHERE l.filter IS NULL AND n.person = ? AND octet_length(n.name) <= ? AND e.seq NOT IN (SELECT seq FROM hidden)
		ORDER BY i.id DESC, n.name LIMIT ?`, string(u), labelledAmong, reading.Owner, bytes, max(n, 0))
}

// recordColumns are the columns that scanRecord wants, from entries e and feeds f.
const recordColumns = `e.seq, e.id, e.digest, f.url, e.published, e.updated, e.seen, e.source, e.guid, e.title, e.link,
	e.authors, e.categories, e.enclosures, e.rights, e.copied_from, e.extras, e.summary, e.content, e.was, ` + isConfirmed

// scanRecord reads one row of recordColumns, and what is selected behind them. A row that does not decode was not
// written by us.
func scanRecord(row rowScanner, more ...any) (r archive.Record, err error) {
	e := &r.Entry
	columns := []any{&r.Seq, bytesOf(r.ID[:]), bytesOf(r.Digest[:]), &e.Feed, seconds(&e.Published),
		seconds(&e.Updated), seconds(&r.Seen), spelled{&r.Source}, &e.ID, &e.Title, &e.Link,
		jsonList(&e.Authors), jsonList(&e.Categories), jsonList(&e.Enclosures),
		jsonList(&e.Rights), jsonValue(&e.CopiedFrom), jsonExtras(&e.Extras), &e.Summary, &e.Content,
		maybeBytesOf(r.Was[:]), &r.Confirmed}
	if err := scan(row, append(columns, more...)...); err != nil {
		if r.Seq != 0 {
			err = fmt.Errorf("entry %d: %w", r.Seq, err)
		}
		return r, err
	}
	if of, apart := apartOf(e.Feed); apart {
		r.ID, e.Feed = turned(r.ID), of
	}
	return r, nil
}
