package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// newestSeq is the highest seq so far, 0 for none.
func (s *Store) newestSeq() (seq int64) {
	s.row(`SELECT coalesce(max(seq), 0) FROM entries`, nil, &seq)
	return max(seq, 0)
}

// arrived makes items of the entries behind a seq, but for copies of those that had one.
func (s *Store) arrived(after int64) {
	s.write(`INSERT INTO items (seq, feed, arrived, listed, read)
		SELECT e.seq, e.feed, e.seen, 1, 0 FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq > ? AND f.subscribed ORDER BY e.seq ON CONFLICT (seq) DO NOTHING`, after)
}

// backlog has those of the entries read, but the latest, that the first poll of a feed has brought so far.
func (s *Store) backlog(id int64) {
	s.write(`UPDATE items SET read = 1, listed = 0 WHERE feed = ?1 AND NOT read AND NOT starred AND seq IN (
		SELECT seq FROM entries INDEXED BY entries_by_feed WHERE feed = ?1 AND seq > 0 AND source = '' ORDER BY seq DESC
		LIMIT -1 OFFSET max(0, ?2 - (SELECT count(*) FROM entries WHERE feed = ?1 AND seq > 0 AND source <> '')))`,
		id, reading.FirstUnread)
}

// filledIn makes items of the entries below a seq.
func (s *Store) filledIn(at, below int64) {
	s.write(`INSERT INTO items (seq, feed, arrived, listed, read)
		SELECT e.seq, e.feed, ?, 0, 1 FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq < ? AND f.subscribed ORDER BY e.seq`, at, below)
}

// followed makes items of the entries of a feed that is followed now and was not before.
func (s *Store) followed(id int64, f *archive.Feed) {
	s.write(`INSERT INTO items (seq, feed, arrived, listed, read)
		SELECT seq, feed, coalesce(?2, seen), new, NOT new FROM (
			SELECT seq, feed, seen, seq >= coalesce((SELECT min(seq) FROM (
				SELECT seq FROM entries INDEXED BY entries_by_feed WHERE feed = ?1 AND seq > 0 ORDER BY seq DESC LIMIT ?3)), seq + 1) AS new
			FROM entries WHERE feed = ?1)
		WHERE seq NOT IN (SELECT seq FROM items WHERE feed = ?1) ORDER BY seq`, id, seconds(&f.Since), reading.FirstUnread)
}

// Mark implements reading.Marking.
func (s *Store) Mark(at time.Time, ids []reading.ItemID, m reading.Mark) {
	if len(ids) == 0 {
		return
	}
	for _, change := range changes(m) {
		s.write(`UPDATE items SET marked = ?, `+change.set+` WHERE id IN (SELECT value FROM json_each(?)) AND `+
			change.where, at.Unix(), jsonNumbers(ids))
	}
}

// MarkStream implements reading.Marking.
func (s *Store) MarkStream(at time.Time, stream reading.Stream, m reading.Mark, limit int) (more bool) {
	if m.Read == reading.Yes && stream.Read == reading.Either {
		stream.Read = reading.No // the others need no mark, and these have an index
	}
	for _, change := range changes(m) {
		where, args := streamWhere(stream)
		query := `UPDATE items SET marked = ?, ` + change.set + ` WHERE id IN (SELECT i.id FROM ` + streamFrom(stream) +
			` WHERE ` + where +
			` AND ` + change.where + ` LIMIT ?)`
		more = s.write(query, slices.Concat([]any{at.Unix()}, args, []any{limit})...) == int64(limit) || more
	}
	return more && s.err == nil
}

// A change is the assignment of an UPDATE, and the condition under which that changes anything.
type change struct{ set, where string }

func changes(m reading.Mark) (list []change) {
	switch m.Read {
	case reading.Yes:
		list = append(list, change{`read = 1`, `read = 0`})
	case reading.No:
		list = append(list, change{`read = 0, listed = 1`, `read = 1`})
	}
	switch m.Starred {
	case reading.Yes:
		list = append(list, change{`starred = 1`, `starred = 0`})
	case reading.No:
		list = append(list, change{`starred = 0`, `starred = 1`})
	}
	return list
}

// streamFrom is where the items of a stream are looked for: where there are the fewest others among them.
func streamFrom(s reading.Stream) string {
	switch {
	case s.Among != nil:
		return `items i NOT INDEXED` // but by their ids
	case s.Feed != 0:
		return `items i INDEXED BY items_by_feed`
	case s.Starred == reading.Yes:
		return `items i INDEXED BY items_starred`
	case s.Read == reading.No:
		return `items i INDEXED BY items_unread`
	}
	return `items i NOT INDEXED` // but in the order of their ids
}

// streamWhere is the condition on items i of a stream.
func streamWhere(s reading.Stream) (where string, args []any) {
	var all []string
	and := func(condition string, values ...any) {
		all, args = append(all, condition), append(args, values...)
	}
	if s.Among != nil {
		and(`i.id IN (SELECT value FROM json_each(?))`, jsonNumbers(s.Among))
	}
	if s.Feed != 0 {
		and(`i.feed = ?`, int64(s.Feed))
		and(`EXISTS (SELECT 1 FROM feeds WHERE id = i.feed AND subscribed)`)
	} else {
		and(`i.feed IN (SELECT id FROM feeds WHERE subscribed)`)
	}
	if s.Folder != 0 {
		and(`i.feed IN (SELECT feed FROM filed WHERE folder = ?)`, int64(s.Folder))
	}
	switch s.Read {
	case reading.Yes:
		and(`i.read`)
	case reading.No:
		and(`NOT i.read`)
	}
	switch s.Starred {
	case reading.Yes:
		and(`i.starred`)
	case reading.No:
		and(`NOT i.starred`)
	}
	if !s.Changed.IsZero() {
		and(`(i.arrived >= ? AND i.listed OR i.marked >= ?)`, ceilSeconds(s.Changed), ceilSeconds(s.Changed))
	} else if !s.Unlisted && s.Starred != reading.Yes && s.Read != reading.No {
		and(`i.listed`)
	}
	if !s.Since.IsZero() {
		and(`i.arrived >= ?`, ceilSeconds(s.Since))
	}
	if !s.Until.IsZero() {
		and(`i.arrived < ?`, ceilSeconds(s.Until))
	}
	return strings.Join(all, " AND "), args
}

// Size implements reading.Items.
func (r *Reader) Size(ctx context.Context, s reading.Stream) (n int, err error) {
	where, args := streamWhere(s)
	err = scan(r.db.QueryRowContext(ctx, `SELECT count(*) FROM `+streamFrom(s)+` WHERE `+where, args...), &n)
	return n, r.failed(ctx, "read", err)
}

// IDs implements reading.Items.
func (r *Reader) IDs(ctx context.Context, s reading.Stream, p reading.Page) (ids []reading.ItemID, err error) {
	where, args := streamWhere(s)
	order := ` ORDER BY i.id DESC`
	if p.Oldest {
		order = ` ORDER BY i.id`
	}
	if p.After > 0 {
		if p.Oldest {
			where += ` AND i.id > ?`
		} else {
			where += ` AND i.id < ?`
		}
		args = append(args, int64(p.After))
	}
	args = append(args, min(max(p.Limit, 0), reading.MaxPage))
	var list []byte // one row: the driver takes as long for each as SQLite for a hundred
	query := `SELECT json_group_array(id) FROM (SELECT i.id AS id FROM ` + streamFrom(s) + ` WHERE ` + where +
		order + ` LIMIT ?)`
	if err = scan(r.db.QueryRowContext(ctx, query, args...), &list); err == nil {
		err = json.Unmarshal(list, &ids)
	}
	return ids, r.failed(ctx, "read", err)
}

// Counts implements reading.Items.
func (r *Reader) Counts(ctx context.Context) ([]reading.UnreadCount, error) {
	counts, err := list(ctx, r.db, by(func(c *reading.UnreadCount) []any {
		return []any{&c.Feed, &c.Unread, seconds(&c.Newest)}
	}), `
		SELECT u.feed, u.n, (SELECT arrived FROM items WHERE id = u.newest) FROM (
			SELECT i.feed AS feed, count(*) AS n, max(i.id) AS newest FROM items i INDEXED BY items_by_feed
			WHERE i.feed IN (SELECT id FROM feeds WHERE subscribed) AND i.read = 0 GROUP BY i.feed) AS u
		ORDER BY u.feed`)
	return counts, r.failed(ctx, "read", err)
}

// Items implements reading.Items.
func (r *Reader) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for part := range slices.Chunk(ids, pageEntries) {
			for len(part) > 0 {
				page, done, err := r.itemPage(ctx, part)
				if err != nil {
					yield(reading.Item{}, r.failed(ctx, "read", err))
					return
				}
				for _, item := range page {
					if !yield(item, nil) {
						return
					}
				}
				part = part[done:]
			}
		}
	}
}

// itemPage reads items up to some bytes, and returns how many of the ids are done.
func (r *Reader) itemPage(ctx context.Context, ids []reading.ItemID) (page []reading.Item, done int, err error) {
	var key, size int
	for item, err := range found(ctx, r.db, func(row rowScanner) (item reading.Item, err error) {
		record, err := scanRecord(row, &key, &item.ID, &item.Feed, seconds(&item.Arrived), &item.Listed, &item.Read,
			&item.Starred, seconds(&item.Changed))
		item.EntryID, item.Entry, item.Time, item.Confirmed = record.ID, record.Entry, record.Time(), record.Confirmed
		return item, err
	}, `SELECT `+recordColumns+
		`, j.key, i.id, i.feed, i.arrived, i.listed, i.read, i.starred, coalesce(i.marked, i.arrived)
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds f ON f.id = e.feed
		WHERE f.subscribed ORDER BY j.key`, jsonNumbers(ids)) {
		if err != nil {
			return nil, 0, err
		}
		size += len(item.Entry.Summary) + len(item.Entry.Content)
		safehtml.Entry(&item.Entry)
		if page = append(page, item); size >= pageBytes {
			return page, key + 1, nil
		}
	}
	return page, len(ids), nil
}

// Find implements reading.Items. It takes no longer than searchTime.
func (r *Reader) Find(ctx context.Context, m feed.Match, of []reading.FeedID,
	limit int) (ids []reading.ItemID, err error) {
	var f feed.Filter
	f.Ask(m)
	err = r.searching(ctx, f, func(s *search) error {
		s.where = ` AND e.feed IN (SELECT id FROM feeds WHERE subscribed)`
		if len(of) > 0 {
			s.where, s.args = s.where+` AND e.feed IN (SELECT value FROM json_each(?))`, []any{jsonNumbers(of)}
		}
		seqs, err := s.newest(limit)
		if err != nil {
			return err
		}
		var list []byte
		err = scan(s.tx.QueryRowContext(s.ctx,
			`SELECT json_group_array(id ORDER BY id) FROM items WHERE seq IN (SELECT value FROM json_each(?))`,
			jsonNumbers(seqs)), &list)
		if err != nil {
			return err
		}
		return json.Unmarshal(list, &ids)
	})
	return ids, err
}

// Reads of an archive for pages that people see: short ones by an index each, so that none takes longer where there is
// more.

// itemColumns are a reading.ItemState, from items i that need not exist.
const itemColumns = `coalesce(i.id, 0), coalesce(i.read, 1), coalesce(i.starred, 0)`

// headlineColumns are the columns that a Headline is made of, from entries e, feeds f and items i. A text is cut at a
// thousand characters.
const headlineColumns = `e.seq, e.id, f.id, f.url, iif(f.name = '', f.title, f.name), ` + iconRef +
	`, e.title, e.link, e.time, e.seen, e.source, ` + isConfirmed + `,
	substr(iif(e.summary = '', e.content, e.summary), 1, 1000), ` + itemColumns

// Headlines implements reading.Headlines.
func (r *Reader) Headlines(ctx context.Context, q reading.HeadlineQuery) ([]reading.Headline, error) {
	q.Before = cmp.Or(q.Before, math.MaxInt64)
	headlines, err := list(ctx, r.db, by(headlineFields), headlineStatement(&q), sql.Named("feed", q.Feed),
		sql.Named("folder", int64(q.Folder)), sql.Named("before", q.Before), sql.Named("after", q.After),
		sql.Named("secret", q.Secret), sql.Named("limit", q.Limit))
	return headlines, wrap("read", r.path, err)
}

// headlineStatement finds the entries by the index that fits.
func headlineStatement(q *reading.HeadlineQuery) string {
	const (
		ofItems   = ` JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = i.feed WHERE f.subscribed AND `
		ofEntries = ` LEFT JOIN items i ON i.seq = e.seq WHERE `
	)
	from, order := `entries e JOIN feeds f ON f.id = e.feed`+ofEntries+`NOT f.apart`, `e.seq`
	switch {
	case q.Unread && q.Feed != 0:
		from, order = `items i INDEXED BY items_by_feed`+ofItems+`i.feed = @feed AND i.read = 0`, `i.id`
	case q.Unread:
		from, order = `items i INDEXED BY items_unread`+ofItems+`NOT i.read`, `i.id`
	case q.Starred:
		from, order = `items i INDEXED BY items_starred`+ofItems+`i.starred`, `i.id`
	case q.Feed != 0:
		from = `feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id` + ofEntries + `1`
	}
	where, direction := order+` < @before AND (@secret OR NOT f.secret) AND (@feed = 0 OR f.id = @feed)
		AND (@folder = 0 OR f.id IN (SELECT feed FROM filed WHERE folder = @folder))`, ` DESC`
	if q.After != 0 { // else it would bound the search by what may be below 0
		where, direction = where+` AND `+order+` > @after`, ``
	}
	return `SELECT ` + headlineColumns + ` FROM ` + from + ` AND ` + where + ` ORDER BY ` + order + direction +
		` LIMIT @limit`
}

// headlineFields are where headlineColumns go.
func headlineFields(h *reading.Headline) []any {
	return []any{&h.Seq, bytesOf(h.ID[:]), &h.Feed, &h.URL, &h.FeedTitle, &h.FeedIcon.ID, &h.FeedIcon.Word,
		&h.Title, &h.Link, seconds(&h.Time), seconds(&h.Seen),
		&h.Source, &h.Confirmed, &h.Lead, &h.Item.ID, &h.Item.Read, &h.Item.Starred}
}

// CountUnread implements reading.Headlines.
func (r *Reader) CountUnread(ctx context.Context, number int64, secret bool, max int) (n int, err error) {
	from, args := `items i INDEXED BY items_unread JOIN feeds f ON f.id = i.feed WHERE NOT i.read`, []any{secret, max}
	if number != 0 {
		from = `items i INDEXED BY items_by_feed JOIN feeds f ON f.id = i.feed WHERE i.feed = ? AND i.read = 0`
		args = []any{number, secret, max}
	}
	err = scan(r.db.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM `+from+` AND f.subscribed AND (? OR NOT f.secret) LIMIT ?)`, args...), &n)
	return n, wrap("read", r.path, err)
}

// Entry implements reading.Headlines.
func (r *Reader) Entry(ctx context.Context, id feed.EntryID) (record archive.Record, item reading.ItemState,
	number int64, err error) {
	record, err = one(ctx, r.db, func(row rowScanner) (archive.Record, error) {
		return scanRecord(row, &number, &item.ID, &item.Read, &item.Starred)
	}, `SELECT `+recordColumns+`, f.id, `+itemColumns+`
		FROM entries e JOIN feeds f ON f.id = e.feed LEFT JOIN items i ON i.seq = e.seq WHERE e.id = ?`, id[:])
	return record, item, number, wrap("read", r.path, err)
}
