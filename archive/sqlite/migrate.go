package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"feedex/archive"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a SQLite file as an archive ("fdex"), for us and for file(1).
const applicationID = 0x66646578

// errForeign is for a database that some other program made.
var errForeign = errors.New("the file is another program's database: choose another file")

// migrations are the statements that lead from one version of the schema to the next; the version is
// how many of them were carried out. They are never changed, only added to.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	scripts := make([]string, len(names)) // Glob sorts
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(text)
	}
	return scripts, nil
}

// querier is the part that *sql.DB, *sql.Conn and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version is the version of the schema that the database has: 0 for an empty file, ErrNewer beyond
// newest.
func version(ctx context.Context, q querier, newest int) (v int, err error) {
	var app, tables int
	const query = `SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`
	if err := scan(q.QueryRowContext(ctx, query), &v, &app, &tables); err != nil {
		return 0, err
	}
	if app != applicationID && (app != 0 || v != 0 || tables != 0) {
		return 0, errForeign
	}
	if v > newest {
		return 0, ErrNewer
	}
	return v, nil
}

// migrate brings the database to the newest version, all or nothing.
func migrate(ctx context.Context, conn *sql.Conn) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	if v, err := version(ctx, conn, len(scripts)); err != nil || v == len(scripts) {
		return err
	}
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := upgrade(ctx, conn, scripts); err != nil {
		// Not by ctx, which may have ended; and after some errors SQLite has rolled back by itself and says so here.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return err
	}
	return nil
}

// upgrade carries out what is missing of the scripts, and commits.
func upgrade(ctx context.Context, conn *sql.Conn, scripts []string) error {
	v, err := version(ctx, conn, len(scripts)) // again: another process may have been first
	if err != nil {
		return err
	}
	stamp := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(scripts))
	for _, script := range append(slices.Clip(scripts[v:]), stamp, `COMMIT`) {
		if script == `COMMIT` {
			if v < headingsVersion {
				if err := addHeadings(ctx, conn); err != nil {
					return err
				}
			}
			if err := rejudge(ctx, conn); err != nil {
				return err
			}
		}
		if _, err := conn.ExecContext(ctx, script); err != nil {
			return err
		}
	}
	return nil
}

// headingsVersion is the first version of the schema that has headings.
const headingsVersion = 53

// rejudge looks anew at which addresses are secrets: an older feedex took fewer for some.
func rejudge(ctx context.Context, conn *sql.Conn) error {
	type judged struct {
		archive.Feed
		was bool
	}
	feeds, err := list(ctx, conn, by(func(f *judged) []any { return []any{&f.URL, &f.was, &f.Shared} }),
		`SELECT url, secret, shared FROM feeds`)
	for i := range feeds {
		if f := &feeds[i]; err == nil && f.Secret() != f.was {
			_, err = conn.ExecContext(ctx, `UPDATE feeds SET secret = ? WHERE url = ?`, f.Secret(), string(f.URL))
		}
	}
	return err
}
