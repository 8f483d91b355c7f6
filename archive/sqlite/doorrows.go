package sqlite

import (
	"context"
	"database/sql/driver"
	"io"
)

// maxAhead is how many rows are read ahead of who wants them: to go through the door for each would take longer than to
// read it.
const maxAhead = 16

// rows are the rows of a query, which all come within its limit.
type rows struct {
	driver.Rows
	door    *door
	limit   limit
	portion // the one at hand

	wanted int // in the next
	closed bool
}

// A portion is some rows, and what comes after them: nil for more rows, io.EOF for none.
type portion struct {
	ahead [][]driver.Value
	after error
}

// rows begins a query.
func (d *door) rows(ctx context.Context, query func() (driver.Rows, error)) (driver.Rows, error) {
	l := newLimit(ctx)
	return pass(l, d, func() (driver.Rows, error) {
		found, err := query()
		if err != nil {
			return nil, err
		}
		return &rows{Rows: found, door: d, limit: l, portion: read(found, 1), wanted: 2}, nil
	}, func(r driver.Rows) {
		if r != nil {
			r.(*rows).Rows.Close()
		}
		d.rollBack()
	})
}

// read reads the next rows, at most n.
func read(from driver.Rows, n int) (p portion) {
	for columns := len(from.Columns()); p.after == nil && len(p.ahead) < n; {
		row := make([]driver.Value, columns)
		if p.after = from.Next(row); p.after == nil {
			p.ahead = append(p.ahead, row)
		}
	}
	return p
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	if len(r.ahead) == 0 && r.after == nil {
		from, n := r.Rows, r.wanted // which may be read later than anybody waits for
		p, err := pass(r.limit, r.door, func() (portion, error) {
			p := read(from, n)
			if p.after == io.EOF {
				return p, nil
			}
			return p, p.after
		}, func(portion) {
			_ = r.close()
			r.door.rollBack()
		})
		if err != nil {
			p.after = err
		}
		r.portion, r.wanted = p, min(2*n, maxAhead)
	}
	if len(r.ahead) == 0 {
		return r.after
	}
	copy(dest, r.ahead[0])
	r.ahead = r.ahead[1:]
	return nil
}

// Close implements driver.Rows.
func (r *rows) Close() error { return r.door.atOnce(r.close) }

// close ends the query. Who calls it has the connection to itself.
func (r *rows) close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.Rows.Close()
}
