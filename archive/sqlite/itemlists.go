package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"feedex/archive"
	"feedex/reading"
	"feedex/safehtml"
)

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
func (r *Reader) Counts(ctx context.Context) (counts []reading.Count, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT u.feed, u.n, (SELECT arrived FROM items WHERE id = u.newest) FROM (
			SELECT i.feed AS feed, count(*) AS n, max(i.id) AS newest FROM items i INDEXED BY items_by_feed
			WHERE i.feed IN (SELECT id FROM feeds WHERE subscribed) AND i.read = 0 GROUP BY i.feed) AS u
		ORDER BY u.feed`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var c reading.Count
			var newest int64
			err := scan(rows, &c.Feed, &c.Unread, &newest)
			c.Newest = time.Unix(newest, 0).UTC()
			counts = append(counts, c)
			return err
		})
	}
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
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, 0, err
	}
	rows, err := r.db.QueryContext(ctx, `
		SELECT `+recordColumns+
		`, j.key, i.id, i.feed, i.arrived, i.listed, i.read, i.starred, coalesce(i.marked, i.arrived)
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds f ON f.id = e.feed
		WHERE f.subscribed ORDER BY j.key`, string(list))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for size := 0; rows.Next(); {
		var item reading.Item
		var key int
		var arrived, changed int64
		record, err := scanRecord(rows, &key, &item.ID, &item.Feed, &arrived, &item.Listed, &item.Read,
			&item.Starred, &changed)
		if err != nil {
			return nil, 0, err
		}
		fill(&item, &record)
		item.Arrived, item.Changed = time.Unix(arrived, 0).UTC(), time.Unix(changed, 0).UTC()
		page = append(page, item)
		if size += len(record.Entry.Summary) + len(record.Entry.Content); size >= pageBytes {
			return page, key + 1, nil
		}
	}
	return page, len(ids), rows.Err()
}

func fill(item *reading.Item, r *archive.Record) {
	item.EntryID, item.Entry, item.Time, item.Confirmed = r.ID, r.Entry, r.Time(), r.Confirmed
	safehtml.Entry(&item.Entry)
}
