package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/internal/datadir"
	"feedex/reading"
)

// An OfflineArchive keeps the archive of a data directory on which no node runs.
type OfflineArchive struct {
	filing
	store  reading.Database
	unlock func()
}

var _ control.Maintenance = (*OfflineArchive)(nil)

// OpenOffline opens the archive of a data directory and keeps nodes from running on it until Close. Where create is
// false there must be an archive: the error is fs.ErrNotExist otherwise. It wraps datadir.ErrInUse where a node runs.
func OpenOffline(ctx context.Context, data string, create bool, open OpenDatabase) (*OfflineArchive, error) {
	path := DatabasePath(data)
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	unlock, err := datadir.Lock(data)
	if err != nil {
		return nil, err
	}
	datadir.Own(path) // and with it the log that SQLite has beside it: a backup that was put there may be root's
	store, err := open(ctx, path)
	if err != nil {
		unlock()
		return nil, fmt.Errorf("open archive: %w", err)
	}
	write := func(_ context.Context, f func(reading.Database) error) error { return committed(store, f) }
	return &OfflineArchive{filing{store, write, data, func() {}}, store, unlock}, nil
}

// Close lets nodes run on the data directory again.
func (k *OfflineArchive) Close() error {
	defer k.unlock()
	defer datadir.Own(DatabasePath(k.data)) // which may be new
	return k.store.Close()
}

// Import implements control.Maintenance.
func (k *OfflineArchive) Import(_ context.Context, lines []jsonl.Line) (added int, err error) {
	return fill(k.store, time.Now(), lines)
}

// Vacuum implements control.Maintenance.
func (k *OfflineArchive) Vacuum(ctx context.Context) error { return k.store.Vacuum(ctx) }

// Index brings some entries into the full-text index and returns how many remain.
func (k *OfflineArchive) Index() (remaining int, err error) {
	remaining, err = k.store.Index(5000)
	for more := true; more && err == nil; {
		more, err = k.store.Tidy()
	}
	return remaining, err
}
