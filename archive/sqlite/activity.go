package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
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

// CountedSince implements archive.Activity.
func (r *Reader) CountedSince(ctx context.Context) (time.Time, error) {
	var hour sql.NullInt64
	if err := scan(r.db.QueryRowContext(ctx, `
		SELECT max(min(hour) * 3600, coalesce((SELECT min(since) / 1000 FROM feeds), 0)) FROM hours`),
		&hour); err != nil {
		return time.Time{}, wrap("read", r.path, err)
	}
	return fromSeconds(hour), nil
}

// Hours implements archive.Activity.
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

// latestRequests finds the latest requests, the latest first.
const latestRequests = `SELECT at, feed, url, first, private, if_none_match, if_modified_since, status, etag, last_modified,
	fresh, retry_after, bytes FROM requests ORDER BY n DESC LIMIT ?`

// scanRequest reads a row of latestRequests.
func scanRequest(rows *sql.Rows) (r grade.Request, err error) {
	var at sql.NullInt64
	var fresh, retryAfter int64
	err = scan(rows, &at, &r.Feed, &r.URL, &r.First, &r.Private, &r.Sent.ETag, &r.Sent.LastModified,
		&r.Status, &r.Got.ETag, &r.Got.LastModified, &fresh, &retryAfter, &r.Bytes)
	r.At = fromMillis(at)
	r.Fresh, r.RetryAfter = time.Duration(fresh)*time.Millisecond, time.Duration(retryAfter)*time.Millisecond
	return r, err
}

// LoadRequests implements archive.Requests.
func (s *Store) LoadRequests(n int) (list []grade.Request) {
	s.rows(latestRequests, []any{max(0, n)}, func(rows *sql.Rows) error {
		r, err := scanRequest(rows)
		list = append(list, r)
		return err
	})
	if s.err != nil {
		return nil
	}
	slices.Reverse(list)
	return list
}

// KeepRequests implements archive.Requests. What is older than it has to keep goes in the same transaction.
func (s *Store) KeepRequests(list []grade.Request) {
	for i := range list {
		r := &list[i]
		s.write(`INSERT INTO requests VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.At.UnixMilli(), r.Feed, r.URL, r.First, r.Private, r.Sent.ETag, r.Sent.LastModified,
			r.Status, r.Got.ETag, r.Got.LastModified, r.Fresh.Milliseconds(), r.RetryAfter.Milliseconds(), r.Bytes)
		s.countRequest(r)
	}
	if len(list) > 0 {
		s.write(`DELETE FROM requests WHERE n <= (SELECT max(n) FROM requests) - ?`, archive.KeptRequests)
	}
}

// countRequest adds a request to its hour, and remembers how large its feed's document was.
func (s *Store) countRequest(r *grade.Request) {
	hour := archive.Hour{At: r.At, Requests: 1, Bytes: r.Bytes}
	switch {
	case r.Unmodified():
		hour.Unchanged = 1
	case r.Refused():
		hour.Failed = 1
	case r.Status == http.StatusOK:
		s.write(`UPDATE feeds SET size = ? WHERE url = ?`, r.Bytes, r.Name())
	}
	s.addHour(hour)
}

// Requests implements archive.Activity.
func (r *Reader) Requests(ctx context.Context, n int) (list []grade.Request, err error) {
	rows, err := r.db.QueryContext(ctx, latestRequests, max(0, n))
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			request, err := scanRequest(rows)
			list = append(list, request)
			return err
		})
	}
	slices.Reverse(list)
	return list, wrap("read", r.path, err)
}

// LoadHosts implements archive.Hosts.
func (s *Store) LoadHosts() (hosts []archive.Host) {
	s.rows(`SELECT name, gap, rest, until, spent, forbids FROM hosts ORDER BY name`, nil, func(rows *sql.Rows) error {
		var h archive.Host
		var until, spent sql.NullInt64
		if err := scan(rows, &h.Name, &h.Gap, &h.Rest, &until, &spent, &h.Forbids); err != nil {
			return err
		}
		h.Until, h.Spent = fromMillis(until), fromMillis(spent)
		hosts = append(hosts, h)
		return nil
	})
	if s.err != nil {
		return nil
	}
	return hosts
}

// KeepHost implements archive.Hosts.
func (s *Store) KeepHost(h archive.Host) {
	s.write(`INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?)`,
		h.Name, int64(h.Gap), int64(h.Rest), toMillis(h.Until), toMillis(h.Spent), h.Forbids)
}

// DropHost implements archive.Hosts.
func (s *Store) DropHost(name string) { s.write(`DELETE FROM hosts WHERE name = ?`, name) }

// Host implements archive.Activity.
func (r *Reader) Host(ctx context.Context, name string) (h archive.Host, err error) {
	var until, spent sql.NullInt64
	err = scan(r.db.QueryRowContext(ctx,
		`SELECT name, gap, rest, until, spent, forbids FROM hosts WHERE name = ?`, name),
		&h.Name, &h.Gap, &h.Rest, &until, &spent, &h.Forbids)
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Host{}, nil
	}
	h.Until, h.Spent = fromMillis(until), fromMillis(spent)
	return h, wrap("read", r.path, err)
}

// RequestsFor implements archive.Activity.
func (r *Reader) RequestsFor(ctx context.Context, name string, since time.Time,
	n int) (list []grade.Request, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT * FROM (SELECT at, feed, url, first, private, if_none_match, if_modified_since, status, etag, last_modified,
				fresh, retry_after, bytes FROM requests
			WHERE iif(feed = '', url, feed) = ? AND at >= ? ORDER BY at DESC LIMIT ?)
		ORDER BY at`, name, since.UnixMilli(), n)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			one, err := scanRequest(rows)
			list = append(list, one)
			return err
		})
	}
	return list, wrap("read", r.path, err)
}

// Appearances implements archive.Activity.
func (r *Reader) Appearances(ctx context.Context, number int64, since time.Time, n int) (list []archive.Appearance,
	err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, title, seen, source, abs(nullif(polled, 0)) FROM entries INDEXED BY entries_by_feed
		WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n)
	if err != nil {
		return nil, wrap("read", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a archive.Appearance
		var id []byte
		var seen int64
		var polled sql.NullInt64
		if err := scan(rows, &id, &a.Title, &seen, &a.Source, &polled); err != nil {
			return nil, wrap("read", r.path, err)
		}
		if a.ID, err = fromBlob[feed.EntryID](id); err != nil {
			return nil, wrap("read", r.path, err)
		}
		if a.Seen, a.Polled = time.Unix(seen, 0).UTC(), fromSeconds(polled); a.Seen.Before(since) {
			break
		}
		list = append(list, a)
	}
	return list, wrap("read", r.path, rows.Err())
}

// BroughtSince implements archive.Activity.
func (r *Reader) BroughtSince(ctx context.Context, number int64, since time.Time, n int) (brought int, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT seen, source <> '' FROM entries INDEXED BY entries_by_feed WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n)
	if err != nil {
		return 0, wrap("read", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var seen int64
		var neighbor bool
		if err := scan(rows, &seen, &neighbor); err != nil {
			return 0, wrap("read", r.path, err)
		}
		if seen < since.Unix() {
			break
		}
		if neighbor {
			brought++
		}
	}
	return brought, wrap("read", r.path, rows.Err())
}
