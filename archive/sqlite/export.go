package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"feedex/archive"
	"feedex/feed"
)

// exportEntries is how many entries Export reads at one time, unless pageBytes are reached before.
const exportEntries = 1000

// Export implements archive.Contents.
func (r *Reader) Export(ctx context.Context, u feed.URL) iter.Seq2[archive.Exported, error] {
	from, args := `entries e JOIN feeds f ON f.id = e.feed WHERE NOT f.apart`, []any(nil)
	if u != "" {
		from, args = `feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id WHERE f.url = ?`,
			[]any{string(u)}
	}
	return sweep[archive.Exported]{
		reader: r, verb: "read", args: args, entries: exportEntries,
		query: `SELECT ` + recordColumns + `, ` + isConfidential + ` OR e.seq IN (SELECT seq FROM hidden) FROM ` + from,
		scan: func(rows *sql.Rows) (x archive.Exported, err error) {
			x.Record, err = scanRecord(rows, &x.Hidden)
			return x, err
		},
		record: func(x *archive.Exported) *archive.Record { return &x.Record },
	}.all(ctx)
}
