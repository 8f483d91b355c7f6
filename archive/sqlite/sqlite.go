// Package sqlite keeps an archive in one SQLite file.
//
// What Commit acknowledged survives the end of the process and of the machine: the file is in WAL
// mode and every commit is synced. Entries are found by their words from the moment they are
// committed, although the full-text index is brought up to date later, by Index, when the node has
// nothing better to do: until then a search reads the texts of the entries that are not indexed.
//
// A Store has one connection that writes and a few that read. Errors that the owner can do something
// about wrap archive.ErrFull, ErrDamaged, ErrLocked, ErrNewer, ErrReadOnly, ErrDisk or ErrStalled. No damage to
// the file makes a method panic, and no disk that hangs keeps one from coming back.
//
// Opening does not check the whole file, which would take longer the longer the archive is kept:
// commits are synced, so a killed node or a power cut leaves nothing to repair, and what a failing
// disk damages is reported by the call that meets it.
package sqlite

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Config is what may be chosen about a Store or a Reader. The zero value of each field means its
// default.
type Config struct {
	// BusyTimeout is how long to wait for another program that has locked the file. Default 10 s.
	BusyTimeout time.Duration
	// Readers is how many searches may run at one time; more wait. Default twice the processors, at
	// most 4.
	Readers int
	// RankTime is how long a search by relevance may rank what it found. Default 1 s.
	RankTime time.Duration
	// Patience is how long work on the whole file may go on and get nowhere: to verify it, to back it up, to rewrite it
	// or to convert it. A statement of it has that long, and as long again for each 60 MiB of the file. Default 1 min.
	Patience time.Duration
	// WriterCache and ReaderCache are how many bytes of the file each connection may hold in memory,
	// where they take twice the room. Defaults 4 MiB and 1 MiB: the operating system caches the file
	// besides, so that more gains little.
	WriterCache, ReaderCache int
}

func (c Config) withDefaults() Config {
	if c.BusyTimeout <= 0 {
		c.BusyTimeout = 10 * time.Second
	}
	if c.Readers <= 0 {
		c.Readers = min(4, 2*runtime.GOMAXPROCS(0))
	}
	if c.RankTime <= 0 {
		c.RankTime = time.Second
	}
	if c.Patience <= 0 {
		c.Patience = time.Minute
	}
	if c.WriterCache <= 0 {
		c.WriterCache = 4 << 20
	}
	if c.ReaderCache <= 0 {
		c.ReaderCache = 1 << 20
	}
	return c
}

// A Store is the archive of a running node. It implements reading.Database, whose methods that write together with
// Commit and Close belong to the node's loop; what it has from Reader may be called by any
// goroutine at any time before Close. What takes long and can wait is for a Housekeeper.
//
// The first method that writes begins a transaction, which lasts until Commit. Reading methods see
// what was written, and begin none. The first error since the last Commit is remembered: from then
// on the methods do nothing and find nothing, and Commit returns it.
type Store struct {
	*Reader
	writer
	config Config

	feedIDs map[feed.URL]int64 // rows of feeds that were written to lately
	removed uint64             // as in turn, when they were
	nextDID int64              // dids.n of the next did, 0 where it must be looked up
	purges  bool               // entries were purged; where it is false one has to look

	discreet map[feed.URL]bool // feeds that are followed discreetly; nil where one has to look
	differs  bool              // what others know may differ from what the owner has
}

var (
	_ reading.Database    = (*Store)(nil)
	_ reading.View        = (*Reader)(nil)
	_ archive.Housekeeper = (*Housekeeper)(nil)
)

// Open opens the archive in the file at path, made and brought to the newest schema if necessary.
// The folder must exist.
func Open(path string, cfg Config) (*Store, error) {
	s, err := open(context.Background(), path, cfg.withDefaults())
	return s, wrap("open", path, err)
}

func open(ctx context.Context, path string, cfg Config) (_ *Store, err error) {
	// The file holds URLs that are secrets. SQLite gives its side files the same mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	if err := dropForeignLog(path); err != nil {
		return nil, err
	}
	s := &Store{config: cfg, feedIDs: make(map[feed.URL]int64)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
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
	err := s.commit()
	if err != nil {
		s.forget()
	}
	return wrap("write", s.path, err)
}

// forget forgets what is remembered of an open transaction.
func (s *Store) forget() {
	s.nextDID, s.discreet = 0, nil
	clear(s.feedIDs)
}

// Close ends the Store. What was not committed is dropped. The file is then complete in itself,
// without the -wal and -shm files that stand beside it while it is in use.
func (s *Store) Close() error {
	s.forget()
	var err error
	if s.Reader != nil {
		err = s.Reader.Close()
	}
	return errors.Join(err, s.close())
}
