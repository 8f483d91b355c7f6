package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
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
		s, err := Open(path, Config{})
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
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
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

// No interrupt reaches a disk that hangs. The loop is told all the same, again and again, and goes on when the disk
// does.
func TestStoreLeavesADiskThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		execSQL(t, s, `CREATE TEMP TRIGGER hang BEFORE INSERT ON dids BEGIN SELECT slow(3600); END`)
		s.KeepFeed(archive.Feed{URL: exampleURL})
		took(t, statementTime+graceTime, func() { s.KeepDID(protocol.DID{1}) })
		for range 3 {
			took(t, 0, func() { wantCause(t, s.Commit(), ErrStalled, s.path) })
			took(t, 0, func() { s.KeepFeed(archive.Feed{URL: exampleURL}) })
		}
		if got, err := s.Search(t.Context(), feed.Filter{}); err != nil || len(got) != 0 {
			t.Errorf("readers have connections of their own: %v, %v", got, err)
		}
		wantCause(t, s.Commit(), ErrStalled, s.path)
		<-time.After(time.Hour)
		if err := s.Commit(); err != nil || len(s.LoadFeeds()) != 0 {
			t.Errorf("after that: %v, feeds %v; want nothing of what failed", err, s.LoadFeeds())
		}
		execSQL(t, s, `DROP TRIGGER hang`)
		s.KeepDID(protocol.DID{2})
		if err := s.Commit(); err != nil || s.HasDID(protocol.DID{1}) || !s.HasDID(protocol.DID{2}) {
			t.Errorf("after that: %v, first did %v, second did %v", err, s.HasDID(protocol.DID{1}),
				s.HasDID(protocol.DID{2}))
		}
	})
}

const exampleURL = "https://www.example.org/"

// A deadline holds for every row, not only for the first, and for preparing, beginning and opening.
func TestReadersEndInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		query string
		want  time.Duration
	}{
		"first row":            {endless, statementTime},
		"second row":           {`SELECT 0 UNION ALL SELECT * FROM (` + endless + `)`, statementTime},
		"first row of a disk":  {`SELECT slow(3600)`, statementTime + graceTime},
		"second row of a disk": {`SELECT slow(0) UNION ALL SELECT slow(3600)`, statementTime + graceTime},
		"a row after some others": {`SELECT slow(i) FROM (SELECT value AS i FROM json_each('[0,0,0,0,0,3600]'))`,
			statementTime + graceTime},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Store) {
				query := func(ctx context.Context) error {
					rows, err := s.Reader.db.QueryContext(ctx, tt.query)
					if err != nil {
						return err
					}
					return each(rows, func(*sql.Rows) error { return nil })
				}
				took(t, tt.want, func() {
					if err := query(t.Context()); !errors.Is(err, ErrStalled) {
						t.Errorf("err = %v, want %v", err, ErrStalled)
					}
				})
				if strings.HasPrefix(name, "first") { // later database/sql waits on a mutex, and virtual time with it
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					defer cancel()
					took(t, 3*time.Second+tt.want-statementTime, func() {
						if err := s.failed(ctx, "read", query(ctx)); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("err = %v, want the caller's", err)
						}
					})
				}
				if got, err := s.Search(t.Context(), feed.Filter{}); err != nil {
					t.Errorf("the next search: %v, %v", got, err)
				}
				<-time.After(2 * time.Hour) // until all have come back
			})
		})
	}
}

// A disk that hangs holds a thread of the system for each statement. That there are few of these does not depend on how
// often somebody looks.
func TestFewStatementsHangAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		for range 20 * maxAway {
			err := s.Reader.db.QueryRowContext(t.Context(), `SELECT slow(360000)`).Scan(new(int))
			if !errors.Is(err, ErrStalled) {
				t.Fatalf("err = %v, want %v", err, ErrStalled)
			}
		}
		if open := s.Reader.db.Stats().OpenConnections; open > 4 {
			t.Errorf("%d connections are open", open)
		}
		var n int
		if err := s.Reader.db.QueryRowContext(t.Context(), `SELECT 1`).Scan(&n); !errors.Is(err, ErrStalled) {
			t.Errorf("another connection was opened: %v", err)
		}
		<-time.After(360000 * time.Second)
		if err := s.Reader.db.QueryRowContext(t.Context(), `SELECT 1`).Scan(&n); err != nil || n != 1 {
			t.Errorf("when all have come back: %v", err)
		}
	})
}

// lame has the connections of a database take as long as takes says for each statement, before they carry it out.
type lame struct {
	driver.Connector
	takes func(query string) time.Duration
}

func (l lame) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &lameConn{c.(connection), uintptr(reflect.ValueOf(c).Elem().FieldByName("db").Uint()), l.takes}, nil
}

// A lameConn has its handle where the driver's connections have it.
type lameConn struct {
	connection
	db    uintptr
	takes func(query string) time.Duration
}

func (c *lameConn) wait(query string) {
	if d := c.takes(query); d > 0 {
		<-time.After(d)
	}
}

func (c *lameConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.wait(query)
	return c.connection.ExecContext(ctx, query, args)
}

func (c *lameConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.wait(query)
	return c.connection.QueryContext(ctx, query, args)
}

// maimed has statements that contain a text take so long on the archive, on any connection.
func maimed(t *testing.T, s *Store, text string, takes time.Duration) {
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
		return sql.OpenDB(&interruptibleConnector{Connector: lame{c, func(query string) time.Duration {
			if strings.Contains(query, text) {
				return takes
			}
			return 0
		}}})
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

// What was begun by a statement that came back when nobody waited any more is undone.
func TestWhatComesTooLateIsUndone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		maimed(t, s, "BEGIN", time.Hour)
		if _, err := s.conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); !errors.Is(err, ErrStalled) {
			t.Fatalf("err = %v, want %v", err, ErrStalled)
		}
		<-time.After(2 * time.Hour)
		s.KeepDID(protocol.DID{1})
		if err := s.Commit(); err != nil || !s.HasDID(protocol.DID{1}) {
			t.Errorf("the next transaction: %v", err)
		}
	})
}

// To verify, back up, rewrite and shorten has its time by the size of the file; a disk that hangs is told from a slow
// one.
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
		"vacuum": {"VACUUM", func(t *testing.T, s *Store) error { return s.Vacuum(t.Context()) }},
		"shorten": {"wal_checkpoint",
			func(t *testing.T, s *Store) error { return wrap("shorten", s.path, s.Shorten(t.Context())) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Store) {
				s.patience = 2 * time.Minute
				size := sizeOf(s.path) + sizeOf(s.path+"-wal")
				limit := s.patience + time.Duration(float64(s.patience)*float64(size)/perPatience)
				maimed(t, s, tt.text, limit-3*time.Second)
				if err := tt.work(t, s); err != nil {
					t.Fatalf("just in time: %v", err)
				}
				maimed(t, s, tt.text, 24*time.Hour)
				begun := time.Now()
				err := tt.work(t, s)
				if d := time.Since(begun); d < s.patience || d > limit+graceTime+time.Second {
					t.Errorf("it took %v, want about %v", d, limit)
				}
				wantCause(t, err, ErrStalled, s.path)
				<-time.After(25 * time.Hour)
			})
		})
	}
}

// A backup goes on for as long as its file grows, and no longer.
func TestBackupEndsWhenItGetsNowhere(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		s.patience = time.Minute
		maimed(t, s, "VACUUM INTO", 24*time.Hour)
		to := filepath.Join(t.TempDir(), "backup.db")
		begun := time.Now()
		wantCause(t, s.Backup(t.Context(), to), ErrStalled, to)
		if d := time.Since(begun); d < time.Minute || d > 3*time.Minute {
			t.Errorf("it took %v", d)
		}
		<-time.After(25 * time.Hour)
		maimed(t, s, "nothing", 0)
		if err := s.Backup(t.Context(), to); err != nil {
			t.Errorf("the next: %v", err)
		}
	})
}

func TestGrowingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var size atomic.Int64
		ctx, cancel := growing(t.Context(), size.Load, time.Minute)
		defer cancel()
		for range 100 {
			size.Add(1)
			time.Sleep(50 * time.Second)
		}
		if ctx.Err() != nil {
			t.Fatalf("it ended while it grew: %v", context.Cause(ctx))
		}
		time.Sleep(3 * time.Minute)
		if !errors.Is(context.Cause(ctx), ErrStalled) {
			t.Errorf("cause = %v, want %v", context.Cause(ctx), ErrStalled)
		}
	})
}
