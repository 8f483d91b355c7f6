package sqlite

import (
	"context"
	"slices"
	"strings"

	"feedex/archive"
	"feedex/feed"
)

// A column is one of a table, and what goes there.
type column struct {
	name  string
	value any
}

// feedTable are the columns of a feed that it has itself.
func feedTable(f *archive.Feed) []column {
	return []column{
		{"url", &f.URL}, {"title", &f.Title}, {"link", &f.Link}, {"subscribed", &f.Subscribed}, {"private", &f.Private},
		{"since", millis(&f.Since)}, {"weight", &f.Weight}, {"discreet", &f.Discreet}, {"cover", &f.Cover},
		{"etag", &f.ETag}, {"last_modified", &f.LastModified}, {"poll_interval", &f.Interval},
		{"next_poll", millis(&f.NextPoll)}, {"last_poll", millis(&f.LastPoll)},
		{"last_success", millis(&f.LastSuccess)}, {"errors", &f.Errors}, {"last_error", &f.LastError},
		{"withheld", &f.Withheld}, {"ended", &f.Ended}, {"alias", &f.Alias}, {"moved", &f.Moved},
		{"moved_seen", &f.MovedSeen}, {"moved_since", millis(&f.MovedSince)}, {"body", maybeBytesOf(f.Body[:])},
		{"unread", &f.Unread}, {"whole", millis(&f.Unconditional)}, {"lifetime", &f.Lifetime},
		{"not_before", millis(&f.NotBefore)}, {"pace", &f.Pace.Every}, {"skip_hours", &f.Pace.SkipHours},
		{"skip_days", &f.Pace.SkipDays}, {"policy", &f.Policy}, {"helped", &f.Helped}, {"listed", &f.Listed},
		{"gap_after", millis(&f.Gap.After)}, {"gap_before", millis(&f.Gap.Before)}, {"gap_missing", &f.Gap.Missing},
		{"gap_filled", &f.Gap.Filled}, {"lands", &f.Lands}, {"past_stage", &f.Past.Stage},
		{"past_since", millis(&f.Past.Since)}, {"past_page", &f.Past.Page}, {"past_steps", &f.Past.Steps},
		{"past_back", millis(&f.Past.Back)}, {"past_filled", &f.Past.Filled}, {"past_lack", &f.Past.Lack},
		{"past_left", millis(&f.Past.Left)}, {"past_tries", &f.Past.Tries}, {"past_again", millis(&f.Past.Again)},
		{"page", &f.Page}, {"names", &f.Names}, {"daily", &f.Volume.Daily}, {"entry_size", &f.Volume.Text},
		{"leads", &f.Leads}, {"shared", &f.Shared}, {"barred", &f.Barred},
	}
}

// feedColumns are their names, and feedFields where they go.
var feedColumns = strings.Join(names(feedTable(new(archive.Feed))), ", ")

func feedFields(f *archive.Feed) []any { return values(feedTable(f)) }

func names(columns []column) (list []string) {
	for _, c := range columns {
		list = append(list, c.name)
	}
	return list
}

func values(columns []column) (list []any) {
	for _, c := range columns {
		list = append(list, c.value)
	}
	return list
}

// isConfidential is whether feed f, and all entries of it, are the owner's alone.
const isConfidential = `(f.secret OR CASE WHEN f.discreet THEN f.barred ELSE f.private OR f.withheld OR f.led AND ` +
	`NOT f.shared END)`

// listFeeds finds the feeds that the node follows or followed.
var listFeeds = `SELECT ` + feedColumns + ` FROM feeds WHERE kept ORDER BY url`

// Feeds implements archive.Contents.
func (r *Reader) Feeds(ctx context.Context) ([]archive.Feed, error) {
	feeds, err := list(ctx, r.db, by(feedFields), listFeeds)
	return feeds, wrap("read", r.path, err)
}

// Feed implements archive.Contents.
func (r *Reader) Feed(ctx context.Context, u feed.URL) (archive.Feed, error) {
	f, err := one(ctx, r.db, by(feedFields), `SELECT `+feedColumns+` FROM feeds WHERE url = ?`, string(u))
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
func (s *Store) LoadFeeds() []archive.Feed { return load(&s.writer, by(feedFields), listFeeds) }

// LoadFeed implements archive.Feeds.
func (s *Store) LoadFeed(u feed.URL) (f archive.Feed) {
	if !s.row(`SELECT `+feedColumns+` FROM feeds WHERE url = ? AND kept`, []any{string(u)}, feedFields(&f)...) {
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
	columns := feedTable(&f)[1:] // but its URL
	s.write(`UPDATE feeds SET kept = 1, name = CASE name WHEN ? THEN '' ELSE name END, secret = ?, led = ?, `+
		strings.Join(names(columns), ` = ?, `)+` = ? WHERE id = ?`,
		slices.Concat([]any{f.Title, f.Secret(), f.Led()}, values(columns), []any{id})...)
	s.confine(f.URL)
}

// FeedNames implements archive.Contents.
func (r *Reader) FeedNames(ctx context.Context) ([]archive.FeedName, error) {
	feeds, err := list(ctx, r.db, by(func(n *archive.FeedName) []any { return []any{&n.Number, &n.URL, &n.Title} }),
		`SELECT id, url, iif(name = '', title, name) FROM feeds WHERE NOT apart`)
	return feeds, wrap("read", r.path, err)
}

// NumberedFeed implements archive.Contents.
func (r *Reader) NumberedFeed(ctx context.Context, number int64) (archive.Feed, error) {
	f, err := one(ctx, r.db, by(feedFields), `SELECT `+feedColumns+` FROM feeds WHERE id = ? AND NOT apart`, number)
	return f, wrap("read", r.path, err)
}
