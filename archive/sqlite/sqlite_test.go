package sqlite

import (
	"path/filepath"
	"testing"

	"feedex/archive/archivetest"
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
	s := openFile(r.t, r.path)
	s.maxTerms = r.maxTerms
	return reopened{s, r.t}
}

// openFile opens the archive at path until the end of the test.
func openFile(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	archivetest.Run(t, func(t testing.TB) archivetest.Archive {
		return reopened{openFile(t, filepath.Join(t.TempDir(), "archive.db")), t}
	})
}

// Where prefixes have more words than are looked for one by one, the same is found.
func TestStoreWithFewTerms(t *testing.T) {
	archivetest.Run(t, func(t testing.TB) archivetest.Archive {
		s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
		s.maxTerms = 0
		return reopened{s, t}
	})
}
