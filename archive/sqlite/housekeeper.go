package sqlite

import (
	"context"
	"database/sql"
	"math"
	"sync"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A Housekeeper implements archive.Housekeeper. It has a connection of its own, and makes each step in a transaction of
// its own.
type Housekeeper struct {
	mu sync.Mutex // of all that follows
	writer
	path     string
	patience time.Duration
	undone   int // steps in a row that were
}

// Housekeeper opens the archive for its housekeeping. Close it before the Store.
func (s *Store) Housekeeper() (archive.Housekeeper, error) {
	u, err := s.housekeeper()
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (s *Store) housekeeper() (*Housekeeper, error) {
	c := s.config
	c.BusyTimeout = 0 // what it waits for may be kept waiting by it
	w, err := openWriter(context.Background(), s.path, roleHousekeeper, c, s.lock)
	u := &Housekeeper{writer: w, path: s.path, patience: s.patience}
	if err != nil {
		u.Close()
		return nil, wrap("open", s.path, err)
	}
	return u, nil
}

// Close implements archive.Housekeeper.
func (u *Housekeeper) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.close()
}

// Contended implements archive.Housekeeper.
func (u *Housekeeper) Contended() bool { return u.lock.asked.Swap(false) }

// step has f make a step in a transaction.
func (u *Housekeeper) step(ctx context.Context, verb string, f func()) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if !u.lock.lend(ctx, graceAfter(u.undone), func() { end(archive.ErrGaveWay) }) {
		return context.Cause(ctx)
	}
	u.ctx = ctx
	u.begin()
	f()
	err := u.commit()
	u.ctx = nil
	switch {
	case err == nil:
		u.undone = 0
	case ctx.Err() != nil:
		if err = context.Cause(ctx); err == archive.ErrGaveWay {
			u.undone = min(u.undone+1, 10)
		}
		return err
	}
	return wrap(verb, u.path, err)
}

// graceAfter is how long a step has once the loop waits, after so many in a row that were ended.
func graceAfter(ended int) time.Duration { return min(shortestGrace<<ended, longestGrace) }

// indexBytes is how much folded text a step brings into the index, and an entry more: a dozen milliseconds, three dozen
// where no word occurs twice.
const indexBytes = 32 << 10

// Index implements archive.Housekeeper.
func (u *Housekeeper) Index(ctx context.Context) (more bool, err error) {
	err = u.step(ctx, "index", func() {
		u.index(1000, indexBytes)
		more = u.row(`SELECT 1 FROM state WHERE EXISTS (SELECT 1 FROM stale) OR indexed < (SELECT max(seq) FROM `+
			`entries)`, nil, new(int))
	})
	return more, err
}

// Tidy implements archive.Housekeeper.
func (u *Housekeeper) Tidy(ctx context.Context) (more bool, err error) {
	err = u.step(ctx, "tidy", func() { more = u.tidy() })
	return more && err == nil, err
}

// Compact implements archive.Housekeeper.
func (u *Housekeeper) Compact(ctx context.Context, state int64) (next int64, err error) {
	if err = u.step(ctx, "tidy", func() { next = u.compact(state) }); err != nil {
		return state, err
	}
	return next, nil
}

// Purge implements archive.Housekeeper.
func (u *Housekeeper) Purge(ctx context.Context, at time.Time, ids []feed.EntryID) (count int, err error) {
	err = u.step(ctx, "purge", func() {
		count = 0
		for _, dropped := range u.purge(at, ids) {
			if dropped {
				count++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	return count, nil
}

// ForgetPurged implements archive.Housekeeper.
func (u *Housekeeper) ForgetPurged(ctx context.Context, now time.Time, after feed.EntryID) (last feed.EntryID,
	more bool, err error) {
	err = u.step(ctx, "forget", func() { last, more = u.forgetPurged(now, after) })
	return last, more && err == nil, err
}

// ForgetFeeds implements archive.Housekeeper.
func (u *Housekeeper) ForgetFeeds(ctx context.Context, after int64) (last int64, more bool, err error) {
	const step = 500
	err = u.step(ctx, "forget", func() {
		last = math.MaxInt64
		more = u.row(`SELECT id FROM feeds WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, []any{after, step - 1}, &last)
		const these = `id > ? AND id <= ? AND NOT kept AND name = '' AND keep_bytes + keep_age + keep_count = 0
			AND NOT EXISTS (SELECT 1 FROM entries INDEXED BY entries_by_feed WHERE feed = feeds.id)`
		u.write(`DELETE FROM pages WHERE feed IN (SELECT id FROM feeds WHERE `+these+`)`, after, last)
		u.write(`DELETE FROM feeds WHERE `+these, after, last)
		u.lock.removed.Add(1) // before the Store can write
	})
	return last, more && err == nil, err
}

// Reclaim implements archive.Housekeeper.
func (u *Housekeeper) Reclaim(ctx context.Context, max int) (remaining int, err error) {
	err = u.step(ctx, "shorten", func() { remaining = u.reclaim(max) })
	return remaining, err
}

const (
	// logBytes is how long the log grows before it is brought into the file.
	logBytes = 8 << 20
	// pageSize is that of SQLite.
	pageSize = 4096
)

// Log implements archive.Housekeeper.
func (u *Housekeeper) Log(ctx context.Context) error {
	if u.lock.log.Load() < logBytes {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return wrap("write", u.path, u.checkpoint(ctx))
}

func (u *Housekeeper) checkpoint(ctx context.Context) error {
	ctx, cancel := throughout(ctx, u.path, u.patience)
	defer cancel()
	before := u.lock.log.Load()
	var busy, pages, done sql.NullInt64
	if err := scan(u.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`), &busy, &pages, &done); err != nil {
		return ended(ctx, err)
	}
	if done == pages {
		u.lock.log.Add(-before) // the next to write begins the log anew
	} else {
		u.lock.log.Store(pages.Int64 * pageSize)
	}
	return nil
}

// Shorten implements archive.Housekeeper.
func (u *Housekeeper) Shorten(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.checkpoint(ctx); err != nil { // nearly all of it, while the Store may write
		return wrap("shorten", u.path, err)
	}
	if !u.lock.lend(ctx, longestGrace, func() {}) {
		return context.Cause(ctx)
	}
	defer u.lock.end()
	return wrap("shorten", u.path, shorten(ctx, u.conn, u.path, u.patience))
}
