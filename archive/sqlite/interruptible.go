package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"time"

	modernc "modernc.org/sqlite"
)

// Every statement has a deadline: its caller's, or else one of statementTime. When that is over, or the caller wants
// the statement to end, the driver has SQLite interrupt it, which comes back as soon as the system does. A call that
// the system does not come back from, as on a disk that hangs, nothing in this process can end.
//
// The driver heeds a context until the first row is there, and database/sql between two rows. So a query steps through
// many rows before the first that it returns, and through few between two.

// statementTime is how long a statement may take whose caller has set no deadline.
const statementTime = time.Minute

// openDB opens the database with a data source name; all its connections are interruptible.
func openDB(name string) (*sql.DB, error) {
	c, err := modernc.NewConnector(name)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(interruptibleConnector{c}), nil
}

// interruptibleConnector makes interruptible connections.
type interruptibleConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (d interruptibleConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return interruptible{c.(connection)}, nil
}

// A connection is the set of methods of a connection of the driver.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// An interruptible is a connection of which every statement has a deadline.
type interruptible struct{ connection }

// ExecContext implements driver.ExecerContext.
func (d interruptible) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return within(ctx, func(ctx context.Context) (driver.Result, error) {
		return d.connection.ExecContext(ctx, query, args)
	})
}

// QueryContext implements driver.QueryerContext.
func (d interruptible) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return within(ctx, func(ctx context.Context) (driver.Rows, error) {
		return d.connection.QueryContext(ctx, query, args)
	})
}

// PrepareContext implements driver.ConnPrepareContext.
func (d interruptible) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := d.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement{s.(preparedStatement)}, nil
}

// A preparedStatement is the set of methods of a statement of the driver.
type preparedStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A statement is one that was prepared, and has a deadline.
type statement struct{ preparedStatement }

// ExecContext implements driver.StmtExecContext.
func (s statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return within(ctx, func(ctx context.Context) (driver.Result, error) {
		return s.preparedStatement.ExecContext(ctx, args)
	})
}

// QueryContext implements driver.StmtQueryContext.
func (s statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return within(ctx, func(ctx context.Context) (driver.Rows, error) {
		return s.preparedStatement.QueryContext(ctx, args)
	})
}

// within makes a statement within the deadline of ctx, or statementTime where that has none.
func within[T any](ctx context.Context, make func(context.Context) (T, error)) (T, error) {
	if _, ok := ctx.Deadline(); ok {
		return make(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	value, err := make(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = ErrStalled
	}
	return value, err
}

// A statement that goes over the whole file takes the longer the larger that is. It has its time by its size: with the
// default patience a second for each mebibyte, and a minute more.

// perPatience is how many bytes must be got through within one patience.
const perPatience = 60 << 20

// throughout is ctx with an end for one statement that goes over everything in the file at path and its log.
func throughout(ctx context.Context, path string, patience time.Duration) (context.Context, context.CancelFunc) {
	size := SizeOf(path) + SizeOf(logOf(path))
	return context.WithTimeoutCause(ctx,
		patience+time.Duration(float64(patience)*float64(size)/perPatience), ErrStalled)
}

// logOf is the log that stands beside the archive at path while it is in use.
func logOf(path string) string { return behindLinks(path) + "-wal" }

// SizeOf is the size of a file, 0 where there is none.
func SizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// ended is why a statement within ctx ended: where that has ended, it is the reason, whatever became of the statement.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
