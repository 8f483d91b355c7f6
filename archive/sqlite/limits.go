package sqlite

import (
	"context"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// SetLimits implements archive.FeedLimiter.
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

// FeedLimits implements archive.OverLimits.
func (r *Reader) FeedLimits(ctx context.Context) (list []archive.FeedLimits, err error) {
	feeds, err := r.limitedFeeds(ctx)
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	for _, f := range feeds {
		list = append(list, f.FeedLimits)
	}
	return list, nil
}

// A limitedFeed is a feed with limits of its own.
type limitedFeed struct {
	archive.FeedLimits
	id int64
}

func (r *Reader) limitedFeeds(ctx context.Context) ([]limitedFeed, error) {
	return list(ctx, r.db, by(func(f *limitedFeed) []any {
		return []any{&f.id, &f.URL, &f.Bytes, duration{&f.Age, time.Second}, &f.Count}
	}), `SELECT id, url, keep_bytes, keep_age, keep_count FROM feeds
		WHERE keep_bytes > 0 OR keep_age > 0 OR keep_count > 0 ORDER BY url`)
}

// LastPurge implements archive.OverLimits.
func (r *Reader) LastPurge(ctx context.Context) (archive.Purge, error) {
	return first(ctx, r, by(func(p *archive.Purge) []any { return []any{seconds(&p.At), &p.Entries, &p.Bytes} }),
		`SELECT nullif(purge_at, 0), purge_entries, purge_bytes FROM state`)
}
