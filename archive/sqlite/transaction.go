package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// The methods of archive.Store have neither a context nor an error: what goes wrong waits in Store.err for Commit, and
// that a statement did not end in time is among it.

// Commit ends the transaction: everything that was written since the last Commit is on the disk when
// it returns nil. If any method met an error meanwhile, or the commit fails, nothing of it is kept
// and the error is returned, once; after that the Store may be used again.
func (s *Store) Commit() error {
	if s.err == nil {
		s.pruneDIDs()
	}
	if s.err == nil && s.inTx {
		s.do(`COMMIT`)
	}
	err := s.err
	if err != nil {
		s.rollback()
	}
	s.inTx, s.err = false, nil
	return wrap("write", s.path, err)
}

// rollback drops the open transaction and whatever was remembered of it.
func (s *Store) rollback() {
	if s.inTx {
		// After some errors SQLite has rolled back by itself and says so here; there is nothing
		// else to be said.
		_, _ = s.conn.ExecContext(context.Background(), `ROLLBACK`)
	}
	s.inTx = false
	s.nextDID = 0
	clear(s.feedIDs)
}

// begin begins a transaction unless one is open.
func (s *Store) begin() {
	if s.err == nil && !s.inTx {
		s.do(`BEGIN IMMEDIATE`)
		s.inTx = s.err == nil
	}
}

// write carries out a statement within the transaction and returns how many rows it changed.
func (s *Store) write(query string, args ...any) int64 {
	s.begin()
	return s.do(query, args...)
}

// insertRow inserts a row within the transaction, unless there is a conflict that the statement passes over, and returns
// its rowid and whether it was inserted.
func (s *Store) insertRow(query string, args ...any) (rowid int64, inserted bool) {
	s.begin()
	changed, rowid := s.exec(query, args)
	return rowid, changed > 0
}

// do carries out a statement.
func (s *Store) do(query string, args ...any) (changed int64) {
	changed, _ = s.exec(query, args)
	return changed
}

// exec carries out a statement and returns how many rows it changed, and the rowid of the last one that was inserted.
func (s *Store) exec(query string, args []any) (changed, rowid int64) {
	stmt := s.prepare(query)
	if stmt == nil {
		return 0, 0
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err == nil {
		changed, err = result.RowsAffected()
	}
	if err == nil {
		rowid, err = result.LastInsertId()
	}
	s.err = err
	return changed, rowid
}

// row reads the first row that the query finds into dest and reports whether there was one.
func (s *Store) row(query string, args []any, dest ...any) bool {
	stmt := s.prepare(query)
	if stmt == nil {
		return false
	}
	err := scan(stmt.QueryRowContext(context.Background(), args...), dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	s.err = err
	return err == nil
}

// rows calls scan for each row that the query finds.
func (s *Store) rows(query string, args []any, scan func(*sql.Rows) error) {
	stmt := s.prepare(query)
	if stmt == nil {
		return
	}
	rows, err := stmt.QueryContext(context.Background(), args...)
	if err == nil {
		err = each(rows, scan)
	}
	s.err = err
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
func (s *Store) prepare(query string) *sql.Stmt {
	if s.err != nil {
		return nil
	}
	stmt := s.stmts[query]
	if stmt == nil {
		if stmt, s.err = s.conn.PrepareContext(context.Background(), query); s.err != nil {
			return nil
		}
		s.stmts[query] = stmt
	}
	return stmt
}
