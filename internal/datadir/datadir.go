// Package datadir holds the directory of everything that a node or a tracker keeps for one process at a time, and puts
// small files there.
package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrInUse means that another node or tracker runs on the data directory.
var ErrInUse = errors.New("another feedex runs on it")

// Lock makes a data directory and sees to it that one node or tracker runs on it, until unlock. The error wraps
// ErrInUse where another does.
func Lock(data string) (unlock func(), err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w; choose another with --data", err)
	}
	lock := flock.New(filepath.Join(data, "lock"))
	locked, err := lock.TryLock()
	Own(lock.Path())
	if err != nil {
		return nil, fmt.Errorf("lock data directory %s: %w; make it writable or choose another with --data", data, err)
	}
	if !locked {
		return nil, fmt.Errorf("lock data directory %s: %w; stop it first or choose another directory with --data",
			data, ErrInUse)
	}
	return func() { lock.Unlock() }, nil
}
