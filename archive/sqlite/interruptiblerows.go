package sqlite

import (
	"context"
	"database/sql/driver"
	"io"
)

// Rows are read ahead of the code that wants them: to have the driver read each in another goroutine would take longer
// than to read it. Most queries have few, and are through with firstAhead of them; others go on with maxAhead at a
// time.
const (
	firstAhead = 16
	maxAhead   = 64
)

// rows are the rows of a query, which all come within its limit.
type rows struct {
	driver.Rows
	conn    *interruptible
	limit   limit
	portion // the one at hand

	closed bool
}

// A portion is some rows, and what comes after them: nil for more rows, io.EOF for none.
type portion struct {
	ahead [][]driver.Value
	after error
}

// rows begins a query.
func (d *interruptible) rows(ctx context.Context, query func() (driver.Rows, error)) (driver.Rows, error) {
	l := newLimit(ctx)
	begun, err := pass(l, d, func() (*rows, error) {
		found, err := query()
		if err != nil {
			return nil, err
		}
		r := &rows{Rows: found, conn: d, limit: l, portion: read(found, firstAhead)}
		return r, r.failed()
	}, func(r *rows) {
		if r != nil {
			_ = r.close()
		}
		d.rollBack()
	})
	if begun == nil {
		return nil, err
	}
	if err != nil {
		begun.after = err // behind what came in time
	}
	return begun, nil
}

// failed is why there are no more rows, nil where there are or all have been read.
func (p portion) failed() error {
	if p.after == io.EOF {
		return nil
	}
	return p.after
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
		from := r.Rows // which may be read later than anybody waits for
		p, err := pass(r.limit, r.conn, func() (portion, error) {
			p := read(from, maxAhead)
			return p, p.failed()
		}, func(portion) {
			_ = r.close()
			r.conn.rollBack()
		})
		if err != nil {
			p.after = err
		}
		r.portion = p
	}
	if len(r.ahead) == 0 {
		return r.after
	}
	copy(dest, r.ahead[0])
	r.ahead = r.ahead[1:]
	return nil
}

// Close implements driver.Rows.
func (r *rows) Close() error { return r.conn.atOnce(r.close) }

// close ends the query. Its caller has the connection to itself.
func (r *rows) close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.Rows.Close()
}
