package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"feedex/archive"
	"feedex/feed"
)

// feedColumns are the columns of a feed, in the order of scanFeed.
const feedColumns = `url, title, link, subscribed, private, since, weight, discreet, cover, etag, last_modified,
	poll_interval, next_poll, last_poll, last_success, errors, last_error, withheld, ended, alias, moved, moved_seen,
	moved_since, body, unread, whole, lifetime, not_before, pace, skip_hours, skip_days,
	policy, helped, listed, gap_after, gap_before, gap_missing, gap_filled,
	lands, past_stage, past_since, past_page, past_steps, past_back, past_filled,
	past_lack, past_left, past_tries, past_again, page, names, daily, entry_size,
	leads, shared, barred`

// isConfidential is whether feed f, and all entries of it, are the owner's alone.
const isConfidential = `(f.secret OR CASE WHEN f.discreet THEN f.barred ELSE f.private OR f.withheld OR f.led AND ` +
	`NOT f.shared END)`

// listFeeds finds the feeds that the node follows or followed.
const listFeeds = `SELECT ` + feedColumns + ` FROM feeds WHERE kept ORDER BY url`

// scanFeed reads feedColumns.
func scanFeed(row interface{ Scan(...any) error }) (f archive.Feed, err error) {
	var since, nextPoll, lastPoll, lastSuccess, movedSince, whole, notBefore, gapAfter, gapBefore, pastSince, pastBack,
		pastLeft, pastAgain sql.NullInt64
	var body []byte
	err = scan(row, &f.URL, &f.Title, &f.Link, &f.Subscribed, &f.Private, &since, &f.Weight, &f.Discreet, &f.Cover,
		&f.ETag, &f.LastModified, &f.Interval, &nextPoll, &lastPoll, &lastSuccess, &f.Errors, &f.LastError,
		&f.Withheld, &f.Ended, &f.Alias, &f.Moved, &f.MovedSeen, &movedSince, &body, &f.Unread, &whole, &f.Lifetime,
		&notBefore, &f.Pace.Every, &f.Pace.SkipHours, &f.Pace.SkipDays,
		&f.Policy, &f.Helped, &f.Listed, &gapAfter, &gapBefore, &f.Gap.Missing, &f.Gap.Filled,
		&f.Lands, &f.Past.Stage, &pastSince, &f.Past.Page, &f.Past.Steps, &pastBack, &f.Past.Filled,
		&f.Past.Lack, &pastLeft, &f.Past.Tries, &pastAgain, &f.Page, &f.Names, &f.Volume.Daily, &f.Volume.Text,
		&f.Leads, &f.Shared, &f.Barred)
	f.Since, f.NextPoll, f.LastPoll, f.LastSuccess =
		fromMillis(since), fromMillis(nextPoll), fromMillis(lastPoll), fromMillis(lastSuccess)
	f.MovedSince, f.Unconditional, f.NotBefore = fromMillis(movedSince), fromMillis(whole), fromMillis(notBefore)
	f.Gap.After, f.Gap.Before = fromMillis(gapAfter), fromMillis(gapBefore)
	f.Past.Since, f.Past.Back = fromMillis(pastSince), fromMillis(pastBack)
	f.Past.Left, f.Past.Again = fromMillis(pastLeft), fromMillis(pastAgain)
	if err == nil && body != nil {
		f.Body, err = fromBlob[feed.Digest](body)
	}
	return f, err
}

// Feeds implements archive.Contents.
func (r *Reader) Feeds(ctx context.Context) (feeds []archive.Feed, err error) {
	rows, err := r.db.QueryContext(ctx, listFeeds)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			f, err := scanFeed(rows)
			feeds = append(feeds, f)
			return err
		})
	}
	return feeds, wrap("read", r.path, err)
}

// Feed implements archive.Contents.
func (r *Reader) Feed(ctx context.Context, u feed.URL) (archive.Feed, error) {
	f, err := scanFeed(r.db.QueryRowContext(ctx, `SELECT `+feedColumns+` FROM feeds WHERE url = ?`, string(u)))
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Feed{}, nil
	}
	return f, wrap("read", r.path, err)
}

// maxFeedIDs bounds the rows of feeds that are remembered; a node polls and relays fewer.
const maxFeedIDs = 1 << 14

// feedID is the row of the feed, made if there is none. Call it within a transaction: until that ends nobody else
// removes it.
func (s *Store) feedID(u feed.URL) int64 {
	if removed := s.lock.removed.Load(); removed != s.removed {
		s.removed = removed
		clear(s.feedIDs)
	}
	if id, ok := s.feedIDs[u]; ok {
		return id
	}
	var id int64
	if !s.row(`SELECT id FROM feeds WHERE url = ?`, []any{string(u)}, &id) {
		s.begin()
		of, apart := apartOf(u)
		s.row(`INSERT INTO feeds (url, secret, apart) VALUES (?, ?, ?) RETURNING id`,
			[]any{string(u), of.Secret(), apart}, &id)
		if apart {
			s.confine(of)
		}
	}
	if s.err == nil {
		if len(s.feedIDs) >= maxFeedIDs {
			clear(s.feedIDs)
		}
		s.feedIDs[u] = id
	}
	return id
}

// LoadFeeds implements archive.Feeds.
func (s *Store) LoadFeeds() (feeds []archive.Feed) {
	s.rows(listFeeds, nil, func(rows *sql.Rows) error {
		f, err := scanFeed(rows)
		feeds = append(feeds, f)
		return err
	})
	if s.err != nil {
		return nil
	}
	return feeds
}

// LoadFeed implements archive.Feeds.
func (s *Store) LoadFeed(u feed.URL) (f archive.Feed) {
	s.rows(`SELECT `+feedColumns+` FROM feeds WHERE url = ? AND kept`, []any{string(u)},
		func(rows *sql.Rows) (err error) {
			f, err = scanFeed(rows)
			return err
		})
	if s.err != nil {
		return archive.Feed{}
	}
	return f
}

// KeepFeed implements archive.Feeds.
func (s *Store) KeepFeed(f archive.Feed) {
	s.begin()
	id := s.feedID(f.URL)
	s.noteDiscreet(f.URL, f.Discreet)
	if f.Subscribed && s.row(`SELECT 1 FROM feeds WHERE id = ? AND NOT subscribed`, []any{id}, new(int)) {
		s.followed(id, &f)
	}
	var body []byte
	if f.Body != (feed.Digest{}) {
		body = f.Body[:]
	}
	s.write(`
		UPDATE feeds SET kept = 1, name = CASE name WHEN ? THEN '' ELSE name END, title = ?, link = ?, subscribed = ?, private = ?, secret = ?, since = ?, weight = ?, discreet = ?, cover = ?,
			etag = ?, last_modified = ?, poll_interval = ?, next_poll = ?, last_poll = ?, last_success = ?, errors = ?, last_error = ?,
			withheld = ?, ended = ?, alias = ?, moved = ?, moved_seen = ?, moved_since = ?, body = ?, unread = ?, whole = ?,
			lifetime = ?, not_before = ?, pace = ?, skip_hours = ?, skip_days = ?,
			policy = ?, helped = ?, listed = ?, gap_after = ?, gap_before = ?, gap_missing = ?, gap_filled = ?,
			lands = ?, past_stage = ?, past_since = ?, past_page = ?, past_steps = ?, past_back = ?, past_filled = ?,
			past_lack = ?, past_left = ?, past_tries = ?, past_again = ?, page = ?, names = ?, daily = ?, entry_size = ?,
			leads = ?, led = ?, shared = ?, barred = ?
		WHERE id = ?`,
		f.Title, f.Title, f.Link, f.Subscribed, f.Private, f.Secret(), toMillis(f.Since), f.Weight, f.Discreet, f.Cover,
		f.ETag, f.LastModified,
		int64(f.Interval), toMillis(f.NextPoll), toMillis(f.LastPoll), toMillis(f.LastSuccess), f.Errors, f.LastError,
		f.Withheld, f.Ended, string(f.Alias), string(f.Moved), f.MovedSeen, toMillis(f.MovedSince), body, f.Unread,
		toMillis(f.Unconditional),
		int64(f.Lifetime), toMillis(f.NotBefore), int64(f.Pace.Every), f.Pace.SkipHours, f.Pace.SkipDays,
		f.Policy, f.Helped, f.Listed, toMillis(f.Gap.After), toMillis(f.Gap.Before), f.Gap.Missing, f.Gap.Filled,
		f.Lands, f.Past.Stage, toMillis(f.Past.Since), string(f.Past.Page), f.Past.Steps, toMillis(f.Past.Back),
		f.Past.Filled,
		f.Past.Lack, toMillis(f.Past.Left), f.Past.Tries, toMillis(f.Past.Again), string(f.Page), f.Names,
		f.Volume.Daily, f.Volume.Text,
		f.Leads, f.Led(), f.Shared, f.Barred, id)
	s.confine(f.URL)
}

// FeedNames implements archive.Contents.
func (r *Reader) FeedNames(ctx context.Context) (names []archive.FeedName, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, iif(name = '', title, name) FROM feeds WHERE NOT apart`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var n archive.FeedName
			err := scan(rows, &n.Number, &n.URL, &n.Title)
			names = append(names, n)
			return err
		})
	}
	return names, wrap("read", r.path, err)
}

// NumberedFeed implements archive.Contents.
func (r *Reader) NumberedFeed(ctx context.Context, number int64) (archive.Feed, error) {
	f, err := scanFeed(r.db.QueryRowContext(ctx,
		`SELECT `+feedColumns+` FROM feeds WHERE id = ? AND NOT apart`, number))
	if errors.Is(err, sql.ErrNoRows) {
		return archive.Feed{}, nil
	}
	return f, wrap("read", r.path, err)
}
