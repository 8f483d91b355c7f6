package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"feedex/internal/rename"
)

// replacing is held while a file is replaced: no other process does so in the same directory.
var replacing sync.Mutex

// Replace puts text in the place of the file at path, or where there is none: durably and at once, so that a crash
// leaves either the old one or the new one, and beside it at most one that is unfinished, which the next call removes.
// It is for its owner alone.
func Replace(path string, text []byte) error {
	replacing.Lock()
	defer replacing.Unlock()
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := Create(unfinished, text); err != nil {
		return err
	}
	defer os.Remove(unfinished) // gone by then if all went well
	if err := rename.To(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Create puts text in a new file, durably, for its owner alone. The error wraps fs.ErrExist where there is one already;
// after any other there is none.
func Create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// syncDir makes durable which files are in a directory.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which syncs no directories
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
