package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	modernc "modernc.org/sqlite"
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
