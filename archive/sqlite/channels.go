package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// channels finds feeds with their version. Seqs are not used twice.
const channels = `
	SELECT id, url, title, link, subscribed, since, kept, max(coalesce(` + latest + `, 0), 0), replaced,
		max(coalesce((SELECT seen FROM entries WHERE seq = ` + latest + `), 0), coalesce(replaced_at, 0))
	FROM feeds f WHERE `

// latest is the seq of the latest arrival in feed f.
const latest = `(SELECT max(seq) FROM entries INDEXED BY entries_by_feed WHERE feed = f.id)`

// Channel implements archive.Channels.
func (r *Reader) Channel(ctx context.Context, u feed.URL) (archive.Channel, error) {
	return r.channel(ctx, `f.url = ?`, string(u))
}

// ChannelNumber implements archive.Channels.
func (r *Reader) ChannelNumber(ctx context.Context, number int64) (archive.Channel, error) {
	return r.channel(ctx, `NOT f.apart AND f.id = ?`, number)
}

func (r *Reader) channel(ctx context.Context, where string, arg any) (c archive.Channel, err error) {
	var kept bool
	var since sql.NullInt64
	var at int64
	stmt, err := r.prepare(ctx, channels+where)
	if err == nil {
		err = scan(stmt.QueryRowContext(ctx, arg), &c.Number, &c.URL, &c.Title, &c.Link, &c.Followed, &since, &kept,
			&c.Version.Arrived, &c.Version.Changed, &at)
	}
	c.Since = fromMillis(since)
	empty := c.Version.Empty()
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !kept && empty:
		return archive.Channel{}, nil
	case err != nil:
		return archive.Channel{}, r.failed(ctx, "read", err)
	case !empty:
		c.Version.At = time.Unix(at, 0).UTC()
	}
	return c, nil
}

// Newest implements archive.Channels.
func (r *Reader) Newest(ctx context.Context, number int64, limit int) ([]int64, error) {
	return r.listSeqs(ctx, `SELECT seq FROM entries INDEXED BY entries_by_feed WHERE feed = ? AND seq > 0 ORDER BY `+
		`seq DESC LIMIT ?`, number, limit)
}

// Changed implements archive.Channels.
func (r *Reader) Changed(ctx context.Context, number int64, since archive.FeedVersion, last int64,
	limit int) ([]int64, error) {
	return r.listSeqs(ctx, `SELECT seq FROM entries INDEXED BY entries_by_change
		WHERE feed = ? AND changed > ? AND seq <= ? ORDER BY changed DESC LIMIT ?`, number, since.Changed, last, limit)
}

// NewestOfAll implements archive.Channels.
func (r *Reader) NewestOfAll(ctx context.Context, secret bool, after int64, limit int) ([]int64, error) {
	return r.listSeqs(ctx, `SELECT seq FROM entries INDEXED BY entries_by_seq
		WHERE seq > max(?, 0) AND `+ofFollowed+` ORDER BY seq DESC LIMIT ?`, after, secret, limit)
}

// ofFollowed is a condition on entries: the node follows their feed, and its URL is no secret or may be one.
const ofFollowed = `feed IN (SELECT id FROM feeds WHERE subscribed AND (? OR NOT secret))`

func (r *Reader) listSeqs(ctx context.Context, query string, args ...any) (seqs []int64, err error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var seq int64
			err := scan(rows, &seq)
			seqs = append(seqs, seq)
			return err
		})
	}
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	return seqs, nil
}

// Following implements archive.Channels.
func (r *Reader) Following(ctx context.Context, secret bool) (f archive.Following, err error) {
	f.Titles = make(map[feed.URL]string)
	rows, err := r.db.QueryContext(ctx, `SELECT url, title, replaced, coalesce(replaced_at, 0)
		FROM feeds WHERE subscribed AND (? OR NOT secret) ORDER BY url`, secret)
	hash := sha256.New()
	var at, seen int64
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var u feed.URL
			var title string
			var replaced, replacedAt int64
			err := scan(rows, &u, &title, &replaced, &replacedAt)
			f.Titles[u] = title
			f.Version.Changed += replaced
			at = max(at, replacedAt)
			hash.Write(feed.AppendField(feed.AppendField(nil, string(u)), title))
			return err
		})
	}
	if err == nil {
		err = scan(r.db.QueryRowContext(ctx, `SELECT seq, seen FROM entries INDEXED BY entries_by_seq
			WHERE seq > 0 AND `+ofFollowed+` ORDER BY seq DESC LIMIT 1`, secret), &f.Version.Arrived, &seen)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	}
	if err != nil {
		return archive.Following{}, r.failed(ctx, "read", err)
	}
	if at = max(at, seen); at > 0 {
		f.Version.At = time.Unix(at, 0).UTC()
	}
	f.Digest = hex.EncodeToString(hash.Sum(nil)[:16])
	return f, nil
}

// pageEntries and pageBytes bound what Records reads at one time.
const (
	pageEntries = 64
	pageBytes   = 1 << 20
)

// Records implements archive.Channels.
func (r *Reader) Records(ctx context.Context, seqs []int64) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for rest := seqs; len(rest) > 0; {
			page, done, err := r.some(ctx, rest[:min(pageEntries, len(rest))])
			if err != nil {
				yield(archive.Record{}, r.failed(ctx, "read", err))
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
			rest = rest[done:]
		}
	}
}

// some reads the first entries of these seqs, and says how many of the seqs that were.
func (r *Reader) some(ctx context.Context, seqs []int64) (page []archive.Record, done int, err error) {
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, 0, err
	}
	rows, err := r.db.QueryContext(ctx, `SELECT `+recordColumns+`, j.key
		FROM json_each(?) j CROSS JOIN entries e ON e.seq = j.value JOIN feeds f ON f.id = e.feed`, string(list))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for size := 0; rows.Next(); {
		var key int
		record, err := scanRecord(rows, &key)
		if err != nil {
			return nil, 0, err
		}
		page = append(page, record)
		if size += len(record.Entry.Summary) + len(record.Entry.Content); size >= pageBytes {
			return page, key + 1, rows.Close()
		}
	}
	return page, len(seqs), rows.Err()
}
