package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"feedex/archive/archivetest"
	"feedex/reading"
)

// A reopened is a Store with what archivetest wants besides.
type reopened struct {
	*Store
	t testing.TB
}

func (r reopened) Reopen() archivetest.Archive {
	if err := r.Close(); err != nil {
		r.t.Fatalf("Close: %v", err)
	}
	return reopened{openFile(r.t, r.path), r.t}
}

// openFile opens the archive at path until the end of the test.
func openFile(t testing.TB, path string) *Store {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		copyEmpty(t, path)
	}
	s, err := Open(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	alone(t)
	archivetest.Run(t, func(t testing.TB) archivetest.Archive {
		return reopened{openFile(t, filepath.Join(t.TempDir(), "archive.db")), t}
	})
}

func openDatabase(t testing.TB) reading.Database {
	return openFile(t, filepath.Join(t.TempDir(), "archive.db"))
}

func TestDatabase(t *testing.T) { archivetest.RunDatabase(t, openDatabase) }
