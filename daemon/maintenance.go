package daemon

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/datadir"
	"feedex/reading"
)

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

var _ control.Maintenance = (*OfflineArchive)(nil)

// OpenOffline opens the archive of a data directory and keeps nodes from running on it until Close. Where create is
// false there must be an archive: the error is fs.ErrNotExist otherwise. It wraps ErrInUse where a node runs.
func OpenOffline(data string, create bool, open OpenDatabase) (*OfflineArchive, error) {
	path := DatabasePath(data)
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	unlock, err := datadir.Lock(data)
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

// Import implements control.Maintenance. The core knows nothing of it: what is filled in is no news. Between two steps
// the loop turns to whatever else is due.
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

// Vacuum implements control.Maintenance.
func (h *host) Vacuum(ctx context.Context) error {
	for {
		left, err := insist(ctx, h, func() (int, error) { return h.housekeeper.Reclaim(ctx, reclaimStep) })
		switch {
		case errors.Is(err, archive.ErrWhole):
			_, err := chore(ctx, h, func() (struct{}, error) { return struct{}{}, h.store.Vacuum(ctx) })
			return err
		case err != nil:
			return err
		case left == 0:
			return h.housekeeper.Shorten(ctx)
		}
	}
}

// addPassword makes a password and keeps its hashes.
func addPassword(d reading.Passwords, name string) (secret string, err error) {
	if err := reading.CheckPasswordName(name); err != nil {
		return "", err
	}
	var chance [reading.SecretBytes]byte
	crand.Read(chance[:])
	secret = hex.EncodeToString(chance[:])
	return secret, d.KeepPassword(reading.NewPassword(name, secret, time.Now()))
}

func removePassword(d reading.Passwords, name string) error {
	if !d.DropPassword(name) {
		return fmt.Errorf("remove password %q: %w", name, control.ErrNoPassword)
	}
	return nil
}

// AddPassword implements control.Maintenance.
func (h *host) AddPassword(ctx context.Context, name string) (secret string, err error) {
	err = h.write(ctx, func(d desk) error {
		secret, err = addPassword(d, name)
		return asked(err)
	})
	return secret, err
}

// RemovePassword implements control.Maintenance.
func (h *host) RemovePassword(ctx context.Context, name string) error {
	return h.write(ctx, func(d desk) error { return asked(removePassword(d, name)) })
}

// asked is err as an error of the client.
func asked(err error) error {
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return nil
}

// AddPassword implements control.Maintenance.
func (k *OfflineArchive) AddPassword(_ context.Context, name string) (string, error) {
	secret, err := addPassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return secret, err
}

// RemovePassword implements control.Maintenance.
func (k *OfflineArchive) RemovePassword(_ context.Context, name string) error {
	err := removePassword(k.store, name)
	if lost := k.store.Commit(); lost != nil {
		err = lost
	}
	return err
}
