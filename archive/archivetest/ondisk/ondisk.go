// Package ondisk opens archives of the backend that the program uses, for tests of packages that work with any.
package ondisk

import (
	"context"
	"database/sql"
	"testing"

	"feedex/archive/sqlite"
	"feedex/reading"
)

// Open is a daemon.OpenDatabase.
func Open(ctx context.Context, path string) (reading.Database, error) {
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// MustOpen opens the archive in the file at path. Its test closes it.
func MustOpen(t testing.TB, path string) reading.Database {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// View opens the archive in the file at path as another process reads it, until the test ends.
func View(t testing.TB, path string) reading.View {
	t.Helper()
	r, err := sqlite.OpenReader(path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Break has the archive in the file at path refuse every write from now on, and undo what was written with it, until
// mend is called, whoever has it open.
func Break(t testing.TB, path string) (mend func()) {
	t.Helper()
	db := plain(t, path)
	exec := func(query func(name, table, op string) string) {
		for _, table := range []string{"feeds", "entries", "dids", "peers", "accounts", "items", "marks", "filed",
			"passwords", "requests"} {
			for _, op := range []string{"INSERT", "UPDATE"} {
				if _, err := db.Exec(query("broken_"+table+"_"+op, table, op)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	exec(func(name, table, op string) string {
		return "CREATE TRIGGER " + name + " BEFORE " + op + " ON " + table +
			" BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
	})
	return func() { exec(func(name, _, _ string) string { return "DROP TRIGGER " + name }) }
}

// Forge gives the entries of a title another summary, behind the back of whoever has the archive open.
func Forge(t testing.TB, path, title, summary string) {
	t.Helper()
	result, err := plain(t, path).ExecContext(t.Context(), `UPDATE entries SET summary = ? WHERE title = ?`, summary,
		title)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 0 {
		t.Fatalf("%d rows were forged, %v", changed, err)
	}
}

// plain opens the file at path as any program could, until the test ends.
func plain(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
