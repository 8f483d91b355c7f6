package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"math"

	"feedex/archive"
)

// A sweep is how entries are read that are too many for one statement, or for the memory, newest arrival first.
type sweep[T any] struct {
	reader *Reader
	verb   string // what it is for, in errors
	// query selects recordColumns, and what else scan wants, by a WHERE clause that ends it.
	query   string
	args    []any
	entries int // at a time, unless pageBytes are reached before
	scan    func(*sql.Rows) (T, error)
	record  func(*T) *archive.Record
}

// all yields every entry that the query finds. It holds few of them in memory at one time and no snapshot of the
// archive, so that slow consumers cost nothing; entries that arrive meanwhile are not among them. An error is the last
// thing it yields.
func (w sweep[T]) all(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for before := int64(math.MaxInt64); ; {
			list, err := w.read(ctx, before)
			if err != nil {
				var none T
				yield(none, w.reader.failed(ctx, w.verb, err))
				return
			}
			for _, x := range list {
				if !yield(x, nil) {
					return
				}
			}
			if len(list) == 0 {
				return
			}
			before = w.record(&list[len(list)-1]).Seq
		}
	}
}

// read reads the newest entries before a seq; none at the end.
func (w sweep[T]) read(ctx context.Context, before int64) (list []T, err error) {
	args := append(w.args[:len(w.args):len(w.args)], before, w.entries)
	rows, err := w.reader.db.QueryContext(ctx, w.query+` AND e.seq < ? ORDER BY e.seq DESC LIMIT ?`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		x, err := w.scan(rows)
		if err != nil {
			return nil, err
		}
		r := w.record(&x)
		if r.Seq >= before {
			return nil, errOrder
		}
		before = r.Seq
		list = append(list, x)
		size += len(r.Entry.Summary) + len(r.Entry.Content)
	}
	return list, rows.Err()
}
