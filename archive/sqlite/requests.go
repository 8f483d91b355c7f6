package sqlite

import (
	"context"
	"database/sql"
	"net/http"
	"slices"
	"time"

	"feedex/archive"
	"feedex/fetch/grade"
)

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

// Requests implements archive.History.
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
