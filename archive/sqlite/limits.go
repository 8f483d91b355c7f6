package sqlite

import (
	"context"
	"database/sql"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// FeedLimits is what is kept of one feed at most. Bytes counts its texts.
type FeedLimits struct {
	URL feed.URL
	archive.Limits
	id int64
}

// SetLimits changes what is kept of a feed; a nil leaves it as it is, and 0 takes the limit away. It does nothing to a
// feed that nobody knows.
func (s *Store) SetLimits(u feed.URL, bytes *int64, age *time.Duration, count *int64) {
	if bytes != nil {
		s.write(`UPDATE feeds SET keep_bytes = ? WHERE url = ?`, *bytes, string(u))
	}
	if age != nil {
		s.write(`UPDATE feeds SET keep_age = ? WHERE url = ?`, int64(*age/time.Second), string(u))
	}
	if count != nil {
		s.write(`UPDATE feeds SET keep_count = ? WHERE url = ?`, *count, string(u))
	}
}

// FeedLimits returns the feeds of which not everything is kept, ordered by URL.
func (r *Reader) FeedLimits(ctx context.Context) ([]FeedLimits, error) {
	list, err := r.limitedFeeds(ctx)
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	return list, nil
}

func (r *Reader) limitedFeeds(ctx context.Context) (list []FeedLimits, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, keep_bytes, keep_age, keep_count FROM feeds
		WHERE keep_bytes > 0 OR keep_age > 0 OR keep_count > 0 ORDER BY url`)
	if err != nil {
		return nil, err
	}
	err = each(rows, func(rows *sql.Rows) error {
		var f FeedLimits
		var seconds int64
		err := scan(rows, &f.id, &f.URL, &f.Bytes, &seconds, &f.Count)
		f.Age = time.Duration(seconds) * time.Second
		list = append(list, f)
		return err
	})
	return list, err
}

// A Purge is what was purged at one time.
type Purge struct {
	At      time.Time `json:"at,omitzero"` // when it began; zero for never
	Entries int64     `json:"entries"`
	Bytes   int64     `json:"bytes"` // of their texts
}

// LastPurge returns what was purged last.
func (r *Reader) LastPurge(ctx context.Context) (p Purge, err error) {
	var at int64
	if err := scan(r.db.QueryRowContext(ctx, `SELECT purge_at, purge_entries, purge_bytes FROM state`), &at, &p.Entries,
		&p.Bytes); err != nil {
		return Purge{}, r.failed(ctx, "read", err)
	}
	if at != 0 {
		p.At = time.Unix(at, 0).UTC()
	}
	return p, nil
}
