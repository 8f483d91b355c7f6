package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver

	"feedex/archive"
	"feedex/feed"
)

// A Reader reads an archive, whether or not a node is running on it. It may be used by several
// goroutines at once. Its methods end early with their context's error.
type Reader struct {
	path     string
	db       *sql.DB
	rankTime time.Duration
}

// OpenReader opens the archive in the file at path for reading. There must be one: the error is
// fs.ErrNotExist otherwise.
func OpenReader(path string, cfg Config) (*Reader, error) {
	r, err := openReader(context.Background(), path, cfg.withDefaults())
	return r, wrap("open", path, err)
}

func openReader(ctx context.Context, path string, cfg Config) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	scripts, err := migrations()
	if err != nil {
		return nil, err
	}
	for _, role := range []role{roleReader, roleVisitor} {
		var r *Reader
		if r, err = newReader(path, role, cfg); err != nil {
			return nil, err
		}
		var v int
		v, err = version(ctx, r.db, len(scripts))
		if err == nil && v < len(scripts) {
			err = errOlder
		}
		if err == nil {
			return r, nil
		}
		r.db.Close()
		if !errors.Is(cause(err), ErrReadOnly) {
			break
		}
	}
	return nil, err
}

// errOlder is for a file that only a node may bring up to date.
var errOlder = errors.New("an older feedex wrote the file: start the node once to convert it")

func newReader(path string, role role, cfg Config) (*Reader, error) {
	name, err := dsn(path, role, cfg.ReaderCache, cfg.BusyTimeout)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(cfg.Readers)
	db.SetMaxIdleConns(cfg.Readers)
	db.SetConnMaxIdleTime(time.Minute) // for their memory
	return &Reader{path: path, db: db, rankTime: cfg.RankTime}, nil
}

// Close ends the Reader, once what it is doing has ended.
func (r *Reader) Close() error { return r.db.Close() }

// statementTime is how long a statement may take that nobody else has set an end to. What goes through the
// whole archive does so in many of them.
const statementTime = 30 * time.Second

// bounded is ctx with an end for one statement.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, statementTime)
}

// failed wraps an error of a method with a context. Where that has ended, it is the reason, whatever
// became of the statement.
func (r *Reader) failed(ctx context.Context, verb string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return wrap(verb, r.path, err)
}

// errOrder is for an index of which the order is broken; following it might never end.
var errOrder = fmt.Errorf("%w (entries out of order)", ErrDamaged)

// A FeedVersion tells whether the entries of a feed are still the same.
type FeedVersion struct {
	Number  int64     // grows with every entry kept or replaced; 0 for a feed without entries
	Changed time.Time // when that last happened, whole seconds; zero for a feed without entries
}

// FeedVersion returns the version of the feed's entries.
func (r *Reader) FeedVersion(ctx context.Context, u feed.URL) (v FeedVersion, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	// Each of the two terms only grows: seqs are not used twice.
	const query = `
		SELECT max(coalesce(e.seq, 0), 0) + f.replaced, max(coalesce(e.seen, 0), coalesce(f.replaced_at, 0))
		FROM feeds f LEFT JOIN entries e ON e.seq = (SELECT max(seq) FROM entries INDEXED BY entries_by_feed WHERE feed = f.id)
		WHERE f.url = ?`
	var changed int64
	err = scan(r.db.QueryRowContext(ctx, query, string(u)), &v.Number, &changed)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && v.Number == 0:
		return FeedVersion{}, nil
	case err != nil:
		return FeedVersion{}, r.failed(ctx, "read", err)
	}
	v.Changed = time.Unix(changed, 0).UTC()
	return v, nil
}

// pageEntries and pageBytes bound what FeedEntries reads at one time.
const (
	pageEntries = 64
	pageBytes   = 1 << 20
)

// FeedEntries returns all entries of the feed, newest arrival first. It holds few of them in memory
// at one time and no snapshot of the archive, so that slow consumers cost nothing; entries that
// arrive meanwhile are not among them. An error is the last thing it yields.
func (r *Reader) FeedEntries(ctx context.Context, u feed.URL) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for before := int64(math.MaxInt64); ; {
			page, err := r.feedPage(ctx, u, before)
			if err != nil {
				yield(archive.Record{}, r.failed(ctx, "read", err))
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			before = page[len(page)-1].Seq
		}
	}
}

// feedPage reads the newest entries of the feed before a seq; none at the end.
func (r *Reader) feedPage(ctx context.Context, u feed.URL, before int64) (page []archive.Record, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := r.db.QueryContext(ctx, `
		SELECT `+recordColumns+` FROM feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id
		WHERE f.url = ? AND e.seq < ? ORDER BY e.seq DESC LIMIT ?`, string(u), before, pageEntries)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		record, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		if record.Seq >= before {
			return nil, errOrder
		}
		before = record.Seq
		page = append(page, record)
		size += len(record.Entry.Summary) + len(record.Entry.Content)
	}
	return page, rows.Err()
}

// Stats are what an archive holds.
type Stats struct {
	Entries   int64 `json:"entries"`
	Feeds     int64 `json:"feeds"`     // with entries or settings
	Unindexed int64 `json:"unindexed"` // entries that Index has yet to see
	Bytes     int64 `json:"bytes"`     // on the disk
	Free      int64 `json:"free"`      // of these that hold nothing; Vacuum gives them back
}

// Stats counts what the archive holds.
func (r *Reader) Stats(ctx context.Context) (st Stats, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	const query = `
		SELECT (SELECT count(*) FROM entries INDEXED BY entries_by_seq), (SELECT count(*) FROM feeds),
			(SELECT count(*) FROM entries INDEXED BY entries_by_seq WHERE seq > state.indexed) + (SELECT count(*) FROM stale),
			(SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)
		FROM state`
	if err := scan(r.db.QueryRowContext(ctx, query), &st.Entries, &st.Feeds, &st.Unindexed, &st.Free); err != nil {
		return Stats{}, r.failed(ctx, "read", err)
	}
	for _, name := range []string{r.path, r.path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			st.Bytes += info.Size()
		case !errors.Is(err, os.ErrNotExist):
			return Stats{}, fmt.Errorf("read %s: %w", r.path, err)
		}
	}
	return st, nil
}
