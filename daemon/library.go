package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/opml"
	"feedex/reading"
)

// A library is what the programs of a node's owner read and say. It reads beside the loop and writes by it.
type library struct {
	reading.View
	host *host
}

var _ reading.Library = (*library)(nil)

// A desk is the part of a reading.Database that programs of the owner write to.
type desk interface {
	reading.Marks
	reading.Folders
	reading.Passwords
	archive.Hub
}

const (
	// markStep is how many items are marked together: some milliseconds, in which the loop does nothing else.
	markStep = 2000
	// writeTime is how long a program of the owner waits for the loop at most.
	writeTime = 30 * time.Second
)

// write has f write in the loop, and makes that durable. Where f returns an error it must have written nothing.
func (h *host) write(ctx context.Context, f func(desk) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := chore(ctx, h, func() (struct{}, error) {
		err := f(h.store)
		if lost := h.store.Commit(); lost != nil { // of which f may know nothing, or something else
			err = lost
		}
		return struct{}{}, err
	})
	return err
}

// User implements reading.Entrance. Readers ask without a password first, which is no guess.
func (l *library) User(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	return l.enter(ctx, reading.HashOf(password), false)
}

// FeverUser implements reading.Entrance.
func (l *library) FeverUser(ctx context.Context, key string) (string, error) {
	if key == "" {
		return "", nil
	}
	return l.enter(ctx, reading.FeverHash(key), true)
}

func (l *library) enter(ctx context.Context, h reading.Hash, fever bool) (string, error) {
	p, err := l.host.callers.look(callerAddr(ctx), h,
		func() (reading.Password, error) { return l.Password(ctx, h, fever) })
	if err != nil || p.Name == "" {
		return "", err
	}
	if now := time.Now(); now.Sub(p.Used) >= time.Hour {
		// A reader whose visit cannot be written down may read all the same.
		_ = l.host.write(ctx, func(d desk) error { d.UsePassword(p.Name, now); return nil })
	}
	return p.Name, nil
}

// Mark implements reading.Desk.
func (l *library) Mark(ctx context.Context, ids []reading.ItemID, m reading.Mark) error {
	for part := range slices.Chunk(ids, markStep) {
		if err := l.host.write(ctx, func(d desk) error { d.Mark(time.Now(), part, m); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// MarkStream implements reading.Desk.
func (l *library) MarkStream(ctx context.Context, s reading.Stream, m reading.Mark) error {
	for more := true; more; {
		err := l.host.write(ctx, func(d desk) error { more = d.MarkStream(time.Now(), s, m, markStep); return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// Unsubscribe implements reading.Desk.
func (l *library) Unsubscribe(ctx context.Context, id reading.FeedID) error {
	u, err := l.FeedOf(ctx, id)
	if err != nil || u == "" {
		return err
	}
	return l.host.Unsubscribe(ctx, u)
}

// Arrange implements reading.Desk.
func (l *library) Arrange(ctx context.Context, list ...reading.Arrangement) error {
	return l.host.Arrange(ctx, list)
}

// Arrange implements control.Owner.
func (h *host) Arrange(ctx context.Context, list []reading.Arrangement) error {
	list, err := reading.Checked(list)
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return h.write(ctx, func(d desk) error {
		if !d.Arrange(list) {
			return control.BadRequest{Err: reading.ErrFolders}
		}
		return nil
	})
}

// AddFolder implements reading.Desk.
func (l *library) AddFolder(ctx context.Context, raw string) (id reading.FolderID, err error) {
	name, err := reading.FolderName(raw)
	if err != nil {
		return 0, err
	}
	err = l.host.write(ctx, func(d desk) error {
		var ok bool
		if id, ok = d.AddFolder(name); !ok {
			return reading.ErrFolders
		}
		return nil
	})
	return id, err
}

// RenameFolder implements reading.Desk.
func (l *library) RenameFolder(ctx context.Context, id reading.FolderID, raw string) error {
	name, err := reading.FolderName(raw)
	if err != nil {
		return err
	}
	return l.host.write(ctx, func(d desk) error { d.RenameFolder(id, name); return nil })
}

// RemoveFolder implements reading.Desk.
func (l *library) RemoveFolder(ctx context.Context, id reading.FolderID) error {
	return l.host.write(ctx, func(d desk) error { d.RemoveFolder(id); return nil })
}

// Import implements reading.Desk.
func (l *library) Import(ctx context.Context, list []opml.Feed) error {
	if _, err := Follow(ctx, l.host, list, func(int, int) {}); err != nil {
		return fmt.Errorf("follow the feeds of a list: %w", err)
	}
	return nil
}
