package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	modernc "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Every statement is made over an interruptible connection, and comes back in time.
//
// What the driver makes of a context is less than it seems: it interrupts a statement until its first row is there and
// lets every further row take as long as it likes; it knows nothing of a commit by sql.Tx, and nothing of deadlines
// where the caller has none; and no interrupt reaches a read, a write or a sync that the system does not come back
// from, as on a disk that hangs. So an interruptible connection has the driver do its work in another goroutine,
// interrupts that when the time is over, and leaves it to itself where that does not help. The connection is then not
// to be used until the work has come back after all, and everything on it was undone.

// openDB opens the database with a data source name; all its connections are interruptible.
func openDB(name string) (*sql.DB, error) {
	c, err := modernc.NewConnector(name)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(&interruptibleConnector{Connector: c}), nil
}

// interruptibleConnector makes interruptible connections.
type interruptibleConnector struct {
	driver.Connector
	away atomic.Int32 // pieces of work that were left to themselves, each with a thread of the system
}

// maxAway is how many there may be before nothing more is begun.
const maxAway = 16

// Connect implements driver.Connector.
func (d *interruptibleConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if d.away.Load() >= maxAway {
		return nil, ErrStalled
	}
	opening := &interruptible{away: &d.away, free: make(chan struct{}, 1)}
	opening.free <- struct{}{}
	return pass(deafLimit(ctx), opening, func() (driver.Conn, error) {
		c, err := d.Connector.Connect(context.Background())
		if err != nil {
			return nil, err
		}
		opening.connection, _ = c.(connection)
		field := reflect.Indirect(reflect.ValueOf(c)).FieldByName("db")
		if opening.connection == nil || field.Kind() != reflect.Uintptr {
			return nil, errors.Join(fmt.Errorf("the SQLite driver has changed: %T", c), c.Close())
		}
		opening.handle = uintptr(field.Uint())
		return opening, nil
	}, func(driver.Conn) {
		if opening.connection != nil {
			opening.connection.Close()
		}
	})
}

// A connection is what a connection of the driver can do.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// An interruptible is a connection of which every statement ends in time. database/sql asks for one thing at a time.
type interruptible struct {
	connection
	away   *atomic.Int32 // of all connections of the database
	handle uintptr       // SQLite's own, for interrupts: the driver keeps it to itself
	free   chan struct{} // holds something unless the driver is at work
	left   atomic.Bool   // to be closed
}

// rollBack undoes what was begun on the connection and not committed, if anything was: that nothing was is the only
// error that the driver can have here.
func (d *interruptible) rollBack() {
	_, _ = d.connection.ExecContext(context.Background(), `ROLLBACK`, nil)
}

// atOnce does what takes no time, unless the driver has not come back.
func (d *interruptible) atOnce(f func() error) error {
	select {
	case <-d.free:
		defer func() { d.free <- struct{}{} }()
		return f()
	default:
		return ErrStalled
	}
}

// ExecContext implements driver.ExecerContext.
func (d *interruptible) ExecContext(ctx context.Context, query string,
	args []driver.NamedValue) (driver.Result, error) {
	return pass(newLimit(ctx), d, func() (driver.Result, error) {
		return d.connection.ExecContext(context.Background(), query, args)
	}, func(driver.Result) { d.rollBack() })
}

// QueryContext implements driver.QueryerContext.
func (d *interruptible) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return d.rows(ctx, func() (driver.Rows, error) {
		return d.connection.QueryContext(context.Background(), query, args)
	})
}

// PrepareContext implements driver.ConnPrepareContext.
func (d *interruptible) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return pass(newLimit(ctx), d, func() (driver.Stmt, error) {
		s, err := d.connection.PrepareContext(context.Background(), query)
		if err != nil {
			return nil, err
		}
		return &statement{s, d}, nil
	}, func(s driver.Stmt) {
		if s != nil {
			s.(*statement).Stmt.Close()
		}
		d.rollBack()
	})
}

// BeginTx implements driver.ConnBeginTx.
func (d *interruptible) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return pass(newLimit(ctx), d, func() (driver.Tx, error) {
		tx, err := d.connection.BeginTx(context.Background(), opts)
		return snapshot{tx, d}, err
	}, func(driver.Tx) { d.rollBack() })
}

// Close implements driver.Conn. It may bring the log into the file.
func (d *interruptible) Close() error {
	d.left.Store(true)
	return d.closeLeft()
}

// closeLeft closes a connection that nobody needs any more, as soon as the driver is back.
func (d *interruptible) closeLeft() error {
	if !d.left.Load() {
		return nil
	}
	_, err := pass(deafLimit(context.Background()), d, func() (none struct{}, err error) {
		if d.connection != nil {
			err = d.connection.Close()
			d.connection = nil
		}
		return none, err
	}, func(struct{}) {})
	return err
}

// IsValid implements driver.Validator.
func (d *interruptible) IsValid() bool {
	return d.atOnce(func() error {
		if !d.connection.IsValid() {
			return driver.ErrBadConn
		}
		return nil
	}) == nil
}

// ResetSession implements driver.SessionResetter.
func (d *interruptible) ResetSession(ctx context.Context) error {
	if d.atOnce(func() error { return d.connection.ResetSession(ctx) }) != nil {
		return driver.ErrBadConn
	}
	return nil
}

// A snapshot is a transaction that reads.
type snapshot struct {
	driver.Tx
	conn *interruptible
}

// Commit implements driver.Tx: writers commit by a statement, which has a deadline.
func (s snapshot) Commit() error { return errors.ErrUnsupported }

// Rollback implements driver.Tx.
func (s snapshot) Rollback() error { return s.conn.atOnce(s.Tx.Rollback) }

// A statement is one that was prepared.
type statement struct {
	driver.Stmt
	conn *interruptible
}

// ExecContext implements driver.StmtExecContext.
func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return pass(newLimit(ctx), s.conn, func() (driver.Result, error) {
		return s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), args)
	}, func(driver.Result) { s.conn.rollBack() })
}

// QueryContext implements driver.StmtQueryContext.
func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.rows(ctx, func() (driver.Rows, error) {
		return s.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), args)
	})
}

// Close implements driver.Stmt.
func (s *statement) Close() error { return s.conn.atOnce(s.Stmt.Close) }

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

const (
	// statementTime is how long a statement may take whose caller has set no deadline.
	statementTime = time.Minute
	// graceTime is how long a statement may take to notice that its time is over.
	graceTime = 5 * time.Second
)

// A limit is until when something may take.
type limit struct {
	ctx context.Context
	end time.Time // where ctx has no deadline
	// deaf says that no interrupt reaches what is limited, because the connection comes or goes.
	deaf bool
}

// newLimit is what the context says, and statementTime from now where it says nothing.
func newLimit(ctx context.Context) limit {
	if _, ok := ctx.Deadline(); ok {
		return limit{ctx: ctx}
	}
	return limit{ctx: ctx, end: time.Now().Add(statementTime)}
}

// deafLimit is the same for what no interrupt reaches.
func deafLimit(ctx context.Context) limit {
	l := newLimit(ctx)
	l.deaf = true
	return l
}

// over goes off when the time is over, unless the context says so.
func (l limit) over() *time.Timer {
	if l.end.IsZero() {
		over := time.NewTimer(time.Hour)
		over.Stop()
		return over
	}
	return time.NewTimer(time.Until(l.end))
}

// pass has the driver do work on the connection behind d, within the limit. Work that does not come back is left to
// itself: when it does, undo is called with what came of it, the zero value where that is an error.
func pass[T any](l limit, d *interruptible, work func() (T, error), undo func(T)) (value T, err error) {
	if err := l.ctx.Err(); err != nil {
		return value, err
	}
	select {
	case <-d.free:
	default:
		return value, ErrStalled // what went through before has not come back
	}
	type result struct {
		value T
		err   error
	}
	back := make(chan result, 1)
	go func() {
		v, err := work()
		back <- result{v, err}
	}()
	over := l.over()
	defer over.Stop()
	select {
	case r := <-back:
		d.free <- struct{}{}
		return r.value, r.err
	case <-l.ctx.Done():
		err = l.ctx.Err()
	case <-over.C:
		err = ErrStalled
	}
	if !l.deaf {
		d.interrupt()
	}
	over.Reset(graceTime)
	select {
	case r := <-back:
		d.free <- struct{}{}
		if interrupted(r.err) {
			return r.value, err
		}
		return r.value, r.err // it was ready just then
	case <-over.C:
	}
	d.away.Add(1)
	go func() {
		r := <-back
		d.away.Add(-1)
		undo(r.value)
		d.free <- struct{}{}
		d.closeLeft()
	}()
	return value, err
}

// interrupt has SQLite stop at the next opportunity. It only sets a mark in the connection, which goes out by itself
// (https://sqlite.org/c3ref/interrupt.html).
func (d *interruptible) interrupt() { codes.Xsqlite3_interrupt(nil, d.handle) }

// interrupted reports whether the error says that SQLite was.
func interrupted(err error) bool {
	var e *modernc.Error
	return errors.As(err, &e) && e.Code()&0xff == codes.SQLITE_INTERRUPT
}

// What goes over the whole file takes the longer the larger that is. It has its time by its size, so that a disk that
// hangs is told from one that is slow: with the default patience a second for each mebibyte, and a minute more.

// perPatience is how many bytes must be got through within one patience.
const perPatience = 60 << 20

// throughout is ctx with an end for one statement that goes over everything in the file at path and its log.
func throughout(ctx context.Context, path string, patience time.Duration) (context.Context, context.CancelFunc) {
	size := sizeOf(path) + sizeOf(logOf(path))
	return context.WithTimeoutCause(ctx,
		patience+time.Duration(float64(patience)*float64(size)/perPatience), ErrStalled)
}

// sizeOf is the size of a file, 0 where there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// growing is ctx until what is being written has not grown for one patience.
func growing(ctx context.Context, size func() int64, patience time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for last := int64(-1); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := size()
			if now == last {
				end(ErrStalled)
				return
			}
			last = now
		}
	}()
	return ctx, func() { end(nil) }
}

// ended is why a statement within ctx ended: where that has ended, it is the reason, whatever became of the statement.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
