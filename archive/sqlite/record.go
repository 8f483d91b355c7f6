package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// recordColumns are what scanRecord wants, from entries e and feeds f.
const recordColumns = `e.seq, e.id, e.digest, f.url, e.published, e.updated, e.seen, e.source, e.guid, e.title, e.link,
	e.authors, e.categories, e.enclosures, e.summary, e.content, ` + isConfirmed

// scanRecord reads one row of recordColumns, and what is selected behind them. What does not decode was not
// written by us.
func scanRecord(rows *sql.Rows, more ...any) (r archive.Record, err error) {
	var (
		id, digest                      []byte
		published, updated              sql.NullInt64
		seen                            int64
		source                          string
		authors, categories, enclosures sql.NullString
	)
	e := &r.Entry
	columns := []any{&r.Seq, &id, &digest, &e.Feed, &published, &updated, &seen, &source, &e.ID, &e.Title, &e.Link,
		&authors, &categories, &enclosures, &e.Summary, &e.Content, &r.Confirmed}
	if err := scan(rows, append(columns, more...)...); err != nil {
		return r, err
	}
	if r.ID, err = fromBlob[feed.EntryID](id); err != nil {
		return r, err
	}
	if of, apart := apartOf(e.Feed); apart {
		r.ID, e.Feed = turned(r.ID), of
	}
	if r.Digest, err = fromBlob[feed.Digest](digest); err != nil {
		return r, err
	}
	e.Published, e.Updated, r.Seen = fromSeconds(published), fromSeconds(updated), time.Unix(seen, 0).UTC()
	if err := r.Source.UnmarshalText([]byte(source)); err != nil {
		return r, fmt.Errorf("%w (entry %d: %w)", ErrDamaged, r.Seq, err)
	}
	var media []enclosure
	err = errors.Join(fromJSON(authors, &e.Authors), fromJSON(categories, &e.Categories), fromJSON(enclosures, &media))
	if err != nil {
		return r, fmt.Errorf("%w (entry %d: %w)", ErrDamaged, r.Seq, err)
	}
	for _, m := range media {
		e.Enclosures = append(e.Enclosures, feed.Enclosure(m))
	}
	return r, nil
}

// An enclosure is a feed.Enclosure with the names it has in the database.
type enclosure struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"`
}

func fromJSON[T any](text sql.NullString, list *[]T) error {
	if !text.Valid {
		return nil
	}
	return json.Unmarshal([]byte(text.String), list)
}

// toJSON is list as the database holds it.
func toJSON[T any](list []T) (sql.NullString, error) {
	if len(list) == 0 {
		return sql.NullString{}, nil
	}
	text, err := json.Marshal(list)
	return sql.NullString{String: string(text), Valid: true}, err
}

func toEnclosures(list []feed.Enclosure) []enclosure {
	var out []enclosure
	for _, e := range list {
		out = append(out, enclosure(e))
	}
	return out
}

func toSeconds(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.Unix(), Valid: !t.IsZero()}
}

func fromSeconds(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(n.Int64, 0).UTC()
}

func toMillis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

func fromMillis(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMilli(n.Int64).UTC()
}

// fromBlob reads a digest of one kind or another.
func fromBlob[D feed.Digest | feed.EntryID | protocol.DID](blob []byte) (d D, err error) {
	if len(blob) != len(d) {
		return d, fmt.Errorf("%w (a digest of %d bytes)", ErrDamaged, len(blob))
	}
	return D(blob), nil
}
