package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/reading"
)

// A Maintenance changes an archive as a whole. An Owner does so while the node runs, an OfflineArchive while none does.
type Maintenance interface {
	// Import fills in entries of an export, the newest first, and returns how many were not there yet. What
	// was stored is durable when it returns, also where it returns an error; a repetition stores the rest. Entries that
	// were purged come back by it, and by nothing else.
	Import(ctx context.Context, lines []jsonl.Line) (added int, err error)
	// Vacuum gives back the room that holds nothing in the archive's file. A node does so in steps between which it
	// works, unless an older feedex made the file: that is rewritten, and the node can do nothing else meanwhile.
	Vacuum(ctx context.Context) error
	// AddPassword makes a password for a program of the owner, which is kept nowhere else. The error wraps
	// reading.ErrName, reading.ErrTaken or reading.ErrPasswords where that is the reason.
	AddPassword(ctx context.Context, name string) (secret string, err error)
	// RemovePassword ends a password. The error wraps ErrNoPassword where there is none of that name.
	RemovePassword(ctx context.Context, name string) error
}

// filling is the part of an archive that an import writes to.
type filling interface {
	archive.Entries
	Commit() error
}

// fill stores some lines durably.
func fill(store filling, now time.Time, lines []jsonl.Line) (added int, err error) {
	records := make([]archive.Record, len(lines))
	ids := make([]feed.EntryID, len(lines))
	for i := range lines {
		records[i] = lines[i].Filling(now)
		ids[i] = records[i].ID
	}
	store.Readmit(ids) // what was purged the owner wants back
	var hidden []feed.EntryID
	for i, stored := range store.Fill(now, records) {
		if stored {
			added++
			if lines[i].Hidden {
				hidden = append(hidden, records[i].ID)
			}
		}
	}
	store.Hide(hidden)
	if err := store.Commit(); err != nil {
		return 0, err
	}
	return added, nil
}

// A OfflineArchive keeps the archive of a data directory on which no node runs.
type OfflineArchive struct {
	store  reading.Database
	unlock func()
}

var _ Maintenance = (*OfflineArchive)(nil)

// OpenOffline opens the archive of a data directory and keeps nodes from running on it until Close. Where create is
// false there must be an archive: the error is fs.ErrNotExist otherwise. It wraps ErrInUse where a node runs.
func OpenOffline(data string, create bool, open OpenDatabase) (*OfflineArchive, error) {
	path := DatabasePath(data)
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	unlock, err := lockData(data)
	if err != nil {
		return nil, err
	}
	store, err := open(path)
	if err != nil {
		unlock()
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return &OfflineArchive{store, unlock}, nil
}

// Close lets nodes run on the data directory again.
func (k *OfflineArchive) Close() error {
	defer k.unlock()
	return k.store.Close()
}

// Import implements Maintenance.
func (k *OfflineArchive) Import(_ context.Context, lines []jsonl.Line) (added int, err error) {
	return fill(k.store, time.Now(), lines)
}

// Vacuum implements Maintenance.
func (k *OfflineArchive) Vacuum(ctx context.Context) error { return k.store.Vacuum(ctx) }

// Index brings some entries into the full-text index and returns how many remain.
func (k *OfflineArchive) Index() (remaining int, err error) {
	remaining, err = k.store.Index(5000)
	for more := true; more && err == nil; {
		more, err = k.store.Tidy()
	}
	return remaining, err
}

// chore has f called by the loop when it is at no event, and returns what it returned.
func chore[T any](ctx context.Context, h *host, f func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	work := func() {
		defer close(done)
		value, err = f()
		h.stir()
	}
	select {
	case h.chores <- work:
		<-done // it has begun
		return value, err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// Import implements Maintenance. The core knows nothing of it: what is filled in is no news. Between two steps the loop
// turns to whatever else is due.
func (h *host) Import(ctx context.Context, lines []jsonl.Line) (added int, err error) {
	for part := range portions(lines, lineWeight) {
		n, err := chore(ctx, h, func() (int, error) { return fill(h.store, time.Now(), part) })
		added += n
		if err != nil {
			return added, err
		}
	}
	return added, nil
}

// reclaimStep is how many pages of the archive's file are given back at a time: about ten milliseconds.
const reclaimStep = 256

// Vacuum implements Maintenance.
func (h *host) Vacuum(ctx context.Context) error {
	for {
		left, err := insist(ctx, h, func() (int, error) { return h.housekeeper.Reclaim(ctx, reclaimStep) })
		switch {
		case errors.Is(err, archive.ErrWhole):
			_, err := chore(ctx, h, func() (struct{}, error) { return struct{}{}, h.rewrite(ctx) })
			return err
		case err != nil:
			return err
		case left == 0:
			return h.housekeeper.Shorten(ctx)
		}
	}
}

// rewrite has the archive rewrite its file. That may take minutes and has a time of its own: the loop counts as turning
// meanwhile.
func (h *host) rewrite(ctx context.Context) error {
	turning, end := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	ticks.Go(func() {
		tick := time.NewTicker(longestNap)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.config.Turned()
			case <-turning.Done():
				return
			}
		}
	})
	err := h.store.Vacuum(ctx)
	end()
	ticks.Wait()
	return err
}
