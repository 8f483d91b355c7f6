// Package sqlite keeps an archive in one SQLite file.
//
// Changes that Commit acknowledged survive the end of the process and of the machine: the file is in WAL mode and every
// commit is synced. Entries are found by their words from the moment they are committed, although the full-text index
// is brought up to date later, by Index, when the node has nothing better to do: until then a search reads the texts of
// the entries that are not indexed.
//
// A Store has one connection that writes and a few that read. Errors that the owner can do something about wrap
// archive.ErrFull, ErrDamaged, ErrLocked, ErrMoved, ErrNewer, ErrReadOnly, ErrDisk, ErrUnshared or ErrStalled. No
// damage to the file makes a method panic. Every statement has a deadline; only what hangs in the system outlasts it.
//
// Opening does not check the whole file, which would take longer the longer the archive is kept:
// commits are synced, so a killed node or a power cut leaves nothing to repair, and what a failing
// disk damages is reported by the call that meets it.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Config holds the options of a Store or a Reader. The zero value of each field means its default.
type Config struct {
	// BusyTimeout is how long to wait for another program that has locked the file. Default 10 s.
	BusyTimeout time.Duration
	// RankTime is how long a search by relevance may rank what it found. Default 1 s.
	RankTime time.Duration
	// Patience is how long a statement may take that goes over the whole file, to verify it, to back it up, to rewrite
	// it or to convert it, and as long again for each 60 MiB of the file. Default 1 min.
	Patience time.Duration
	// WriterCache is how many bytes of the file the connection that writes may hold in memory, where they take twice
	// the room. Default 4 MiB: the operating system caches the file besides, so that more gains little.
	WriterCache int
	// Older has OpenReader open an archive as well that an older feedex wrote. Such a Reader is for Backup alone.
	Older bool
}

// readerCache is the same of each connection that reads.
const readerCache = 1 << 20

func (c Config) withDefaults() Config {
	c.BusyTimeout, c.RankTime = cmp.Or(c.BusyTimeout, 10*time.Second), cmp.Or(c.RankTime, time.Second)
	c.Patience, c.WriterCache = cmp.Or(c.Patience, time.Minute), cmp.Or(c.WriterCache, 4<<20)
	return c
}

// A Store is the archive of a running node. It implements reading.Database, whose methods that write together with
// Commit and Close belong to the node's loop; what it has from Reader may be called by any goroutine at any time before
// Close. Work that takes long and can wait is for a Housekeeper.
//
// The first method that writes begins a transaction, which lasts until Commit. Reading methods see
// what was written, and begin none. The first error since the last Commit is remembered: from then
// on the methods do nothing and find nothing, and Commit returns it.
type Store struct {
	*Reader
	writer
	config Config
	file   *os.File // nothing is read or written by it

	feedIDs map[feed.URL]int64 // rows of feeds that were written to lately
	removed uint64             // writeLock.removed, when they were
	nextDID int64              // dids.n of the next did, 0 where it must be looked up
	purges  bool               // entries were purged; where it is false one has to look

	catchers *catchers // the filters; nil where one has to look

	discreet map[feed.URL]bool // feeds that are followed discreetly; nil where one has to look
	differs  bool              // what others know may differ from what the owner has
}

var (
	_ reading.Database    = (*Store)(nil)
	_ reading.View        = (*Reader)(nil)
	_ archive.Housekeeper = (*Housekeeper)(nil)
)

// Open opens the archive in the file at path, made and brought to the newest schema if necessary: where ctx ends before
// that is done, the file stays as it was. The folder must exist.
func Open(ctx context.Context, path string, cfg Config) (*Store, error) {
	s, err := open(ctx, path, cfg.withDefaults())
	return s, wrap("open", path, err)
}

func open(ctx context.Context, path string, cfg Config) (_ *Store, err error) {
	// The file holds URLs that are secrets. SQLite gives its side files the same mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Store{config: cfg, file: file, feedIDs: make(map[feed.URL]int64)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := setForeignLogAside(path); err != nil {
		return nil, err
	}
	if err := renumber(ctx, path, cfg); err != nil {
		return nil, err
	}
	if s.writer, err = openWriter(ctx, path, roleWriter, cfg, newWriteLock()); err != nil {
		return nil, err
	}
	if err := s.convert(ctx, path, cfg.Patience); err != nil {
		return nil, err
	}
	if s.Reader, err = newReader(path, roleReader, cfg); err != nil {
		return nil, err
	}
	return s, nil
}

// convert brings the file to the newest schema.
func (s *Store) convert(ctx context.Context, path string, patience time.Duration) error {
	ctx, cancel := throughout(ctx, path, patience)
	defer cancel()
	return ended(ctx, migrate(ctx, s.conn))
}

// Commit ends the transaction: everything that was written since the last Commit is on the disk when
// it returns nil. If any method met an error meanwhile, or the commit fails, nothing of it is kept
// and the error is returned, once; after that the Store may be used again.
func (s *Store) Commit() error {
	if s.err == nil {
		s.pruneDIDs()
	}
	if s.err == nil && s.tx != nil {
		s.err = s.moved()
	}
	err := s.commit()
	if err != nil {
		s.forget()
	}
	return wrap("write", s.path, err)
}

// moved is ErrMoved where the path leads to the file no more, as where a backup was put in its place: SQLite would go
// on to write to what nobody finds again.
func (s *Store) moved() error {
	is, err := s.file.Stat()
	at, missing := os.Stat(s.path)
	if errors.Is(missing, fs.ErrNotExist) || err == nil && missing == nil && !os.SameFile(is, at) {
		return ErrMoved
	}
	return nil
}

// forget forgets what is remembered of an open transaction.
func (s *Store) forget() {
	s.nextDID, s.discreet, s.catchers = 0, nil, nil
	clear(s.feedIDs)
}

// Close ends the Store. Changes that were not committed are dropped. The file is then complete in itself, without the
// -wal and -shm files that stand beside it while it is in use.
func (s *Store) Close() error {
	s.forget()
	var err error
	if s.Reader != nil {
		err = s.Reader.Close()
	}
	err = errors.Join(err, s.close())
	s.file.Close() // last, because this process gives up its locks with it; nothing was written by it
	return err
}

// A Reader reads an archive, whether or not a node is running on it. It may be used by several
// goroutines at once. Its methods end early with the cause of their context's end.
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
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.Size() == 0 {
		return nil, errEmpty
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
		if err == nil && v < len(scripts) && !cfg.Older {
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

// errEmpty is for a file that has nothing in it, as a copy leaves that failed, or a node that was killed as it began.
var errEmpty = errors.New("the file is empty: it is no archive; put another copy in its place, or remove it")

// errOlder is for a file that only a node may bring up to date.
var errOlder = errors.New("an older feedex wrote the file: start the node, anew if it runs, which converts it")

func newReader(path string, role role, cfg Config) (*Reader, error) {
	name, err := dsn(path, role, readerCache, cfg.BusyTimeout)
	if err != nil {
		return nil, err
	}
	db, err := openDB(name)
	if err != nil {
		return nil, err
	}
	most := min(4, 2*runtime.GOMAXPROCS(0)) // more wait
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
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

// A role is the purpose of a connection. Settings are per connection, so they stand in the name by which database/sql
// opens every one of them.
type role string

const (
	// roleWriter commits durably: with synchronous=FULL a commit is on the disk when it returns, on macOS, where fsync
	// leaves it in the disk's memory, with fullfsync besides.
	// Its transactions are immediate, because one that begins by reading could find the database
	// locked when it comes to write. The log that commits go to is brought into the file every 8,000
	// pages: a page that changes in many commits is then written there once, and few commits wait.
	// How room is given back (see Reclaim) has to be said before anything is in a new file.
	roleWriter role = "mode=rw&_txlock=immediate&_pragma=auto_vacuum(2)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=fullfsync(1)" +
		"&_pragma=wal_autocheckpoint(8000)&_pragma=journal_size_limit(67108864)"
	// roleHousekeeper is a writer that does not wait for others: it can do its work later. A log that grows while it
	// does is the business of the connection that brings it into the file.
	roleHousekeeper role = "mode=rw&_txlock=immediate&_pragma=synchronous(FULL)&_pragma=fullfsync(1)" +
		"&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)"
	// roleReader may clean up after a node that was killed, but changes nothing otherwise.
	roleReader role = "mode=rw&_pragma=query_only(1)"
	// roleReadOnly is a reader without the right to write.
	roleReadOnly role = "mode=ro&_pragma=query_only(1)"
	// roleImmutable is a reader of a file beside which it can write nothing and that no other connection has open, as
	// on a medium that is read-only.
	roleImmutable role = "mode=ro&immutable=1&_pragma=query_only(1)"
)

// dsn is the data source name of the file at path. cell_size_check finds damage before it is
// followed; trusted_schema, defensive and dqs keep a doctored file from running more than our
// statements.
func dsn(path string, r role, cacheBytes int, busy time.Duration) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	settings := fmt.Sprintf("%s&_dqs=0&_defensive=1&_error_rc=1&_pragma=busy_timeout(%d)&_pragma=cache_size(-%d)"+
		"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)",
		r, busy.Milliseconds(), cacheBytes>>10)
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: settings}).String(), nil
}
