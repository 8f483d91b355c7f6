package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"feedex/feed"
)

// A rowScanner is a row that can be read.
type rowScanner interface{ Scan(...any) error }

// by reads rows into values of T, whose columns are where those of the row go.
func by[T any](columns func(*T) []any) func(rowScanner) (T, error) {
	return func(row rowScanner) (x T, err error) {
		err = scan(row, columns(&x)...)
		return x, err
	}
}

// single reads a row of one column.
func single[T any](row rowScanner) (x T, err error) {
	err = scan(row, &x)
	return x, err
}

// inOne reads a row of one column that is a list in JSON: the driver takes as long for a row as SQLite for a hundred.
func inOne[T any](row rowScanner) (list []T, err error) {
	err = scan(row, jsonList(&list))
	return list, err
}

// found yields the rows that a statement finds, as read reads them. An error is the last thing it yields.
func found[T any](ctx context.Context, q querier, read func(rowScanner) (T, error), query string,
	args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			x, err := read(rows)
			if !yield(x, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, err)
		}
	}
}

// list is all rows that a statement finds.
func list[T any](ctx context.Context, q querier, read func(rowScanner) (T, error), query string,
	args ...any) (all []T, err error) {
	for x, err := range found(ctx, q, read, query, args...) {
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// one is the first row that a statement finds, the zero value where there is none.
func one[T any](ctx context.Context, q querier, read func(rowScanner) (T, error), query string,
	args ...any) (x T, err error) {
	if x, err = read(q.QueryRowContext(ctx, query, args...)); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return x, err
}

// all is all rows that a statement of a Reader finds, and first the first of them, the zero value where there is none.
func all[T any](ctx context.Context, r *Reader, read func(rowScanner) (T, error), query string,
	args ...any) ([]T, error) {
	rows, err := list(ctx, r.db, read, query, args...)
	return rows, r.failed(ctx, "read", err)
}

func first[T any](ctx context.Context, r *Reader, read func(rowScanner) (T, error), query string,
	args ...any) (T, error) {
	x, err := one(ctx, r.db, read, query, args...)
	return x, r.failed(ctx, "read", err)
}

// mapped is all rows that a statement of a Reader finds, by the key in each.
func mapped[K comparable, V any](ctx context.Context, r *Reader, columns func(*K, *V) []any, query string,
	args ...any) (map[K]V, error) {
	type pair struct {
		key   K
		value V
	}
	rows, err := all(ctx, r, by(func(p *pair) []any { return columns(&p.key, &p.value) }), query, args...)
	found := make(map[K]V, len(rows))
	for i := range rows {
		found[rows[i].key] = rows[i].value
	}
	return found, err
}

// load is all rows that a statement of a writer finds, none where anything went wrong.
func load[T any](w *writer, read func(rowScanner) (T, error), query string, args ...any) (all []T) {
	w.rows(query, args, func(rows *sql.Rows) error {
		x, err := read(rows)
		all = append(all, x)
		return err
	})
	if w.err != nil {
		return nil
	}
	return all
}

// Values that Go has in another form than the database: each reads itself from a column, and is written to one.

// A unix is a time, in whole units of Unix time; NULL for the zero time.
type unix struct {
	t    *time.Time
	unit time.Duration
}

func seconds(t *time.Time) unix { return unix{t, time.Second} }
func millis(t *time.Time) unix  { return unix{t, time.Millisecond} }

// Scan implements sql.Scanner.
func (c unix) Scan(src any) error {
	var n sql.NullInt64
	err := n.Scan(src)
	if *c.t = (time.Time{}); n.Valid {
		perSecond := int64(time.Second / c.unit)
		*c.t = time.Unix(n.Int64/perSecond, n.Int64%perSecond*int64(c.unit)).UTC()
	}
	return err
}

// Value implements driver.Valuer.
func (c unix) Value() (driver.Value, error) {
	switch {
	case c.t.IsZero():
		return nil, nil
	case c.unit == time.Second:
		return c.t.Unix(), nil
	}
	return c.t.UnixMilli(), nil
}

// A duration is a number of whole units.
type duration struct {
	d    *time.Duration
	unit time.Duration
}

// Scan implements sql.Scanner.
func (c duration) Scan(src any) error {
	var n sql.NullInt64
	err := n.Scan(src)
	*c.d = time.Duration(n.Int64) * c.unit
	return err
}

// Value implements driver.Valuer.
func (c duration) Value() (driver.Value, error) { return int64(*c.d / c.unit), nil }

// A blob is the bytes of a digest.
type blob struct {
	bytes    []byte
	optional bool // NULL is the zero digest
}

func bytesOf(digest []byte) blob      { return blob{digest, false} }
func maybeBytesOf(digest []byte) blob { return blob{digest, true} }

// Scan implements sql.Scanner.
func (c blob) Scan(src any) error {
	b, _ := src.([]byte)
	if len(b) != len(c.bytes) && (src != nil || !c.optional) {
		return fmt.Errorf("a digest of %d bytes", len(b))
	}
	copy(c.bytes, b)
	return nil
}

// Value implements driver.Valuer.
func (c blob) Value() (driver.Value, error) {
	if c.optional && !slices.ContainsFunc(c.bytes, func(b byte) bool { return b != 0 }) {
		return nil, nil
	}
	return c.bytes, nil
}

// An inJSON is a value in JSON.
type inJSON struct {
	value any  // a pointer to it
	none  bool // NULL in its place
}

// jsonList is NULL for an empty list, jsonValue for the zero value, and jsonExtras where they say nothing.
func jsonList[T any](list *[]T) inJSON        { return inJSON{list, len(*list) == 0} }
func jsonValue[T comparable](value *T) inJSON { return inJSON{value, *value == *new(T)} }
func jsonExtras(extras *feed.Extras) inJSON   { return inJSON{extras, extras.IsZero()} }

// Scan implements sql.Scanner.
func (c inJSON) Scan(src any) error {
	var text sql.NullString
	if err := text.Scan(src); err != nil || !text.Valid {
		return err
	}
	return json.Unmarshal([]byte(text.String), c.value)
}

// Value implements driver.Valuer.
func (c inJSON) Value() (driver.Value, error) {
	if c.none {
		return nil, nil
	}
	text, err := json.Marshal(c.value)
	return string(text), err
}

// A spelled is a value that has a form as a text.
type spelled struct{ encoding.TextUnmarshaler }

// Scan implements sql.Scanner.
func (c spelled) Scan(src any) error {
	var text sql.NullString
	if err := text.Scan(src); err != nil {
		return err
	}
	return c.UnmarshalText([]byte(text.String))
}
