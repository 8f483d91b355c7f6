package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// emptyArchive is a file of the newest schema with nothing in it. To make one takes more than a second with the race
// detector, so tests copy this one.
var emptyArchive = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "feedex")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "archive.db")
	s, err := Open(path, Config{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// copyEmpty makes an archive without entries at path.
func copyEmpty(t testing.TB, path string) {
	t.Helper()
	text, err := emptyArchive()
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// alone skips a long test that starts no goroutine of its own where the race detector would make minutes of it.
func alone(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("it starts no goroutine, and the race detector slows SQLite down fortyfold: it runs without")
	}
}
