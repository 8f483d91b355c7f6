package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"feedex/archive"
)

// A Reader reads an archive, whether or not a node is running on it. It may be used by several
// goroutines at once. Its methods end early with their context's error.
type Reader struct {
	path     string
	db       *sql.DB
	rankTime time.Duration
	patience time.Duration
	maxTerms int // see prefixed

	mu    sync.Mutex
	stmts map[string]*sql.Stmt // what is asked so often that it is prepared once
}

// OpenReader opens the archive in the file at path for reading. There must be one: the error is
// fs.ErrNotExist otherwise. It is for other processes than that of a Store, which has a Reader: a process that looks at
// the header of a file and closes it gives up its locks (https://sqlite.org/howtocorrupt.html §2.2).
func OpenReader(path string, cfg Config) (*Reader, error) {
	r, err := openReader(context.Background(), path, cfg.withDefaults())
	return r, wrap("open", path, err)
}

func openReader(ctx context.Context, path string, cfg Config) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if err := foreignLog(path); err != nil {
		return nil, err
	}
	scripts, err := migrations()
	if err != nil {
		return nil, err
	}
	for _, role := range []role{roleReader, roleReadOnly, roleImmutable} {
		if role == roleImmutable && logged(path) {
			break
		}
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

// logged reports whether a log stands beside the file: somebody has it open, or was killed.
func logged(path string) bool {
	_, err := os.Stat(logOf(path))
	return !errors.Is(err, os.ErrNotExist)
}

// errOlder is for a file that only a node may bring up to date.
var errOlder = errors.New("an older feedex wrote the file: start the node once to convert it")

func newReader(path string, role role, cfg Config) (*Reader, error) {
	name, err := dsn(path, role, cfg.ReaderCache, cfg.BusyTimeout)
	if err != nil {
		return nil, err
	}
	db, err := openDB(name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(cfg.Readers)
	db.SetMaxIdleConns(cfg.Readers)
	db.SetConnMaxIdleTime(time.Minute) // for their memory
	return &Reader{path: path, db: db, rankTime: cfg.RankTime, patience: cfg.Patience, maxTerms: maxTerms,
		stmts: make(map[string]*sql.Stmt)}, nil
}

// Close ends the Reader, once what it is doing has ended.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for query, stmt := range r.stmts {
		errs = append(errs, stmt.Close())
		delete(r.stmts, query)
	}
	return errors.Join(append(errs, r.db.Close())...)
}

// prepare returns the statement for a query, kept from the first time on. To prepare one takes longer than to find a
// row. There are few such queries.
func (r *Reader) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stmt := r.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := r.db.PrepareContext(ctx, query)
	if err == nil {
		r.stmts[query] = stmt
	}
	return stmt, err
}

// failed wraps an error of a method with a context. Where that has ended, it is the reason, whatever
// became of the statement.
func (r *Reader) failed(ctx context.Context, verb string, err error) error {
	return wrap(verb, r.path, ended(ctx, err))
}

// errOrder is for an index of which the order is broken; following it might never end.
var errOrder = fmt.Errorf("%w (entries out of order)", ErrDamaged)

// Stats implements archive.Contents.
func (r *Reader) Stats(ctx context.Context) (st archive.Stats, err error) {
	const query = `
		SELECT (SELECT count(*) FROM entries INDEXED BY entries_by_seq), (SELECT count(*) FROM feeds WHERE NOT apart),
			(SELECT count(*) FROM entries INDEXED BY entries_by_seq WHERE seq > state.indexed) + (SELECT count(*) FROM stale),
			(SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size),
			(SELECT auto_vacuum = 2 FROM pragma_auto_vacuum)
		FROM state`
	if err := scan(r.db.QueryRowContext(ctx, query), &st.Entries, &st.Feeds, &st.Unindexed, &st.Free,
		&st.InSteps); err != nil {
		return archive.Stats{}, r.failed(ctx, "read", err)
	}
	for _, name := range []string{r.path, logOf(r.path)} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			st.Bytes += info.Size()
		case !errors.Is(err, os.ErrNotExist):
			return archive.Stats{}, fmt.Errorf("read %s: %w", r.path, err)
		}
	}
	return st, nil
}
