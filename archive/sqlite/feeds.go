package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// A columnValue is a column of a table, and what goes there.
type columnValue struct {
	name  string
	value any
}

// feedTable are the columns of a feed that it has itself.
func feedTable(f *archive.Feed) []columnValue {
	return []columnValue{
		{"url", &f.URL}, {"title", &f.Title}, {"link", &f.Link}, {"icon", &f.Icon},
		{"about", &f.About}, {"language", &f.Language}, {"format", &f.Format},
		{"subscribed", &f.Subscribed}, {"private", &f.Private},
		{"since", millis(&f.Since)}, {"backlog", &f.Backlog}, {"backlog_of", &f.BacklogOf},
		{"weight", &f.Weight}, {"discreet", &f.Discreet}, {"stars", &f.Sharing},
		{"etag", &f.ETag}, {"last_modified", &f.LastModified}, {"poll_interval", &f.Interval},
		{"next_poll", millis(&f.NextPoll)}, {"last_poll", millis(&f.LastPoll)},
		{"last_success", millis(&f.LastSuccess)}, {"errors", &f.Errors}, {"last_error", &f.LastError},
		{"withheld", &f.Withheld}, {"ended", &f.Ended}, {"alias", &f.Alias}, {"moved", &f.Moved},
		{"former", &f.Former},
		{"moved_seen", &f.MovedSeen}, {"moved_since", millis(&f.MovedSince)}, {"body", maybeBytesOf(f.Body[:])},
		{"unread", &f.Unread}, {"whole", millis(&f.Unconditional)}, {"lifetime", &f.Lifetime},
		{"not_before", millis(&f.NotBefore)}, {"pace", &f.Pace.Every}, {"skip_hours", &f.Pace.SkipHours},
		{"skip_days", &f.Pace.SkipDays}, {"policy", &f.Policy}, {"helped", &f.Helped}, {"listed", &f.Listed},
		{"gap_after", millis(&f.Gap.After)}, {"gap_before", millis(&f.Gap.Before)}, {"gap_missing", &f.Gap.Missing},
		{"gap_filled", &f.Gap.Filled}, {"lands", &f.Lands}, {"past_stage", &f.Past.Stage},
		{"past_since", millis(&f.Past.Since)}, {"past_page", &f.Past.Page}, {"past_steps", &f.Past.Steps},
		{"past_back", millis(&f.Past.Back)}, {"past_filled", &f.Past.Filled}, {"past_lack", &f.Past.Lack},
		{"past_left", millis(&f.Past.Left)}, {"past_tries", &f.Past.Tries}, {"past_again", millis(&f.Past.Again)},
		{"page", &f.Page}, {"became", &f.Became}, {"names", &f.Names}, {"daily", &f.Volume.Daily},
		{"entry_size", &f.Volume.Text},
		{"leads", &f.Leads}, {"shared", &f.Shared}, {"barred", &f.Barred}, {"volunteered", millis(&f.Volunteered)},
		{"tried", millis(&f.Tried)}, {"patrons", &f.Patrons},
		{"rests", millis(&f.Rests)}, {"refused", millis(&f.Refused)},
	}
}

// feedColumns are their names, and feedFields where they go.
var feedColumns = strings.Join(names(feedTable(new(archive.Feed))), ", ")

func feedFields(f *archive.Feed) []any { return values(feedTable(f)) }

func names(columns []columnValue) (list []string) {
	for _, c := range columns {
		list = append(list, c.name)
	}
	return list
}

func values(columns []columnValue) (list []any) {
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
	return all(ctx, r, by(feedFields), listFeeds)
}

// Feed implements archive.Contents.
func (r *Reader) Feed(ctx context.Context, u feed.URL) (archive.Feed, error) {
	return first(ctx, r, by(feedFields), `SELECT `+feedColumns+` FROM feeds WHERE url = ?`, string(u))
}

// maxFeedIDs bounds the rows of feeds that are remembered; a node polls and relays fewer.
const maxFeedIDs = 1 << 14

// nextFeed is the number of a feed to be made, which none had: the table's own choice would be one of a feed that was
// removed.
const nextFeed = `(SELECT seq + 1 FROM sqlite_sequence WHERE name = 'feeds')`

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
		s.row(`INSERT INTO feeds (id, url, secret, apart) VALUES (`+nextFeed+`, ?, ?, ?) RETURNING id`,
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
	s.write(`UPDATE feeds SET kept = 1, secret = ?, led = ?, `+strings.Join(names(columns), ` = ?, `)+
		` = ? WHERE id = ?`, slices.Concat([]any{f.Secret(), f.Led()}, values(columns), []any{id})...)
	s.write(`DELETE FROM titles WHERE feed = ? AND name = ?`, id, f.Title) // which is the publisher's
	s.confine(f.URL)
}

// FeedNames implements archive.Contents.
func (r *Reader) FeedNames(ctx context.Context) ([]archive.FeedName, error) {
	return all(ctx, r, by(func(n *archive.FeedName) []any {
		return []any{&n.Number, &n.URL, &n.Title, &n.Polled, &n.Brought, &n.FullText}
	}), `SELECT id, url, coalesce((SELECT name FROM titles WHERE feed = id AND person = ?), title),
			own_firsts, their_firsts, full_from IS NOT NULL FROM feeds WHERE NOT apart`, reading.Owner)
}

// NumberedFeed implements archive.Contents.
func (r *Reader) NumberedFeed(ctx context.Context, number int64) (archive.Feed, error) {
	return first(ctx, r, by(feedFields), `SELECT `+feedColumns+` FROM feeds WHERE id = ? AND NOT apart`, number)
}

// The titles and folders of feeds, as a person sets them.

// Arrange implements reading.Folders.
func (s pen) Arrange(list []reading.Arrangement) bool {
	if !s.roomForFolders(list) {
		return false
	}
	for _, a := range list {
		if a.Feed == 0 && !s.row(feedByURL, []any{string(a.URL)}, &a.Feed) ||
			!s.row(`SELECT 1 FROM feeds WHERE id = ?`, []any{a.Feed}, new(int)) {
			continue
		}
		if a.Name != nil {
			s.title(a.Feed, *a.Name)
		}
		if a.Listed != "" {
			s.write(`INSERT INTO titles SELECT id, ?, ? FROM feeds WHERE id = ? AND title <> ? ON CONFLICT DO NOTHING`,
				s.person, a.Listed, a.Feed, a.Listed)
		}
		if a.Pictures != nil {
			s.picture(a.Feed, *a.Pictures)
		}
		if a.FullText != nil && s.person == reading.Owner {
			s.wantFullTexts(a.Feed, *a.FullText)
		}
		for _, name := range a.Out {
			s.write(`DELETE FROM filed WHERE feed = ? AND folder =
				(SELECT id FROM folders WHERE person = ? AND name = ?)`, a.Feed, s.person, name)
		}
		for _, name := range a.Into {
			s.write(`INSERT INTO filed VALUES (?, ?) ON CONFLICT DO NOTHING`, a.Feed, s.folder(name))
		}
	}
	return true
}

// title gives a feed the person's own title, or none.
func (s pen) title(id reading.FeedID, name string) {
	if name == "" {
		s.write(`DELETE FROM titles WHERE feed = ? AND person = ?`, id, s.person)
		return
	}
	s.write(`INSERT INTO titles VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name
		WHERE name <> excluded.name`, id, s.person, name)
}

// feedByURL finds a feed or, where the URL led to another, the one that is followed in its place.
const feedByURL = `SELECT CASE WHEN f.subscribed THEN f.id
	ELSE coalesce((SELECT id FROM feeds WHERE url = f.became AND subscribed), f.id) END FROM feeds f WHERE f.url = ?`

// Inherit implements archive.Feeds.
func (s *Store) Inherit(to, from feed.URL) {
	const left = `EXISTS (SELECT 1 FROM feeds WHERE url = ?)`
	s.write(`UPDATE feeds SET keep_bytes = iif(feeds.keep_bytes = 0, p.keep_bytes, feeds.keep_bytes),
			keep_age = iif(feeds.keep_age = 0, p.keep_age, feeds.keep_age), keep_count = iif(feeds.keep_count = 0, p.keep_count, feeds.keep_count),
			full_from = coalesce(feeds.full_from, p.full_from)
		FROM feeds p WHERE feeds.url = ? AND p.url = ?`, string(to), string(from))
	const newer = ` AND coalesce(t.since, 0) >= coalesce(p.since, 0)`
	for _, all := range []struct{ table, columns, where string }{
		{`filed`, `x.folder`, ``}, {`titles`, `x.person, x.name`, ``}, {`left_out`, `x.person`, newer},
		{`unfollowed`, `x.person, x.by, x.at`, newer}, {`pictured`, `x.person`, ``},
	} {
		s.write(`INSERT INTO `+all.table+` SELECT t.id, `+all.columns+` FROM feeds t, feeds p JOIN `+all.table+
			` x ON x.feed = p.id WHERE t.url = ? AND p.url = ?`+all.where+` ON CONFLICT DO NOTHING`, string(to),
			string(from))
		s.write(`DELETE FROM `+all.table+` WHERE feed = (SELECT id FROM feeds WHERE url = ?) AND `+left, string(from),
			string(to))
	}
	s.write(`UPDATE feeds SET keep_bytes = 0, keep_age = 0, keep_count = 0, full_from = NULL WHERE url = ? AND `+left,
		string(from), string(to))
}

// roomForFolders reports whether the folders that a list names fit beside those that there are.
func (s pen) roomForFolders(list []reading.Arrangement) bool {
	var n int
	s.row(`SELECT count(*) FROM folders WHERE person = ?`, []any{s.person}, &n)
	more := make(map[string]bool)
	for _, a := range list {
		for _, name := range a.Into {
			if !more[name] && n+len(more) >= reading.MaxFolders &&
				!s.row(`SELECT 1 FROM folders WHERE person = ? AND name = ?`, []any{s.person, name}, new(int)) {
				return s.err != nil // of which Commit tells
			}
			more[name] = true
		}
	}
	return true
}

// AddFolder implements reading.Folders.
func (s pen) AddFolder(name string) (id reading.FolderID, ok bool) {
	if !s.roomForFolders([]reading.Arrangement{{Into: []string{name}}}) {
		return 0, false
	}
	return s.folder(name), true
}

// folder is the folder of a name, made if there is none.
func (s pen) folder(name string) (id reading.FolderID) {
	if !s.row(`SELECT id FROM folders WHERE person = ? AND name = ?`, []any{s.person, name}, &id) {
		s.begin()
		s.row(`INSERT INTO folders (person, name) VALUES (?, ?) RETURNING id`, []any{s.person, name}, &id)
	}
	return id
}

// RenameFolder implements reading.Folders.
func (s pen) RenameFolder(id reading.FolderID, name string) {
	var other reading.FolderID
	if !s.row(`SELECT id FROM folders WHERE person = ? AND id = ?`, []any{s.person, id}, &other) {
		return
	}
	if !s.row(`SELECT id FROM folders WHERE person = ? AND name = ? AND id <> ?`, []any{s.person, name, id}, &other) {
		s.write(`UPDATE folders SET name = ? WHERE id = ?`, name, id)
		return
	}
	s.write(`UPDATE OR IGNORE filed SET folder = ? WHERE folder = ?`, other, id)
	s.RemoveFolder(id)
}

// RemoveFolder implements reading.Folders.
func (s pen) RemoveFolder(id reading.FolderID) {
	s.write(`DELETE FROM folders WHERE id = ? AND person = ?`, id, s.person) // and what is filed there
}

// Folders implements reading.Items.
func (r personalReader) Folders(ctx context.Context) ([]reading.Folder, error) {
	return all(ctx, r.Reader, by(func(f *reading.Folder) []any { return []any{&f.ID, &f.Name} }),
		`SELECT id, name FROM folders WHERE person = ? ORDER BY name`, r.person)
}

// Subscriptions implements reading.Items.
func (r personalReader) Subscriptions(ctx context.Context) ([]reading.FollowedFeed, error) {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	defer tx.Rollback() // nothing to keep; ends the snapshot
	feeds, err := list(ctx, tx, func(row rowScanner) (f reading.FollowedFeed, err error) {
		err = scan(row, &f.ID, &f.URL, &f.Name, &f.Title, &f.Site, millis(&f.Since), &f.Errors, &f.Error,
			&f.Choose, millis(&f.Polled), &f.Icon.ID, &f.Icon.Word, &f.FullText, &f.Unread,
			&f.Polls, &f.Neighbors)
		f.Title, f.Site, f.Error = safehtml.Label(f.Title), safehtml.Link(f.Site),
			safehtml.Inert(safehtml.Line(f.Error))
		return f, err
	}, `SELECT id, url, coalesce((SELECT name FROM titles WHERE feed = id AND person = ?), ''), title, link, since,
			errors, last_error, names != '', last_poll, `+iconRef+`, full_from IS NOT NULL,
			coalesce((SELECT items FROM unread WHERE person = ? AND feed = id), 0), own_firsts, their_firsts
		FROM feeds f WHERE `+isRead+` ORDER BY id`, r.person, r.person, r.person)
	if err == nil {
		err = r.addFolders(ctx, tx, feeds)
	}
	return feeds, r.failed(ctx, "read", err)
}

// addFolders adds to each feed the folders that it is in.
func (r personalReader) addFolders(ctx context.Context, tx *sql.Tx, feeds []reading.FollowedFeed) error {
	type filed struct {
		feed reading.FeedID
		in   reading.Folder
	}
	for x, err := range found(ctx, tx, by(func(x *filed) []any { return []any{&x.feed, &x.in.ID, &x.in.Name} }),
		`SELECT f.feed, d.id, d.name FROM filed f JOIN folders d ON d.id = f.folder WHERE d.person = ?
		ORDER BY f.feed, d.name`, r.person) {
		if err != nil {
			return err
		}
		i, found := slices.BinarySearchFunc(feeds, x.feed,
			func(f reading.FollowedFeed, id reading.FeedID) int { return int(f.ID - id) })
		if found {
			feeds[i].Folders = append(feeds[i].Folders, x.in)
		}
	}
	return nil
}

// FeedID implements reading.Filing.
func (r *Reader) FeedID(ctx context.Context, u feed.URL) (reading.FeedID, error) {
	return first(ctx, r, single[reading.FeedID], feedByURL, string(u))
}

// FeedOf implements reading.Filing.
func (r *Reader) FeedOf(ctx context.Context, id reading.FeedID) (feed.URL, error) {
	return first(ctx, r, single[feed.URL], `SELECT url FROM feeds WHERE id = ?`, id)
}

// Titles implements reading.Filing.
func (r personalReader) Titles(ctx context.Context, feeds []feed.URL) (map[feed.URL]reading.FeedTitle, error) {
	text, err := json.Marshal(feeds)
	if err != nil {
		return nil, err
	}
	return mapped(ctx, r.Reader, func(u *feed.URL, t *reading.FeedTitle) []any {
		return []any{u, &t.Feed, &t.Text, &t.Icon.ID, &t.Icon.Word}
	}, `SELECT f.url, f.id, coalesce((SELECT name FROM titles WHERE feed = f.id AND person = ?), f.title), `+iconRef+`
		FROM json_each(?) j CROSS JOIN feeds f ON f.url = j.value WHERE NOT f.apart`, r.person, string(text))
}

// Filing implements reading.Filing.
func (r personalReader) Filing(ctx context.Context, number int64) (name string, folders []string, err error) {
	name, err = first(ctx, r.Reader, single[string], `SELECT name FROM titles WHERE feed = ? AND person = ?`, number,
		r.person)
	if err == nil {
		folders, err = all(ctx, r.Reader, single[string], `SELECT d.name FROM filed f JOIN folders d ON d.id = f.folder
			WHERE f.feed = ? AND d.person = ? ORDER BY d.name`, number, r.person)
	}
	return name, folders, err
}

// Reads implements reading.Filing.
func (r personalReader) Reads(ctx context.Context, number int64) (bool, error) {
	return first(ctx, r.Reader, single[bool], `SELECT `+isRead+` FROM feeds f WHERE id = ?`, r.person, number)
}
