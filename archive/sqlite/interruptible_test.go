package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	modernc "modernc.org/sqlite"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// registerSlow gives SQLite a function slow(x) that takes x seconds and cannot be interrupted meanwhile, like a disk
// that hangs.
func registerSlow() {
	modernc.MustRegisterScalarFunction("slow", 1, func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value,
		error) {
		seconds, _ := args[0].(int64)
		if seconds > 0 {
			<-time.After(time.Duration(seconds) * time.Second)
		}
		return seconds, nil
	})
}

// endless has no end, but may be interrupted: a row of it takes a second.
const endless = `WITH RECURSIVE n (i) AS (SELECT slow(1) UNION ALL SELECT i + slow(1) FROM n) SELECT count(*) FROM n`

// inBubble calls f with an archive in virtual time.
func inBubble(t *testing.T, f func(t *testing.T, s *Store)) {
	path := filepath.Join(t.TempDir(), "archive.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), path, Config{})
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// took checks how long f takes, to a second.
func took(t *testing.T, want time.Duration, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if d := time.Since(begun); d < want || d > want+time.Second {
		t.Errorf("it took %v, want %v", d, want)
	}
}

// A batch with a statement that does not end fails like one with any other fault of the disk: in time, with all that it
// wrote, saying what is wrong. The next is as good as any.
func TestStoreEndsAStatementInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		execSQL(t, s, `CREATE TEMP TRIGGER lame BEFORE INSERT ON dids BEGIN SELECT slow(1) FROM feeds a, feeds b, `+
			`feeds c; END`)
		for i := range 10 {
			s.KeepFeed(archive.Feed{URL: victimFeed(i)}) // a thousand seconds
		}
		commit(t, s)
		s.KeepFeed(archive.Feed{URL: victimFeed(20)})
		took(t, statementTime, func() { s.KeepDID(protocol.DID{1}) })
		took(t, 0, func() { s.KeepFeed(archive.Feed{URL: victimFeed(21)}) })
		took(t, 0, func() { wantCause(t, s.Commit(), ErrStalled, s.path) })

		execSQL(t, s, `DROP TRIGGER lame`)
		s.KeepDID(protocol.DID{2})
		if err := s.Commit(); err != nil || len(s.LoadFeeds()) != 10 || s.HasDID(protocol.DID{1}) ||
			!s.HasDID(protocol.DID{2}) {
			t.Errorf("after that: %v, %d feeds, first did %v, second did %v", err, len(s.LoadFeeds()),
				s.HasDID(protocol.DID{1}), s.HasDID(protocol.DID{2}))
		}
	})
}

// No interrupt reaches a disk that hangs. Readers, who have connections of their own, go on meanwhile, and so does the
// loop when the disk does.
func TestADiskThatHangsHoldsUpNobodyElse(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		execSQL(t, s, `CREATE TEMP TRIGGER hang BEFORE INSERT ON dids BEGIN SELECT slow(3600); END`)
		s.KeepFeed(archive.Feed{URL: exampleURL})
		back := make(chan struct{})
		go func() {
			s.KeepDID(protocol.DID{1})
			close(back)
		}()
		<-time.After(time.Minute / 2)
		took(t, 0, func() {
			if got, err := s.Search(t.Context(), feed.Filter{}); err != nil || len(got) != 0 {
				t.Errorf("a search: %v, %v", got, err)
			}
		})
		took(t, time.Hour-time.Minute/2, func() { <-back })
		wantCause(t, s.Commit(), ErrStalled, s.path)
		execSQL(t, s, `DROP TRIGGER hang`)
		s.KeepDID(protocol.DID{2})
		if err := s.Commit(); err != nil || len(s.LoadFeeds()) != 0 || s.HasDID(protocol.DID{1}) ||
			!s.HasDID(protocol.DID{2}) {
			t.Errorf("after that: %v, feeds %v, first did %v, second did %v; want nothing of what failed", err,
				s.LoadFeeds(), s.HasDID(protocol.DID{1}), s.HasDID(protocol.DID{2}))
		}
	})
}

const exampleURL = "https://www.example.org/"

// A caller that waits for a connection while all of them hang waits no longer than it wants to, and finds one when they
// are back.
func TestNobodyWaitsForAHungConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		const readers = 4
		s.Reader.db.SetMaxOpenConns(readers)
		back := make(chan error)
		for range readers {
			go func() { back <- s.Reader.db.QueryRowContext(t.Context(), `SELECT slow(3600)`).Scan(new(int)) }()
		}
		<-time.After(time.Second)
		took(t, searchTime, func() {
			if _, err := s.Search(t.Context(), feed.Filter{}); !errors.Is(err, archive.ErrSlow) {
				t.Errorf("a search while all connections hang: %v, want %v", err, archive.ErrSlow)
			}
		})
		for range readers {
			if err := <-back; !errors.Is(err, ErrStalled) {
				t.Errorf("what hung: %v, want %v", err, ErrStalled)
			}
		}
		if _, err := s.Search(t.Context(), feed.Filter{}); err != nil {
			t.Errorf("when all are back: %v", err)
		}
	})
}

// A statement ends when its caller says so, and after statementTime where that says nothing, whether it was prepared or
// not.
func TestReadersEndInTime(t *testing.T) {
	for name, query := range map[string]func(ctx context.Context, s *Store) error{
		"at once": func(ctx context.Context, s *Store) error {
			return s.Reader.db.QueryRowContext(ctx, endless).Scan(new(int))
		},
		"prepared": func(ctx context.Context, s *Store) error {
			stmt, err := s.Reader.prepare(ctx, endless)
			if err != nil {
				return err
			}
			return stmt.QueryRowContext(ctx).Scan(new(int))
		},
		"without rows": func(ctx context.Context, s *Store) error {
			_, err := s.Reader.db.ExecContext(ctx, endless)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Store) {
				took(t, statementTime, func() {
					if err := query(t.Context(), s); !errors.Is(err, ErrStalled) {
						t.Errorf("err = %v, want %v", err, ErrStalled)
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				took(t, 3*time.Second, func() {
					if err := s.failed(ctx, "read", query(ctx, s)); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("err = %v, want the caller's", err)
					}
				})
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(5*time.Second, cancel)
				took(t, 5*time.Second, func() {
					if err := query(ctx, s); !errors.Is(err, context.Canceled) {
						t.Errorf("err = %v, want the caller's", err)
					}
				})
				if got, err := s.Search(t.Context(), feed.Filter{}); err != nil {
					t.Errorf("the next search: %v, %v", got, err)
				}
			})
		})
	}
}

// Rows end between two of them when their time is over.
func TestRowsEndInTime(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	rows, err := s.Reader.db.QueryContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) `+
		`SELECT i FROM n`)
	if err == nil {
		err = each(rows, func(*sql.Rows) error { return nil })
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want %v", err, context.DeadlineExceeded)
	}
}

// A lame connector has the connections of a database take as long as takes says for each statement, before they carry
// it out, and for each commit.
type lame struct {
	driver.Connector
	takes func(query string) time.Duration
}

func (l lame) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &lameConn{c.(connection), l.takes}, nil
}

type lameConn struct {
	connection
	takes func(query string) time.Duration
}

func (c *lameConn) wait(ctx context.Context, query string) error {
	if d := c.takes(query); d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (c *lameConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.wait(ctx, query); err != nil {
		return nil, err
	}
	return c.connection.ExecContext(ctx, query, args)
}

func (c *lameConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.wait(ctx, query); err != nil {
		return nil, err
	}
	return c.connection.QueryContext(ctx, query, args)
}

func (c *lameConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.connection.BeginTx(ctx, opts)
	return lameTx{tx, c}, err
}

type lameTx struct {
	driver.Tx
	conn *lameConn
}

func (t lameTx) Commit() error {
	if err := t.conn.wait(context.Background(), "COMMIT"); err != nil {
		return err
	}
	return t.Tx.Commit()
}

// maimed has statements that contain a text take so long on the archive, on any connection.
func maimed(t *testing.T, s *Store, text string, takes time.Duration) {
	t.Helper()
	reopen(t, s, func(c driver.Connector) driver.Connector {
		return lame{c, func(query string) time.Duration {
			if strings.Contains(query, text) {
				return takes
			}
			return 0
		}}
	})
}

// reopen has the archive use connections by way of another connector.
func reopen(t *testing.T, s *Store, by func(driver.Connector) driver.Connector) {
	t.Helper()
	open := func(r role) *sql.DB {
		name, err := dsn(s.path, r, 1<<20, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		c, err := modernc.NewConnector(name)
		if err != nil {
			t.Fatal(err)
		}
		return sql.OpenDB(interruptibleConnector{by(c)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Reader.db, s.writer.db = open(roleReader), open(roleWriter)
	s.writer.stmts = make(map[string]*sql.Stmt)
	conn, err := s.writer.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.conn = conn
}

// A commit takes the time that it needs: nobody could tell whether one that was interrupted is on the disk.
func TestNothingInterruptsACommit(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		maimed(t, s, "COMMIT", 2*statementTime)
		s.KeepDID(protocol.DID{1})
		took(t, 2*statementTime, func() {
			if err := s.Commit(); err != nil || !s.HasDID(protocol.DID{1}) {
				t.Errorf("a slow commit: %v, did %v", err, s.HasDID(protocol.DID{1}))
			}
		})
	})
}

// To verify, back up, rewrite and shorten has its time by the size of the file.
func TestWorkOnTheWholeFileEndsInTime(t *testing.T) {
	none := func(int64) {}
	for name, tt := range map[string]struct {
		text string
		work func(t *testing.T, s *Store) error
	}{
		"verify the structure": {"integrity_check", func(t *testing.T, s *Store) error {
			return s.Verify(t.Context(), none, func(p string) { t.Error(p) })
		}},
		"verify references": {"foreign_key_check", func(t *testing.T, s *Store) error {
			return s.Verify(t.Context(), none, func(p string) { t.Error(p) })
		}},
		"verify items": {"FROM items", func(t *testing.T, s *Store) error {
			return s.Verify(t.Context(), none, func(p string) { t.Error(p) })
		}},
		"verify strays": {"words_docsize WHERE id NOT IN", func(t *testing.T, s *Store) error {
			return s.Verify(t.Context(), none, func(p string) { t.Error(p) })
		}},
		"back up": {"VACUUM INTO", func(t *testing.T, s *Store) error {
			return s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db"))
		}},
		"vacuum": {"VACUUM", func(t *testing.T, s *Store) error { return s.Vacuum(t.Context()) }},
		"shorten": {"wal_checkpoint",
			func(t *testing.T, s *Store) error { return wrap("shorten", s.path, s.Shorten(t.Context())) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Store) {
				s.patience = 2 * time.Minute
				size := SizeOf(s.path) + SizeOf(s.path+"-wal")
				limit := s.patience + time.Duration(float64(s.patience)*float64(size)/perPatience)
				maimed(t, s, tt.text, limit-3*time.Second)
				if err := tt.work(t, s); err != nil {
					t.Fatalf("just in time: %v", err)
				}
				maimed(t, s, tt.text, 24*time.Hour)
				begun := time.Now()
				err := tt.work(t, s)
				if d := time.Since(begun); d < s.patience || d > limit+time.Second {
					t.Errorf("it took %v, want about %v", d, limit)
				}
				wantCause(t, err, ErrStalled, "")
			})
		})
	}
}
