package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"feedex/archive"
)

// Faults of an archive, beside archive.ErrFull, that its owner can put right. Every error of this package that has such
// a cause wraps one of these; its text says what to do.
var (
	ErrDamaged = errors.New("the file is damaged, or the disk cannot read it, which the system's log says then: put " +
		"a backup in its place, or move it away to begin anew")
	ErrLocked = errors.New("another program keeps the file locked: end that program")
	ErrMoved  = errors.New("the file was moved, removed or replaced while the node ran: put it back, or start the " +
		"node anew on what is there now")
	ErrNewer    = errors.New("a newer feedex wrote the file: upgrade this one")
	ErrReadOnly = errors.New("the file cannot be opened or written: ask as the user whom it belongs to, or with " +
		"sudo, or see to the permissions of it and its folder")
	ErrDisk     = errors.New("the disk fails, or a quota is used up: look into the system's log")
	ErrUnshared = errors.New("the disk cannot share files between programs, or fails, which the system's log says " +
		"then: choose a directory on one of this machine's own with --data")
	ErrStalled = errors.New("the disk does not answer in time: see whether it hangs or what else keeps it busy, and " +
		"look into the system's log")
)

// wrap says in an error what was being done, to which file, and what to do about it. A context's
// error stays what it is.
func wrap(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // the path is said already
	}
	if cause := cause(err); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%s %s: %w (%w)", verb, path, cause, err)
	}
	return fmt.Errorf("%s %s: %w", verb, path, err)
}

// scan reads a row. A value that does not fit its destination was not written by us.
func scan(row interface{ Scan(...any) error }, dest ...any) error {
	err := row.Scan(dest...)
	if err == nil || cause(err) != nil || isContext(err) || errors.Is(err, ErrStalled) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// cause is the sentinel behind err, nil for none.
func cause(err error) error {
	var e *driver.Error
	switch {
	case errors.As(err, &e):
		return sentinel(e.Code())
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	case errors.Is(err, sql.ErrNoRows): // one that must be there; code that can do without does not ask for a cause
		return ErrDamaged
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return archive.ErrFull
	}
	return nil
}

// sentinel tells the errors that SQLite numbers (https://sqlite.org/rescode.html).
func sentinel(code int) error {
	switch code {
	case codes.SQLITE_IOERR_SHORT_READ, codes.SQLITE_IOERR_CORRUPTFS:
		return ErrDamaged
	case codes.SQLITE_IOERR_SHMMAP, codes.SQLITE_IOERR_SHMOPEN, codes.SQLITE_IOERR_SHMLOCK, codes.SQLITE_IOERR_LOCK:
		return ErrUnshared // as on disks of the network
	case codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_IN_PAGE:
		// The file beside the archive by which connections share it cannot grow, or has no room for a page of it, where
		// blocks of the disk are smaller than that.
		return archive.ErrFull
	}
	switch code & 0xff {
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return ErrDamaged
	case codes.SQLITE_FULL:
		return archive.ErrFull
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL:
		return ErrLocked
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return ErrReadOnly
	case codes.SQLITE_IOERR:
		return ErrDisk
	case codes.SQLITE_ERROR, codes.SQLITE_MISMATCH, codes.SQLITE_CONSTRAINT:
		// All statements are fixed and fit the schema: what they hold against it was not written
		// by us.
		return ErrDamaged
	}
	return nil
}
