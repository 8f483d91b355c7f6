package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"sort"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	// maxSurplus is how many entries Surplus returns at one time.
	maxSurplus = 20_000
	// How much room an entry takes shows only once it is gone: its words in the index may take more than its texts, or
	// hardly any. So the room that is to be gained is divided by surplusShare, for the first entries to go that have
	// so many bytes, or that are fewestOldest, and then one looks again.
	surplusShare, fewestOldest = 4, 16
)

// A part is some of the entries e, as conditions on what their indices hold.
type part struct {
	index, where string
	args         []any
}

var (
	whole   = part{index: `entries_by_seq`, where: `1`}
	relayed = part{index: `entries_by_seq`, where: `e.seq > 0 AND e.feed IN (SELECT id FROM feeds WHERE NOT subscribed AND since IS NULL)`}
)

func ofFeed(id int64) part {
	return part{index: `entries_by_feed`, where: `e.feed = ?`, args: []any{id}}
}

// from is the FROM clause of the part, with one condition more.
func (p part) from(and string, args ...any) (string, []any) {
	return ` FROM entries e INDEXED BY ` + p.index + ` WHERE ` + p.where + ` AND ` + and, append(p.args[:len(p.args):len(p.args)], args...)
}

// expendable is a condition on entries e: they may be purged.
const expendable = `NOT ` + isStarred + ` AND NOT (e.seq = (SELECT max(seq) FROM entries INDEXED BY entries_by_feed WHERE feed = e.feed)
	AND EXISTS (SELECT 1 FROM feeds WHERE id = e.feed AND subscribed))`

// Surplus returns entries that are beyond what is to be kept, in the order in which they are to go. There may be more,
// and once these are purged others; none are left where it returns none. It reads what it needs to tell, up to half a
// million entries in a second.
func (r *Reader) Surplus(ctx context.Context, now time.Time, keep archive.Retention) (ids []feed.EntryID, err error) {
	ids, err = r.surplus(ctx, now, keep)
	if err != nil {
		err = r.failed(ctx, "read", err)
	}
	return ids, err
}

func (r *Reader) surplus(ctx context.Context, now time.Time, keep archive.Retention) (ids []feed.EntryID, err error) {
	used, err := r.used(ctx)
	if err != nil {
		return nil, err
	}
	if keep.Relayed > 0 && used > keep.Relayed {
		ids, err = r.beyond(ctx, now, relayed, archive.Bounds{Bytes: keep.Relayed})
	}
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	bounded, err := r.boundedFeeds(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range bounded {
		more, err := r.beyond(ctx, now, ofFeed(f.id), f.Bounds)
		if ids = append(ids, more...); err != nil || len(ids) >= maxSurplus {
			return ids, err
		}
	}
	if len(ids) > 0 {
		return ids, nil // without them there may be room for others
	}
	all := keep.All
	all.Bytes = 0 // are bytes on the disk
	if ids, err = r.beyond(ctx, now, whole, all); err != nil || len(ids) > 0 {
		return ids, err
	}
	if keep.All.Bytes > 0 && used > keep.All.Bytes {
		return r.oldest(ctx, used-keep.All.Bytes)
	}
	return nil, nil
}

// used is how many bytes of the file hold something.
func (r *Reader) used(ctx context.Context) (bytes int64, err error) {
	err = scan(r.db.QueryRowContext(ctx, `SELECT ((SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count)) *
		(SELECT page_size FROM pragma_page_size)`), &bytes)
	return bytes, err
}

// beyond are entries of a part that are beyond bounds. What is too old goes first: of the rest there may be few enough.
func (r *Reader) beyond(ctx context.Context, now time.Time, p part, b archive.Bounds) (ids []feed.EntryID, err error) {
	if b.Age > 0 {
		latest := now.Add(-b.Age).Unix()
		if ids, err = r.victims(ctx, p, `e.seq < 0 AND e.time < ?`, latest); err != nil || len(ids) > 0 {
			return ids, err
		}
		cut, err := r.cutAge(ctx, p, latest)
		if err != nil {
			return nil, err
		}
		if ids, err = r.victims(ctx, p, `e.seq > 0 AND e.seq <= ?`, cut); err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	cut := int64(math.MinInt64) // all up to this seq go
	if b.Count > 0 {
		if cut, err = r.cutCount(ctx, p, b.Count); err != nil {
			return nil, err
		}
	}
	if b.Bytes > 0 {
		if cut, err = r.cutBytes(ctx, p, b.Bytes, cut); err != nil {
			return nil, err
		}
	}
	if cut == math.MinInt64 {
		return nil, nil
	}
	return r.victims(ctx, p, `e.seq <= ?`, cut)
}

// cutCount is the highest seq that is not among the latest n entries, the lowest number where all are.
func (r *Reader) cutCount(ctx context.Context, p part, n int64) (int64, error) {
	from, args := p.from(`e.seq <> 0 ORDER BY e.seq DESC LIMIT 1 OFFSET ?`, n)
	return orNone(math.MinInt64, r.db.QueryRowContext(ctx, `SELECT e.seq`+from, args...))
}

// cutBytes is the highest seq that does not fit into so many bytes with the entries after it, or cut where that is higher.
func (r *Reader) cutBytes(ctx context.Context, p part, bytes, cut int64) (int64, error) {
	for before := int64(math.MaxInt64); ; {
		next, err := r.fit(ctx, p, before, cut, &bytes)
		if err != nil || next == before {
			return cut, err
		}
		if bytes < 0 {
			return next, nil
		}
		before = next
	}
}

// fit takes the sizes of the latest entries before a seq and above cut from bytes, up to the one that does not fit, and
// returns the seq of the last; before if there is none.
func (r *Reader) fit(ctx context.Context, p part, before, cut int64, bytes *int64) (last int64, err error) {
	from, args := p.from(`e.seq < ? AND e.seq > ? ORDER BY e.seq DESC LIMIT ?`, before, cut, contentsPage)
	rows, err := r.db.QueryContext(ctx, `SELECT e.seq, e.size`+from, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for last = before; *bytes >= 0 && rows.Next(); {
		var size int64
		if err := scan(rows, &last, &size); err != nil {
			return 0, err
		}
		*bytes -= size
	}
	return last, rows.Err()
}

// cutAge is a seq up to which everything arrived before a time. Seqs are in the order of arrival.
func (r *Reader) cutAge(ctx context.Context, p part, before int64) (int64, error) {
	from, args := p.from(`e.seq > 0 ORDER BY e.seq DESC LIMIT 1`)
	newest, err := orNone(0, r.db.QueryRowContext(ctx, `SELECT e.seq`+from, args...))
	var failed error
	older := sort.Search(int(newest), func(n int) bool {
		from, args := p.from(`e.seq > ? ORDER BY e.seq LIMIT 1`, n)
		seen, err := orNone(math.MaxInt64, r.db.QueryRowContext(ctx, `SELECT e.seen`+from, args...))
		failed = errors.Join(failed, err)
		return seen >= before
	})
	return int64(older), errors.Join(err, failed)
}

// orNone is the number in a row, or none where there is no row.
func orNone(none int64, row *sql.Row) (n int64, err error) {
	if err = scan(row, &n); errors.Is(err, sql.ErrNoRows) {
		return none, nil
	}
	return n, err
}

// victims are the entries of a part that fulfil a condition and may be purged.
func (r *Reader) victims(ctx context.Context, p part, where string, arg any) (ids []feed.EntryID, err error) {
	from, args := p.from(where+` AND `+expendable+` ORDER BY e.seq LIMIT ?`, arg, maxSurplus)
	err = r.eachVictim(ctx, from, args, func(id feed.EntryID, _ int64) bool {
		ids = append(ids, id)
		return true
	})
	return ids, err
}

// oldest are the first entries to go for so many bytes on the disk.
func (r *Reader) oldest(ctx context.Context, bytes int64) (ids []feed.EntryID, err error) {
	from, args := whole.from(expendable+` ORDER BY e.seq LIMIT ?`, maxSurplus)
	bytes /= surplusShare
	err = r.eachVictim(ctx, from, args, func(id feed.EntryID, size int64) bool {
		ids = append(ids, id)
		bytes -= size
		return bytes > 0 || len(ids) < fewestOldest
	})
	return ids, err
}

func (r *Reader) eachVictim(ctx context.Context, from string, args []any, f func(id feed.EntryID, size int64) (more bool)) error {
	rows, err := r.db.QueryContext(ctx, `SELECT e.id, e.size`+from, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var blob []byte
		var size int64
		if err := scan(rows, &blob, &size); err != nil {
			return err
		}
		id, err := fromBlob[feed.EntryID](blob)
		if err != nil {
			return err
		}
		if !f(id, size) {
			return nil
		}
	}
	return rows.Err()
}
