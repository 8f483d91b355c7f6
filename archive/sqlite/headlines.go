package sqlite

import (
	"context"
	"database/sql"
	"math"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// What pages for people show of an archive: short reads by an index each, so that none takes longer where there is
// more.

// itemColumns are a reading.ItemState, from items i that need not exist.
const itemColumns = `coalesce(i.id, 0), coalesce(i.read, 1), coalesce(i.starred, 0)`

// headlineColumns are what a Headline is made of, from entries e, feeds f and items i. A text is cut at a thousand
// characters.
const headlineColumns = `e.seq, e.id, f.id, f.url, iif(f.name = '', f.title, f.name), e.title, e.link, e.time, ` +
	`e.seen, e.source, ` + isConfirmed + `,
	substr(iif(e.summary = '', e.content, e.summary), 1, 1000), ` + itemColumns

// Headlines implements reading.Headlines.
func (r *Reader) Headlines(ctx context.Context, q reading.HeadlineQuery) (list []reading.Headline, err error) {
	if q.Before == 0 {
		q.Before = math.MaxInt64
	}
	rows, err := r.db.QueryContext(ctx, headlineStatement(&q), sql.Named("feed", q.Feed), sql.Named("before", q.Before),
		sql.Named("secret", q.Secret),
		sql.Named("limit", q.Limit))
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			h, err := scanHeadline(rows)
			list = append(list, h)
			return err
		})
	}
	return list, wrap("read", r.path, err)
}

// headlineStatement finds the entries by the index that fits.
func headlineStatement(q *reading.HeadlineQuery) string {
	const end = ` AND (@secret OR NOT f.secret) AND (@feed = 0 OR f.id = @feed) ORDER BY `
	switch {
	case q.Unread && q.Feed != 0:
		return `SELECT ` + headlineColumns +
			` FROM items i INDEXED BY items_by_feed JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = i.feed
			WHERE i.feed = @feed AND i.read = 0 AND i.id < @before AND f.subscribed` + end + `i.id DESC LIMIT @limit`
	case q.Unread:
		return `SELECT ` + headlineColumns +
			` FROM items i INDEXED BY items_unread JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = i.feed
			WHERE NOT i.read AND i.id < @before AND f.subscribed` + end + `i.id DESC LIMIT @limit`
	case q.Starred:
		return `SELECT ` + headlineColumns +
			` FROM items i INDEXED BY items_starred JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = i.feed
			WHERE i.starred AND i.id < @before AND f.subscribed` + end + `i.id DESC LIMIT @limit`
	case q.Feed != 0:
		return `SELECT ` + headlineColumns +
			` FROM feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id
			LEFT JOIN items i ON i.seq = e.seq WHERE e.seq < @before` + end + `e.seq DESC LIMIT @limit`
	}
	return `SELECT ` + headlineColumns +
		` FROM entries e JOIN feeds f ON f.id = e.feed LEFT JOIN items i ON i.seq = e.seq
		WHERE e.seq < @before AND NOT f.apart` + end + `e.seq DESC LIMIT @limit`
}

func scanHeadline(rows *sql.Rows) (h reading.Headline, err error) {
	var id []byte
	var at, seen int64
	err = scan(rows, &h.Seq, &id, &h.Feed, &h.URL, &h.FeedTitle, &h.Title, &h.Link, &at, &seen, &h.Source,
		&h.Confirmed, &h.Lead,
		&h.Item.ID, &h.Item.Read, &h.Item.Starred)
	if err == nil {
		h.ID, err = fromBlob[feed.EntryID](id)
	}
	h.Time, h.Seen = time.Unix(at, 0).UTC(), time.Unix(seen, 0).UTC()
	return h, err
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
	rows, err := r.db.QueryContext(ctx, `SELECT `+recordColumns+`, f.id, `+itemColumns+`
		FROM entries e JOIN feeds f ON f.id = e.feed LEFT JOIN items i ON i.seq = e.seq WHERE e.id = ?`, id[:])
	if err == nil {
		err = each(rows, func(rows *sql.Rows) (err error) {
			record, err = scanRecord(rows, &number, &item.ID, &item.Read, &item.Starred)
			return err
		})
	}
	return record, item, number, wrap("read", r.path, err)
}
