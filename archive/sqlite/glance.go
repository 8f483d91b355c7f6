package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/fetch/grade"
)

// What pages for people show of an archive: short reads by an index each, so that none takes longer where there is
// more.

// A FeedName is what a feed is called, and the number that it has in this archive for good.
type FeedName struct {
	Number int64
	URL    feed.URL
	Title  string
}

// FeedNames returns the names of the feeds that anything is kept of, in any order.
func (r *Reader) FeedNames(ctx context.Context) (names []FeedName, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, title FROM feeds`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var n FeedName
			err := scan(rows, &n.Number, &n.URL, &n.Title)
			names = append(names, n)
			return err
		})
	}
	return names, wrap("read", r.path, err)
}

// NumberedFeed returns what is known of the feed with that number, the zero Feed if there is none.
func (r *Reader) NumberedFeed(ctx context.Context, number int64) (archive.Feed, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	f, err := scanFeed(r.db.QueryRowContext(ctx, `SELECT `+feedColumns+` FROM feeds WHERE id = ?`, number))
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Feed{}, nil
	}
	return f, wrap("read", r.path, err)
}

// Entry returns the entry and the number of its feed, 0 if it is not kept.
func (r *Reader) Entry(ctx context.Context, id feed.EntryID) (record archive.Record, number int64, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := r.db.QueryContext(ctx, `SELECT `+recordColumns+`, f.id FROM entries e JOIN feeds f ON f.id = e.feed WHERE e.id = ?`, id[:])
	if err == nil {
		err = each(rows, func(rows *sql.Rows) (err error) {
			record, err = scanRecord(rows, &number)
			return err
		})
	}
	return record, number, wrap("read", r.path, err)
}

// Host returns how many requests a host takes, the zero Host for one that nothing is kept of.
func (r *Reader) Host(ctx context.Context, name string) (h archive.Host, err error) {
	var until, spent sql.NullInt64
	err = scan(r.db.QueryRowContext(ctx, `SELECT name, gap, rest, until, spent, forbids FROM hosts WHERE name = ?`, name),
		&h.Name, &h.Gap, &h.Rest, &until, &spent, &h.Forbids)
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Host{}, nil
	}
	h.Until, h.Spent = fromMillis(until), fromMillis(spent)
	return h, wrap("read", r.path, err)
}

// RequestsFor returns the requests for the feed since then, n of the latest at most, in order. name is the feed's URL
// as the log has it.
func (r *Reader) RequestsFor(ctx context.Context, name string, since time.Time, n int) (list []grade.Request, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
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

// An Appearance is when and how an entry came.
type Appearance struct {
	ID     feed.EntryID
	Title  string
	Seen   time.Time
	Source string    // the neighbor that brought it, "" for an own poll
	Polled time.Time // when an own poll first listed what a neighbor had brought; zero where none did, or nobody knows
}

// Appearances returns how the latest n entries of the feed came, as far as they did since then, the latest first.
func (r *Reader) Appearances(ctx context.Context, number int64, since time.Time, n int) (list []Appearance, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, title, seen, source, nullif(polled, 0) FROM entries INDEXED BY entries_by_feed
		WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, n)
	if err != nil {
		return nil, wrap("read", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a Appearance
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

// BroughtSince counts the entries of the feed that neighbors brought since then, n at most.
func (r *Reader) BroughtSince(ctx context.Context, number int64, since time.Time, n int) (brought int, err error) {
	list, err := r.Appearances(ctx, number, since, n)
	for i := range list {
		if list[i].Source != "" {
			brought++
		}
	}
	return brought, err
}

// CountEntries counts the entries of the feed that are kept, max at most.
func (r *Reader) CountEntries(ctx context.Context, number int64, max int) (n int, err error) {
	err = scan(r.db.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM entries INDEXED BY entries_by_feed WHERE feed = ? LIMIT ?)`, number, max), &n)
	return n, wrap("read", r.path, err)
}

// A Headline is an entry as a list of them shows it.
type Headline struct {
	Seq        int64
	ID         feed.EntryID
	Feed       int64 // its number
	Title      string
	Link       string
	Time, Seen time.Time // as in archive.Record
	Source     string    // the neighbor that brought it, "" for an own poll
	Confirmed  bool
	Lead       string // the beginning of its text, as HTML that may end anywhere
}

// headlineColumns are what a Headline is made of, from entries e.
const headlineColumns = `e.seq, e.id, e.feed, e.title, e.link, e.time, e.seen, e.source, ` + isConfirmed + `,
	substr(iif(e.summary = '', e.content, e.summary), 1, 1000)`

// Headlines returns the latest n entries before a seq, of all feeds or, where number is not 0, of one; 0 for before is
// from the latest on. Feeds whose URL is a secret are among them only where that is asked for.
func (r *Reader) Headlines(ctx context.Context, number, before int64, secret bool, n int) (list []Headline, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if before == 0 {
		before = math.MaxInt64
	}
	query := `SELECT ` + headlineColumns + ` FROM entries e JOIN feeds f ON f.id = e.feed
		WHERE e.seq < ? AND (? OR NOT f.secret) ORDER BY e.seq DESC LIMIT ?`
	args := []any{before, secret, n}
	if number != 0 {
		query = `SELECT ` + headlineColumns + ` FROM feeds f CROSS JOIN entries e INDEXED BY entries_by_feed ON e.feed = f.id
			WHERE f.id = ? AND e.seq < ? AND (? OR NOT f.secret) ORDER BY e.seq DESC LIMIT ?`
		args = append([]any{number}, args...)
	}
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var h Headline
			var id []byte
			var at, seen int64
			err := scan(rows, &h.Seq, &id, &h.Feed, &h.Title, &h.Link, &at, &seen, &h.Source, &h.Confirmed, &h.Lead)
			if err == nil {
				h.ID, err = fromBlob[feed.EntryID](id)
			}
			h.Time, h.Seen = time.Unix(at, 0).UTC(), time.Unix(seen, 0).UTC()
			list = append(list, h)
			return err
		})
	}
	return list, wrap("read", r.path, err)
}
