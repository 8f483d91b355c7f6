package sqlite

import (
	"context"
	"database/sql"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// hourOf is the number of the hour that t is in.
func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// addHour counts what h holds to the hour of h.At.
func (s *Store) addHour(h archive.Hour) {
	s.write(`
		INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (hour) DO UPDATE SET polled = polled + excluded.polled, brought = brought + excluded.brought,
			compared = compared + excluded.compared, ahead = ahead + excluded.ahead, requests = requests + excluded.requests,
			unchanged = unchanged + excluded.unchanged, failed = failed + excluded.failed, bytes = bytes + excluded.bytes,
			followed = followed + excluded.followed, followed_bytes = followed_bytes + excluded.followed_bytes`,
		hourOf(h.At), h.Polled, h.Brought, h.Compared, int64(h.Ahead/time.Second), h.Requests, h.Unchanged,
		h.Failed, h.Bytes,
		int64(h.Followed/time.Minute), h.FollowedBytes)
}

// counted are new entries that came together.
type counted struct {
	at      time.Time
	polled  int64              // own polls brought them
	brought map[feed.URL]int64 // neighbors did, of these feeds
}

func (c *counted) add(r *archive.Record) {
	c.at = r.Seen
	if r.Source.IsZero() {
		c.polled++
		return
	}
	if c.brought == nil {
		c.brought = make(map[feed.URL]int64)
	}
	c.brought[r.Entry.Feed]++
}

// countNews adds new entries to their hour; not those that are kept for neighbors alone.
func (s *Store) countNews(c *counted) {
	hour := archive.Hour{At: c.at, Polled: c.polled}
	for u, n := range c.brought {
		var subscribed bool
		if s.row(`SELECT subscribed FROM feeds WHERE id = ?`, []any{s.feedID(u)}, &subscribed) && subscribed {
			hour.Brought += n
		}
	}
	if hour.Polled+hour.Brought > 0 {
		s.addHour(hour)
	}
}

// KeepFollowed implements reading.Database.
func (s *Store) KeepFollowed(at time.Time, d time.Duration) {
	var feeds, bytes int64
	s.row(`SELECT count(*), coalesce(sum(size), 0) FROM feeds WHERE subscribed AND NOT ended`, nil, &feeds, &bytes)
	if feeds > 0 {
		s.addHour(archive.Hour{At: at, Followed: time.Duration(feeds) * d,
			FollowedBytes: int64(float64(bytes) * d.Hours())})
	}
}

// CountedSince implements archive.History.
func (r *Reader) CountedSince(ctx context.Context) (time.Time, error) {
	var hour sql.NullInt64
	if err := scan(r.db.QueryRowContext(ctx, `
		SELECT max(min(hour) * 3600, coalesce((SELECT min(since) / 1000 FROM feeds), 0)) FROM hours`),
		&hour); err != nil {
		return time.Time{}, wrap("read", r.path, err)
	}
	return fromSeconds(hour), nil
}

// Hours implements archive.History.
func (r *Reader) Hours(ctx context.Context, since time.Time) (list []archive.Hour, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT * FROM hours WHERE hour >= ? ORDER BY hour`, hourOf(since))
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var h archive.Hour
			var hour, ahead, followed int64
			err := scan(rows, &hour, &h.Polled, &h.Brought, &h.Compared, &ahead, &h.Requests, &h.Unchanged,
				&h.Failed, &h.Bytes,
				&followed, &h.FollowedBytes)
			h.At = time.Unix(hour*3600, 0).UTC()
			h.Ahead, h.Followed = time.Duration(ahead)*time.Second, time.Duration(followed)*time.Minute
			list = append(list, h)
			return err
		})
	}
	return list, wrap("read", r.path, err)
}
