package sqlite

import (
	"cmp"

	"feedex/archive"
	"feedex/reading"
)

// Items are made of entries when these arrive, or when their feed begins to be followed.

// newestSeq is the highest seq so far, 0 for none.
func (s *Store) newestSeq() (seq int64) {
	s.row(`SELECT coalesce(max(seq), 0) FROM entries`, nil, &seq)
	return max(seq, 0)
}

// arrived makes items of the entries behind a seq, but for copies of those that had one: news to all who read their
// feeds.
func (s *Store) arrived(after int64) {
	last := s.lastItem()
	s.write(`INSERT INTO items (seq, feed, arrived) SELECT e.seq, e.feed, e.seen FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq > ? AND f.subscribed ORDER BY e.seq ON CONFLICT (seq) DO NOTHING`, after)
	s.write(`INSERT INTO marks (person, item, feed, arrived, listed, read)
		SELECT p.id, i.id, i.feed, i.arrived, 1, 0 FROM people p CROSS JOIN items i WHERE i.id > ? AND NOT `+
		isLeftOut+` ORDER BY p.id, i.id`, last)
}

// isLeftOut is whether person p has left out the feed of item i.
const isLeftOut = `EXISTS (SELECT 1 FROM left_out WHERE feed = i.feed AND person = p.id)`

// lastItem is the highest number of an item that is there, 0 for none.
func (s *Store) lastItem() (id int64) {
	s.row(`SELECT coalesce(max(id), 0) FROM items`, nil, &id)
	return id
}

// backlog has those of the entries no news, but the latest, that the first poll of a feed has brought so far. What a
// rule did to them while they were the latest is nothing then.
func (s *Store) backlog(id int64) {
	var f archive.Feed
	s.row(`SELECT backlog, backlog_of FROM feeds WHERE id = ?`, []any{id}, &f.Backlog, &f.BacklogOf)
	for _, chose := range []bool{true, false} {
		s.write(`DELETE FROM marks WHERE person IN `+whoChose+` AND (NOT read AND NOT starred OR marked IS NULL)
			AND NOT `+isLabelled+` AND item IN (SELECT i.id FROM items i WHERE i.seq IN (
				SELECT seq FROM entries INDEXED BY entries_by_feed WHERE feed = ?1 AND seq > 0 AND source = '' ORDER BY seq DESC
				LIMIT -1 OFFSET max(0, ?2 - (SELECT count(*) FROM entries WHERE feed = ?1 AND seq > 0 AND source <> ''))))`,
			id, unreadAtFirst(&f, chose), chose, chooser(&f))
	}
	if s.catch().index.Len() > 0 {
		s.write(`UPDATE caught SET did = '', acted = NULL WHERE did <> '' AND item IN (SELECT id FROM items WHERE feed = ? AND seq > 0)
			AND NOT EXISTS (SELECT 1 FROM filters f JOIN marks m ON m.person = f.person WHERE f.id = caught.filter
				AND m.item = caught.item)`, id)
		s.write(`DELETE FROM labelled WHERE filter IS NOT NULL AND item IN (SELECT id FROM items WHERE feed = ? AND seq > 0)
			AND NOT EXISTS (SELECT 1 FROM labels n JOIN marks m ON m.person = n.person WHERE n.id = labelled.label
				AND m.item = labelled.item)`, id)
	}
}

// whoChose are the people who have a backlog: ?4, who chose how much it is, or all others, as ?3 says.
const whoChose = `(SELECT id FROM people WHERE (id = ?4) = ?3)`

// chooser is who chose the backlog of a feed.
func chooser(f *archive.Feed) int64 { return cmp.Or(f.BacklogOf, int64(reading.Owner)) }

// unreadAtFirst is how much of what there is of a feed is unread to who chose that, or to all others.
func unreadAtFirst(f *archive.Feed, chose bool) int {
	if chose {
		return f.Backlog.Unread()
	}
	return archive.FirstUnread
}

// filledIn makes items of the entries below a seq. They are news to nobody.
func (s *Store) filledIn(at, below int64) {
	s.write(`INSERT INTO items (seq, feed, arrived) SELECT e.seq, e.feed, ? FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq < ? AND f.subscribed ORDER BY e.seq`, at, below)
}

// followed makes items of the entries of a feed that is followed now and was not before.
func (s *Store) followed(id int64, f *archive.Feed) {
	last := s.lastItem()
	for _, table := range []string{`unfollowed`, `left_out`} { // who follows it anew has it come to the owner, too
		s.write(`DELETE FROM `+table+` WHERE feed = ? AND person = ?`, id, reading.Owner)
	}
	s.write(`INSERT INTO items (seq, feed, arrived) SELECT seq, feed, coalesce(?2, seen) FROM entries
		WHERE feed = ?1 AND seq NOT IN (SELECT seq FROM items WHERE feed = ?1) ORDER BY seq`, id, seconds(&f.Since))
	for _, chose := range []bool{true, false} {
		s.write(`INSERT INTO marks (person, item, feed, arrived, listed, read)
			SELECT p.id, i.id, i.feed, i.arrived, 1, 0 FROM people p CROSS JOIN items i WHERE p.id IN `+whoChose+`
				AND i.id > ?5 AND i.seq IN (`+latestOf+`) AND NOT `+isLeftOut+` ORDER BY p.id, i.id`, id,
			unreadAtFirst(f, chose), chose, chooser(f), last)
	}
	s.catchFollowed(id, last, f.Since)
}

// latestOf are the latest entries of feed ?1 that arrived, ?2 of them.
const latestOf = `SELECT seq FROM entries INDEXED BY entries_by_feed WHERE feed = ?1 AND seq > 0
	ORDER BY seq DESC LIMIT ?2`
