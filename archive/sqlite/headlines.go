package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"math"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Reads of an archive for pages that people see: short ones by an index each, so that none takes longer where there is
// more.

// itemColumns are a reading.ItemState, from items i that need not exist.
const itemColumns = `coalesce(i.id, 0), coalesce(i.read, 1), coalesce(i.starred, 0)`

// headlineColumns are the columns that a Headline is made of, from entries e, feeds f and items i. A text is cut at a
// thousand characters.
const headlineColumns = `e.seq, e.id, f.id, f.url, iif(f.name = '', f.title, f.name), e.title, e.link, e.time, ` +
	`e.seen, e.source, ` + isConfirmed + `,
	substr(iif(e.summary = '', e.content, e.summary), 1, 1000), ` + itemColumns

// Headlines implements reading.Headlines.
func (r *Reader) Headlines(ctx context.Context, q reading.HeadlineQuery) ([]reading.Headline, error) {
	q.Before = cmp.Or(q.Before, math.MaxInt64)
	headlines, err := list(ctx, r.db, by(headlineFields), headlineStatement(&q), sql.Named("feed", q.Feed),
		sql.Named("before", q.Before), sql.Named("secret", q.Secret), sql.Named("limit", q.Limit))
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
	return `SELECT ` + headlineColumns + ` FROM ` + from + ` AND ` + order + ` < @before AND (@secret OR NOT f.secret)
		AND (@feed = 0 OR f.id = @feed) ORDER BY ` + order + ` DESC LIMIT @limit`
}

// headlineFields are where headlineColumns go.
func headlineFields(h *reading.Headline) []any {
	return []any{&h.Seq, bytesOf(h.ID[:]), &h.Feed, &h.URL, &h.FeedTitle, &h.Title, &h.Link, seconds(&h.Time),
		seconds(&h.Seen), &h.Source, &h.Confirmed, &h.Lead, &h.Item.ID, &h.Item.Read, &h.Item.Starred}
}

// CountUnread implements reading.Headlines.
func (r *Reader) CountUnread(ctx context.Context, secret bool, max int) (n int, err error) {
	err = scan(r.db.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM items i INDEXED BY items_unread JOIN feeds f ON f.id = i.feed
			WHERE NOT i.read AND f.subscribed AND (? OR NOT f.secret) LIMIT ?)`, secret, max), &n)
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
