package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	err = u.step(ctx, "tidy", func() { more = u.merge(mergePages) })
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
		const these = `id > ? AND id <= ? AND NOT kept AND keep_bytes + keep_age + keep_count = 0
			AND NOT EXISTS (SELECT 1 FROM titles WHERE feed = feeds.id)
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

// errBusy is for a call between a write and its Commit.
var errBusy = errors.New("a transaction is open: commit it first")

// Index brings at most max entries that were kept or replaced since they were last indexed into the
// full-text index, in a transaction of its own, and returns how many remain. It is for a process that has the archive
// alone, as a node has not: that has a Housekeeper.
func (s *Store) Index(max int) (remaining int, err error) {
	if s.tx != nil {
		return 0, wrap("index", s.path, errBusy)
	}
	s.begin()
	s.index(max, math.MaxInt)
	s.row(`SELECT (SELECT count(*) FROM stale) + (SELECT max(coalesce(max(seq), 0), indexed) FROM entries) - indexed `+
		`FROM state`, nil, &remaining)
	return remaining, s.Commit()
}

// index brings some entries into the index, until they are so many, or their texts so long.
func (w *writer) index(entries, bytes int) {
	for _, seq := range load(w, single[int64], `SELECT seq FROM stale ORDER BY seq LIMIT ?`, entries) {
		if entries--; bytes <= 0 {
			return
		}
		bytes -= w.indexEntry(seq)
		w.write(`DELETE FROM stale WHERE seq = ?`, seq)
	}
	last := int64(0)
	for _, seq := range load(w, single[int64], `SELECT seq FROM entries INDEXED BY entries_by_seq
		WHERE seq > (SELECT indexed FROM state) ORDER BY seq LIMIT ?`, entries) {
		if bytes <= 0 {
			break
		}
		bytes -= w.indexEntry(seq)
		last = seq
	}
	if last > 0 {
		w.write(`UPDATE state SET indexed = ?`, last)
	}
}

// indexEntry brings the words of one entry into the index, in place of what was there, and returns how long they are.
func (w *writer) indexEntry(seq int64) (bytes int) {
	var number string
	read := func(row rowScanner) (archive.Record, error) { return scanRecord(row, &number) }
	records := load(w, read, `SELECT `+recordColumns+`, e.feed FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq = ?`, seq)
	if w.err != nil || len(records) == 0 {
		return 0
	}
	title, rest := archive.Fold(&records[0].Entry)
	w.write(`INSERT OR REPLACE INTO words (rowid, feed, title, rest) VALUES (?, ?, ?, ?)`, seq, number, title, rest)
	w.write(`INSERT OR REPLACE INTO headings (rowid, title) VALUES (?, ?)`, seq, headingOf(title))
	return len(title) + len(rest)
}

// Free space in the file is given back in one of two ways. Reclaim moves some pages from the file's end to where there
// is room, and can be called again and again while the node works; the file has to be made for that. Vacuum rewrites
// the file, which is then, too.

// incremental is the auto_vacuum of a file that Reclaim can shorten
// (https://sqlite.org/pragma.html#pragma_auto_vacuum).
const incremental = 2

// reclaim gives back to the disk at most max pages of the file (4 KiB each) that hold nothing, and returns how many
// such pages remain. A page takes some 30 µs. The file is shorter once the log has been brought into it: after the last
// step by Shorten. It is an error that is archive.ErrRewrite if the file was not made for it.
func (s *writer) reclaim(max int) (remaining int) {
	var mode int
	if s.row(`PRAGMA auto_vacuum`, nil, &mode); s.err == nil && mode != incremental {
		s.err = archive.ErrRewrite
	}
	s.begin()
	s.rows(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, max), nil, func(*sql.Rows) error { return nil }) // a row a page
	s.row(`PRAGMA freelist_count`, nil, &remaining)
	return remaining
}

// Vacuum rewrites the file without what is free in it, and with what belongs together side by side. It takes
// as much room again meanwhile, and the writer can do nothing else. It belongs to the loop, after a Commit.
func (s *Store) Vacuum(ctx context.Context) error {
	if s.tx != nil {
		return wrap("vacuum", s.path, errBusy)
	}
	ctx, cancel := throughout(ctx, s.path, s.patience)
	defer cancel()
	return wrap("vacuum", s.path, ended(ctx, s.vacuum(ctx)))
}

func (s *Store) vacuum(ctx context.Context) (err error) {
	s.lock.begin()
	defer s.lock.end()
	// The copy would else be made in memory.
	if _, err := s.conn.ExecContext(ctx, `PRAGMA temp_store(FILE)`); err != nil {
		return err
	}
	defer func() {
		_, again := s.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA temp_store(MEMORY)`)
		err = errors.Join(err, again)
	}()
	if _, err := s.conn.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	return s.Shorten(ctx) // it went through the log, which is now as long as the archive
}

// Shorten brings the log into the file, which is then as long as it has to be, and empties it. While readers are
// at work it may not be able to.
func (s *Store) Shorten(ctx context.Context) error { return shorten(ctx, s.conn, s.path, s.patience) }

func shorten(ctx context.Context, conn *sql.Conn, path string, patience time.Duration) error {
	ctx, cancel := throughout(ctx, path, patience)
	defer cancel()
	var busy, pages, done sql.NullInt64
	if err := scan(conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`), &busy, &pages, &done); err != nil {
		return fmt.Errorf("shorten the log: %w", ended(ctx, err))
	}
	return nil
}
