package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// A writer is a connection that writes, by one transaction after the other. The first method that writes begins one.
//
// The methods of archive.Store have neither a context nor an error: what goes wrong waits in err for commit, and that a
// statement did not end in time is among it. From the first error on the methods do nothing and find nothing.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	lock  *writeLock
	ctx   context.Context // of the statements of a transaction that may be ended; nil for none
	tx    *sql.Tx         // the open transaction, nil for none
	err   error
}

// openWriter opens a connection that writes to the archive at path.
func openWriter(ctx context.Context, path string, r role, cfg Config, t *writeLock) (w writer, err error) {
	name, err := dsn(path, r, cfg.WriterCache, cfg.BusyTimeout)
	if err != nil {
		return w, err
	}
	w = writer{stmts: make(map[string]*sql.Stmt), lock: t}
	if w.db, err = openDB(name); err != nil {
		return w, err
	}
	w.db.SetMaxOpenConns(1)
	w.conn, err = w.db.Conn(ctx)
	return w, err
}

// close ends the writer. What was not committed is dropped.
func (w *writer) close() error {
	w.rollback()
	var errs []error
	// database/sql leaves the statements of a single connection to us; open ones keep the file open.
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	return errors.Join(errs...)
}

// commit ends the transaction: everything that was written since the last one is on the disk when it returns nil. If
// any method met an error meanwhile, or the commit fails, nothing of it is kept and the error is returned, once.
func (w *writer) commit() error {
	if w.err == nil && w.tx != nil {
		w.err = w.tx.Commit() // which nothing interrupts: one could not tell what became of it
	}
	err := w.err
	if err != nil {
		w.rollback()
	}
	w.unlock()
	w.err = nil
	return err
}

// rollback drops the open transaction.
func (w *writer) rollback() {
	if w.tx != nil {
		_ = w.tx.Rollback() // after some errors SQLite has rolled back by itself and says so here
	}
	w.unlock()
}

func (w *writer) unlock() {
	if w.tx != nil {
		w.tx = nil
		w.lock.end()
	}
}

// begin begins a transaction unless one is open.
func (w *writer) begin() {
	if w.err != nil || w.tx != nil {
		return
	}
	if w.ctx == nil { // else the Housekeeper has the lock
		w.lock.begin()
	}
	if w.tx, w.err = w.conn.BeginTx(context.Background(), nil); w.err != nil {
		w.lock.end()
	}
}

// write carries out a statement within the transaction and returns how many rows it changed.
func (w *writer) write(query string, args ...any) int64 {
	w.begin()
	return w.do(query, args...)
}

// insertRow inserts a row within the transaction, unless there is a conflict that the statement passes over, and
// returns its rowid and whether it was inserted.
func (w *writer) insertRow(query string, args ...any) (rowid int64, inserted bool) {
	w.begin()
	changed, rowid := w.exec(query, args)
	return rowid, changed > 0
}

// do carries out a statement.
func (w *writer) do(query string, args ...any) (changed int64) {
	changed, _ = w.exec(query, args)
	return changed
}

// exec carries out a statement and returns how many rows it changed, and the rowid of the last one that was inserted.
func (w *writer) exec(query string, args []any) (changed, rowid int64) {
	stmt := w.prepare(query)
	if stmt == nil {
		return 0, 0
	}
	result, err := stmt.ExecContext(w.context(), args...)
	if err == nil {
		changed, err = result.RowsAffected()
	}
	if err == nil {
		rowid, err = result.LastInsertId()
	}
	w.lock.logged(changed, args)
	w.err = err
	return changed, rowid
}

// row reads the first row that the query finds into dest and reports whether there was one.
func (w *writer) row(query string, args []any, dest ...any) bool {
	stmt := w.prepare(query)
	if stmt == nil {
		return false
	}
	err := scan(stmt.QueryRowContext(w.context(), args...), dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	w.err = err
	return err == nil
}

// rows calls scan for each row that the query finds.
func (w *writer) rows(query string, args []any, scan func(*sql.Rows) error) {
	stmt := w.prepare(query)
	if stmt == nil {
		return
	}
	rows, err := stmt.QueryContext(w.context(), args...)
	if err == nil {
		err = each(rows, scan)
	}
	w.err = err
}

// each calls scan for each row, closes rows, and returns the first error.
func each(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// prepare returns the statement for a query, kept from the first time on; nil if there was an error.
func (w *writer) prepare(query string) *sql.Stmt {
	if w.err != nil {
		return nil
	}
	stmt := w.stmts[query]
	if stmt == nil {
		if stmt, w.err = w.conn.PrepareContext(w.context(), query); w.err != nil {
			return nil
		}
		w.stmts[query] = stmt
	}
	return stmt
}

func (w *writer) context() context.Context {
	if w.ctx != nil {
		return w.ctx
	}
	return context.Background()
}

const (
	// shortestGrace is how long the loop waits for a step of the Housekeeper that is under way before it ends that. The
	// wait grows with each step in a row that was ended, up to longestGrace: what never came to its end would never be
	// done.
	shortestGrace, longestGrace = 8 * time.Millisecond, 40 * time.Millisecond
	// pageBytesLogged is about what a row that changes adds to the log: a page of its table and one of an index.
	pageBytesLogged = 2 * 4096
)

// A writeLock says which connection writes: SQLite lets one at a time do so. Those that belong to the loop go first.
type writeLock struct {
	free  chan struct{} // holds something unless somebody writes
	log   atomic.Int64  // bytes, about, that were written to the log since it was brought into the file
	asked atomic.Bool   // the loop had to wait since the Housekeeper looked last

	removed atomic.Uint64 // how often the Housekeeper removed rows of feeds

	mu    sync.Mutex
	stop  func()        // ends the step of the Housekeeper that is under way; nil for none
	grace time.Duration // how long that step has, once the loop waits
}

func newWriteLock() *writeLock {
	t := &writeLock{free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return t
}

// begin takes the lock for the loop.
func (t *writeLock) begin() {
	select {
	case <-t.free:
		return
	default:
	}
	t.asked.Store(true)
	t.mu.Lock()
	grace := time.NewTimer(t.grace)
	t.mu.Unlock()
	defer grace.Stop()
	select {
	case <-t.free:
		return
	case <-grace.C:
	}
	t.mu.Lock()
	if t.stop != nil {
		t.stop()
	}
	t.mu.Unlock()
	<-t.free
}

// lend gives the lock to a step of the Housekeeper, which stop ends, unless ctx ends before.
func (t *writeLock) lend(ctx context.Context, grace time.Duration, stop func()) bool {
	select {
	case <-t.free:
	case <-ctx.Done():
		return false
	}
	t.mu.Lock()
	t.stop, t.grace = stop, grace
	t.mu.Unlock()
	return true
}

// end gives the lock back.
func (t *writeLock) end() {
	t.mu.Lock()
	t.stop = nil
	t.mu.Unlock()
	t.free <- struct{}{}
}

// logged notes that a statement with these arguments changed so many rows.
func (t *writeLock) logged(changed int64, args []any) {
	bytes := changed * pageBytesLogged
	for _, a := range args {
		switch a := a.(type) {
		case string:
			bytes += int64(len(a))
		case *string:
			bytes += int64(len(*a))
		case []byte:
			bytes += int64(len(a))
		}
	}
	t.log.Add(bytes)
}
