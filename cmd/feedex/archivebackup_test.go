package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Where a file cannot be put beside a backup, what was made is removed, and what was there is left.
func TestABackupIsWholeOrNone(t *testing.T) {
	backup := filepath.Join(t.TempDir(), "b.db")
	if err := errors.Join(os.WriteFile(backup, nil, 0o600), os.Mkdir(backup+".dht", 0o700)); err != nil {
		t.Fatal(err)
	}
	err := addFiles(backup, map[string][]byte{backup + ".dht": nil, backup + ".key": nil, backup + ".sources": nil})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file took the place of another: %v", err)
	}
	if left, _ := filepath.Glob(backup + "*"); len(left) != 1 || left[0] != backup+".dht" {
		t.Errorf("%q are left", left)
	}
}
