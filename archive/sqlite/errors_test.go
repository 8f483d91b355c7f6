package sqlite

import (
	"testing"

	codes "modernc.org/sqlite/lib"

	"feedex/archive"
)

func TestSentinel(t *testing.T) {
	for code, want := range map[int]error{
		codes.SQLITE_FULL:             archive.ErrFull,
		codes.SQLITE_IOERR_SHMSIZE:    archive.ErrFull,
		codes.SQLITE_IOERR:            ErrDisk,
		codes.SQLITE_IOERR_FSYNC:      ErrDisk,
		codes.SQLITE_IOERR_WRITE:      ErrDisk,
		codes.SQLITE_IOERR_SHORT_READ: ErrDamaged,
		codes.SQLITE_IOERR_CORRUPTFS:  ErrDamaged,
		codes.SQLITE_NOTADB:           ErrDamaged,
		codes.SQLITE_BUSY_SNAPSHOT:    ErrLocked,
		codes.SQLITE_CANTOPEN:         ErrReadOnly,
		codes.SQLITE_INTERRUPT:        nil,
	} {
		if got := sentinel(code); got != want {
			t.Errorf("code %d: %v, want %v", code, got, want)
		}
	}
}
