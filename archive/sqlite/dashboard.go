package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/fetch/grade"
	"feedex/reading"
)

// What pages for people show of an archive: short reads by an index each, so that none takes longer where there is
// more.

// FeedNames implements archive.Contents.
func (r *Reader) FeedNames(ctx context.Context) (names []archive.FeedName, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, iif(name = '', title, name) FROM feeds WHERE NOT apart`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var n archive.FeedName
			err := scan(rows, &n.Number, &n.URL, &n.Title)
			names = append(names, n)
			return err
		})
	}
	return names, wrap("read", r.path, err)
}

// NumberedFeed implements archive.Contents.
func (r *Reader) NumberedFeed(ctx context.Context, number int64) (archive.Feed, error) {
	f, err := scanFeed(r.db.QueryRowContext(ctx,
		`SELECT `+feedColumns+` FROM feeds WHERE id = ? AND NOT apart`, number))
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Feed{}, nil
	}
	return f, wrap("read", r.path, err)
}

// Filing implements reading.Filing.
func (r *Reader) Filing(ctx context.Context, number int64) (name string, folders []string, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT f.name, coalesce(d.name, '') FROM feeds f LEFT JOIN filed i ON i.feed = f.id LEFT JOIN folders d ON d.id = i.folder
		WHERE f.id = ? ORDER BY d.name`, number)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var folder string
			err := scan(rows, &name, &folder)
			if folder != "" {
				folders = append(folders, folder)
			}
			return err
		})
	}
	return name, folders, wrap("read", r.path, err)
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

// Host implements archive.History.
func (r *Reader) Host(ctx context.Context, name string) (h archive.Host, err error) {
	var until, spent sql.NullInt64
	err = scan(r.db.QueryRowContext(ctx,
		`SELECT name, gap, rest, until, spent, forbids FROM hosts WHERE name = ?`, name),
		&h.Name, &h.Gap, &h.Rest, &until, &spent, &h.Forbids)
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Host{}, nil
	}
	h.Until, h.Spent = fromMillis(until), fromMillis(spent)
	return h, wrap("read", r.path, err)
}

// RequestsFor implements archive.History.
func (r *Reader) RequestsFor(ctx context.Context, name string, since time.Time,
	n int) (list []grade.Request, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT * FROM (SELECT at, feed, url, first, private, if_none_match, if_modified_since, status, etag, last_modified,
				fresh, retry_after, bytes FROM requests
			WHERE iif(feed = '', url, feed) = ? AND at >= ? ORDER BY at DESC LIMIT ?)
		ORDER BY at`, name, since.UnixMilli(), n)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			one, err := scanRequest(rows)
			list = append(list, one)
			return err
		})
	}
	return list, wrap("read", r.path, err)
}

// Appearances implements archive.History.
func (r *Reader) Appearances(ctx context.Context, number int64, since time.Time, n int) (list []archive.Appearance,
	err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, title, seen, source, abs(nullif(polled, 0)) FROM entries INDEXED BY entries_by_feed
		WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n)
	if err != nil {
		return nil, wrap("read", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a archive.Appearance
		var id []byte
		var seen int64
		var polled sql.NullInt64
		if err := scan(rows, &id, &a.Title, &seen, &a.Source, &polled); err != nil {
			return nil, wrap("read", r.path, err)
		}
		if a.ID, err = fromBlob[feed.EntryID](id); err != nil {
			return nil, wrap("read", r.path, err)
		}
		if a.Seen, a.Polled = time.Unix(seen, 0).UTC(), fromSeconds(polled); a.Seen.Before(since) {
			break
		}
		list = append(list, a)
	}
	return list, wrap("read", r.path, rows.Err())
}

// BroughtSince implements archive.History.
func (r *Reader) BroughtSince(ctx context.Context, number int64, since time.Time, n int) (brought int, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT seen, source <> '' FROM entries INDEXED BY entries_by_feed WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n)
	if err != nil {
		return 0, wrap("read", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var seen int64
		var neighbor bool
		if err := scan(rows, &seen, &neighbor); err != nil {
			return 0, wrap("read", r.path, err)
		}
		if seen < since.Unix() {
			break
		}
		if neighbor {
			brought++
		}
	}
	return brought, wrap("read", r.path, rows.Err())
}

// CountEntries implements archive.Contents.
func (r *Reader) CountEntries(ctx context.Context, number int64, max int) (n int, err error) {
	err = scan(r.db.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM entries INDEXED BY entries_by_feed WHERE feed = ? LIMIT ?)`,
		number, max), &n)
	return n, wrap("read", r.path, err)
}
