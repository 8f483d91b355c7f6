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
