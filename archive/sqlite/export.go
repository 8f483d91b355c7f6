package sqlite

import (
	"context"
	"iter"
	"math"

	"feedex/archive"
	"feedex/feed"
)

// exportEntries is how many entries Export reads at one time, unless pageBytes are reached before.
const exportEntries = 1000

// An Exported is a record, and whether its archive keeps it to itself.
type Exported struct {
	archive.Record
	Hidden bool
}

// Export returns all entries, or those of one feed where u is not "", newest arrival first. It holds few of them
// in memory at one time and no snapshot of the archive; entries that arrive meanwhile are not among them. An error
// is the last thing it yields.
func (r *Reader) Export(ctx context.Context, u feed.URL) iter.Seq2[Exported, error] {
	return func(yield func(Exported, error) bool) {
		for before := int64(math.MaxInt64); ; {
			page, err := r.exportPage(ctx, u, before)
			if err != nil {
				yield(Exported{}, r.failed(ctx, "read", err))
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			before = page[len(page)-1].Seq
		}
	}
}

// exportPage reads the newest entries before a seq; none at the end.
func (r *Reader) exportPage(ctx context.Context, u feed.URL, before int64) (page []Exported, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	from, args := `entries e JOIN feeds f ON f.id = e.feed WHERE e.seq < ?`, []any{before, exportEntries}
	if u != "" {
		from = `feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id WHERE f.url = ? AND e.seq < ?`
		args = append([]any{string(u)}, args...)
	}
	rows, err := r.db.QueryContext(ctx, `SELECT `+recordColumns+`, f.private OR f.withheld OR f.secret OR e.seq IN (SELECT seq FROM hidden)
		FROM `+from+` ORDER BY e.seq DESC LIMIT ?`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		var x Exported
		if x.Record, err = scanRecord(rows, &x.Hidden); err != nil {
			return nil, err
		}
		if x.Seq >= before {
			return nil, errOrder
		}
		before = x.Seq
		page = append(page, x)
		size += len(x.Entry.Summary) + len(x.Entry.Content)
	}
	return page, rows.Err()
}
