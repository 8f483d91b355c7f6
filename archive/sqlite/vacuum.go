package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
)

// What is free in the file is given back in one of two ways. Reclaim moves some pages from the file's end to where
// there is room, and can be called again and again while the node works; the file has to be made for that. Vacuum
// rewrites the file, which is then, too.

// incremental is the auto_vacuum of a file that Reclaim can shorten
// (https://sqlite.org/pragma.html#pragma_auto_vacuum).
const incremental = 2

// Reclaim gives back to the disk at most max pages of the file (4 KiB each) that hold nothing, in a transaction of its
// own, and returns how many such pages remain. A page takes some 30 µs. It belongs to the loop, after a Commit, when
// there is time. The file is shorter once the log has been brought into it: after the last step by Shorten. It is an
// error that is archive.ErrWhole if the file was not made for it.
func (s *Store) Reclaim(max int) (remaining int, err error) {
	if s.inTx {
		return 0, wrap("shorten", s.path, errBusy)
	}
	remaining = s.reclaim(max)
	if err := s.Commit(); err != nil {
		return 0, err
	}
	return remaining, nil
}

func (s *writer) reclaim(max int) (remaining int) {
	var mode int
	if s.row(`PRAGMA auto_vacuum`, nil, &mode); s.err == nil && mode != incremental {
		s.err = archive.ErrWhole
	}
	s.begin()
	s.rows(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, max), nil, func(*sql.Rows) error { return nil }) // a row a page
	s.row(`PRAGMA freelist_count`, nil, &remaining)
	return remaining
}

// Vacuum rewrites the file without what is free in it, and with what belongs together side by side. It takes
// as much room again meanwhile, and the writer can do nothing else. It belongs to the loop, after a Commit.
func (s *Store) Vacuum(ctx context.Context) error {
	if s.inTx {
		return wrap("vacuum", s.path, errBusy)
	}
	ctx, cancel := throughout(ctx, s.path, s.patience)
	defer cancel()
	return wrap("vacuum", s.path, ended(ctx, s.vacuum(ctx)))
}

func (s *Store) vacuum(ctx context.Context) (err error) {
	s.lock.begin()
	defer s.lock.end()
	// The copy would else be made in memory.
	if _, err := s.conn.ExecContext(ctx, `PRAGMA temp_store(FILE)`); err != nil {
		return err
	}
	defer func() {
		_, again := s.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA temp_store(MEMORY)`)
		err = errors.Join(err, again)
	}()
	if _, err := s.conn.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	return s.Shorten(ctx) // it went through the log, which is now as long as the archive
}

// Shorten brings the log into the file, which is then as long as it has to be, and empties it. While readers are
// at work it may not be able to.
func (s *Store) Shorten(ctx context.Context) error { return shorten(ctx, s.conn, s.path, s.patience) }

func shorten(ctx context.Context, conn *sql.Conn, path string, patience time.Duration) error {
	ctx, cancel := throughout(ctx, path, patience)
	defer cancel()
	var busy, pages, done sql.NullInt64
	if err := scan(conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`), &busy, &pages, &done); err != nil {
		return fmt.Errorf("shorten the log: %w", ended(ctx, err))
	}
	return nil
}
