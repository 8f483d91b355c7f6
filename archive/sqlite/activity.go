package sqlite

import (
	"context"
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
		INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (hour) DO UPDATE SET polled = polled + excluded.polled, brought = brought + excluded.brought,
			compared = compared + excluded.compared, ahead = ahead + excluded.ahead, requests = requests + excluded.requests,
			unchanged = unchanged + excluded.unchanged, failed = failed + excluded.failed, bytes = bytes + excluded.bytes,
			spared = spared + excluded.spared`,
		hourOf(h.At), h.Polled, h.Brought, h.Compared, int64(h.Ahead/time.Second), h.Requests, h.Unchanged,
		h.Failed, h.Bytes, h.Spared)
}

// counted are new entries that came together, by feed: those that own polls brought, and those that neighbors did.
type counted struct {
	at              time.Time
	polled, brought map[feed.URL]int64
}

func (c *counted) add(r *archive.Record) {
	by := &c.brought
	if r.Source.IsZero() {
		by = &c.polled
	}
	if *by == nil {
		*by = make(map[feed.URL]int64)
	}
	c.at = r.Seen
	(*by)[r.Entry.Feed]++
}

// countNews adds new entries to their hour and their feeds; not those that are kept for neighbors alone, nor a backlog.
func (s *Store) countNews(c *counted) {
	hour := archive.Hour{At: c.at}
	for u, n := range c.polled {
		id := s.feedID(u)
		switch subscribed, read := s.isFollowed(id); {
		case subscribed && read:
			hour.Polled += n
			s.write(`UPDATE feeds SET own_firsts = own_firsts + ? WHERE id = ?`, n, id)
		case subscribed:
			s.backlog(id)
		}
	}
	for u, n := range c.brought {
		id := s.feedID(u)
		if subscribed, _ := s.isFollowed(id); subscribed {
			hour.Brought += n
			s.write(`UPDATE feeds SET their_firsts = their_firsts + ? WHERE id = ?`, n, id)
		}
	}
	if hour.Polled+hour.Brought > 0 {
		s.addHour(hour)
	}
}

// isFollowed reports whether a feed is followed, and whether a poll has read it before the one that is under way.
func (s *Store) isFollowed(id int64) (subscribed, read bool) {
	s.row(`SELECT subscribed, last_success IS NOT NULL FROM feeds WHERE id = ?`, []any{id}, &subscribed, &read)
	return subscribed, read
}

// KeepSpared implements archive.Requests.
func (s *Store) KeepSpared(at time.Time, polls float64) {
	s.addHour(archive.Hour{At: at, Spared: polls})
}

// CountedSince implements archive.Activity.
func (r *Reader) CountedSince(ctx context.Context) (time.Time, error) {
	return first(ctx, r, by(func(t *time.Time) []any { return []any{seconds(t)} }), `
		SELECT max(min(hour) * 3600, coalesce((SELECT min(since) / 1000 FROM feeds), 0)) FROM hours`)
}

// Hours implements archive.Activity.
func (r *Reader) Hours(ctx context.Context, since time.Time) ([]archive.Hour, error) {
	return all(ctx, r, func(row rowScanner) (h archive.Hour, err error) {
		var hour int64
		err = scan(row, &hour, &h.Polled, &h.Brought, &h.Compared, duration{&h.Ahead, time.Second}, &h.Requests,
			&h.Unchanged, &h.Failed, &h.Bytes, &h.Spared)
		h.At = time.Unix(hour*3600, 0).UTC()
		return h, err
	}, `SELECT * FROM hours WHERE hour >= ? ORDER BY hour`, hourOf(since))
}

// requestColumns are the columns of a request, and requestFields where they go.
const requestColumns = `at, feed, url, first, private, if_none_match, if_modified_since, status, etag, last_modified,
	fresh, retry_after, bytes`

func requestFields(r *grade.Request) []any {
	return []any{millis(&r.At), &r.Feed, &r.URL, &r.First, &r.Private, &r.Sent.ETag, &r.Sent.LastModified, &r.Status,
		&r.Got.ETag, &r.Got.LastModified, duration{&r.Fresh, time.Millisecond},
		duration{&r.RetryAfter, time.Millisecond}, &r.Bytes}
}

// latestRequests finds the latest requests, the latest first.
const latestRequests = `SELECT ` + requestColumns + ` FROM requests ORDER BY n DESC LIMIT ?`

// LoadRequests implements archive.Requests.
func (s *Store) LoadRequests(n int) []grade.Request {
	requests := load(&s.writer, by(requestFields), latestRequests, max(0, n))
	slices.Reverse(requests)
	return requests
}

// KeepRequests implements archive.Requests. Requests that are older than it has to keep go in the same transaction.
func (s *Store) KeepRequests(list []grade.Request) {
	for i := range list {
		r := &list[i]
		s.write(`INSERT INTO requests VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, requestFields(r)...)
		s.countRequest(r)
	}
	if len(list) > 0 {
		s.write(`DELETE FROM requests WHERE n <= (SELECT max(n) FROM requests) - ?`, archive.KeptRequests)
	}
}

// countRequest adds a request to its hour. Requests of a first poll are left out: a reader makes them too.
func (s *Store) countRequest(r *grade.Request) {
	hour := archive.Hour{At: r.At, Requests: 1, Bytes: r.Bytes}
	switch {
	case r.Unmodified():
		hour.Unchanged = 1
	case r.Refused():
		hour.Failed = 1
	}
	if !s.row(`SELECT 1 FROM feeds WHERE url = ? AND last_poll IS NULL`, []any{r.Name()}, new(int)) {
		s.addHour(hour)
	}
}

// Requests implements archive.Activity.
func (r *Reader) Requests(ctx context.Context, n int) ([]grade.Request, error) {
	requests, err := all(ctx, r, by(requestFields), latestRequests, max(0, n))
	slices.Reverse(requests)
	return requests, err
}

// LoadHosts implements archive.Hosts.
func (s *Store) LoadHosts() []archive.KnownHost {
	return load(&s.writer, by(hostFields), `SELECT name, gap, rest, until, spent, forbids FROM hosts ORDER BY name`)
}

// hostFields are where the columns of a host go.
func hostFields(h *archive.KnownHost) []any {
	return []any{&h.Name, &h.Gap, &h.Rest, millis(&h.Until), millis(&h.Spent), &h.Forbids}
}

// KeepHost implements archive.Hosts.
func (s *Store) KeepHost(h archive.KnownHost) {
	s.write(`INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?)`, hostFields(&h)...)
}

// DropHost implements archive.Hosts.
func (s *Store) DropHost(name string) { s.write(`DELETE FROM hosts WHERE name = ?`, name) }

// Host implements archive.Activity.
func (r *Reader) Host(ctx context.Context, name string) (archive.KnownHost, error) {
	return first(ctx, r, by(hostFields), `SELECT name, gap, rest, until, spent, forbids FROM hosts WHERE name = ?`,
		name)
}

// RequestsFor implements archive.Activity.
func (r *Reader) RequestsFor(ctx context.Context, name string, since time.Time, n int) ([]grade.Request, error) {
	return all(ctx, r, by(requestFields), `
		SELECT * FROM (SELECT `+requestColumns+` FROM requests
			WHERE iif(feed = '', url, feed) = ? AND at >= ? ORDER BY at DESC LIMIT ?)
		ORDER BY at`, name, since.UnixMilli(), n)
}

// Appearances implements archive.Activity.
func (r *Reader) Appearances(ctx context.Context, number int64, since time.Time, n int) (list []archive.Appearance,
	err error) {
	for a, err := range found(ctx, r.db, by(func(a *archive.Appearance) []any {
		return []any{bytesOf(a.ID[:]), &a.Title, &a.Lead, seconds(&a.Seen), &a.Source, seconds(&a.Polled)}
	}), `SELECT id, title, iif(title = '', substr(iif(summary = '', content, summary), 1, 1000), ''), seen, source,
		abs(nullif(polled, 0)) FROM entries INDEXED BY entries_by_feed
		WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n) {
		if err != nil {
			return nil, r.failed(ctx, "read", err)
		}
		if a.Seen.Before(since) {
			break
		}
		list = append(list, a)
	}
	return list, nil
}

// BroughtSince implements archive.Activity.
func (r *Reader) BroughtSince(ctx context.Context, number int64, since time.Time, n int) (brought int, err error) {
	type arrival struct {
		seen     int64
		neighbor bool
	}
	for a, err := range found(ctx, r.db, by(func(a *arrival) []any { return []any{&a.seen, &a.neighbor} }), `
		SELECT seen, source <> '' FROM entries INDEXED BY entries_by_feed WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n) {
		if err != nil {
			return 0, r.failed(ctx, "read", err)
		}
		if a.seen < since.Unix() {
			break
		}
		if a.neighbor {
			brought++
		}
	}
	return brought, nil
}
