// Package ondisk opens archives of the backend that the program uses, for tests of packages that work with any.
package ondisk

import (
	"testing"

	"feedex/archive/sqlite"
	"feedex/reading"
)

// Open is a daemon.OpenDatabase.
func Open(path string) (reading.Database, error) {
	s, err := sqlite.Open(path, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// MustOpen opens the archive in the file at path. Its test closes it.
func MustOpen(t testing.TB, path string) reading.Database {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// View opens the archive in the file at path as another process reads it, until the test ends.
func View(t testing.TB, path string) reading.View {
	t.Helper()
	r, err := sqlite.OpenReader(path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
