package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// Arrange implements reading.Folders.
func (s *Store) Arrange(list []reading.Arrangement) bool {
	if !s.roomForFolders(list) {
		return false
	}
	for _, a := range list {
		if a.Feed == 0 && !s.row(feedByURL, []any{string(a.URL)}, &a.Feed) ||
			!s.row(`SELECT 1 FROM feeds WHERE id = ?`, []any{int64(a.Feed)}, new(int)) {
			continue
		}
		if a.Name != nil {
			s.write(`UPDATE feeds SET name = ?1 WHERE id = ?2 AND name <> ?1`, *a.Name, int64(a.Feed))
		}
		for _, name := range a.Out {
			s.write(`DELETE FROM filed WHERE feed = ? AND folder = (SELECT id FROM folders WHERE name = ?)`,
				int64(a.Feed), name)
		}
		for _, name := range a.Into {
			s.write(`INSERT INTO filed VALUES (?, ?) ON CONFLICT DO NOTHING`, int64(a.Feed), int64(s.folder(name)))
		}
	}
	return true
}

// feedByURL finds a feed or, where the URL is that of a page, the one that is followed in its place.
const feedByURL = `SELECT CASE WHEN f.subscribed THEN f.id
	ELSE coalesce((SELECT id FROM feeds WHERE page = f.url AND subscribed), f.id) END FROM feeds f WHERE f.url = ?`

// Inherit implements archive.Feeds.
func (s *Store) Inherit(to, from feed.URL) {
	s.write(`UPDATE feeds SET name = iif(feeds.name = '', p.name, feeds.name), keep_bytes = iif(feeds.keep_bytes = 0, p.keep_bytes, feeds.keep_bytes),
			keep_age = iif(feeds.keep_age = 0, p.keep_age, feeds.keep_age), keep_count = iif(feeds.keep_count = 0, p.keep_count, feeds.keep_count)
		FROM feeds p WHERE feeds.url = ? AND p.url = ?`, string(to), string(from))
	s.write(`INSERT INTO filed SELECT t.id, f.folder FROM feeds t, feeds p JOIN filed f ON f.feed = p.id WHERE t.url = ? AND p.url = ?
		ON CONFLICT DO NOTHING`, string(to), string(from))
	const left = `EXISTS (SELECT 1 FROM feeds WHERE url = ?)`
	s.write(`DELETE FROM filed WHERE feed = (SELECT id FROM feeds WHERE url = ?) AND `+left, string(from), string(to))
	s.write(`UPDATE feeds SET name = '', keep_bytes = 0, keep_age = 0, keep_count = 0 WHERE url = ? AND `+left,
		string(from), string(to))
}

// roomForFolders reports whether the folders that a list names fit beside those that there are.
func (s *Store) roomForFolders(list []reading.Arrangement) bool {
	var n int
	s.row(`SELECT count(*) FROM folders`, nil, &n)
	more := make(map[string]bool)
	for _, a := range list {
		for _, name := range a.Into {
			if !more[name] && n+len(more) >= reading.MaxFolders &&
				!s.row(`SELECT 1 FROM folders WHERE name = ?`, []any{name}, new(int)) {
				return s.err != nil // of which Commit tells
			}
			more[name] = true
		}
	}
	return true
}

// AddFolder implements reading.Folders.
func (s *Store) AddFolder(name string) (id reading.FolderID, ok bool) {
	if !s.roomForFolders([]reading.Arrangement{{Into: []string{name}}}) {
		return 0, false
	}
	return s.folder(name), true
}

// folder is the folder of a name, made if there is none.
func (s *Store) folder(name string) (id reading.FolderID) {
	if !s.row(`SELECT id FROM folders WHERE name = ?`, []any{name}, &id) {
		s.begin()
		s.row(`INSERT INTO folders (name) VALUES (?) RETURNING id`, []any{name}, &id)
	}
	return id
}

// RenameFolder implements reading.Folders.
func (s *Store) RenameFolder(id reading.FolderID, name string) {
	var other reading.FolderID
	if !s.row(`SELECT id FROM folders WHERE name = ? AND id <> ?`, []any{name, int64(id)}, &other) {
		s.write(`UPDATE folders SET name = ? WHERE id = ?`, name, int64(id))
		return
	}
	s.write(`UPDATE OR IGNORE filed SET folder = ? WHERE folder = ?`, int64(other), int64(id))
	s.RemoveFolder(id)
}

// RemoveFolder implements reading.Folders.
func (s *Store) RemoveFolder(id reading.FolderID) {
	s.write(`DELETE FROM folders WHERE id = ?`, int64(id)) // and what is filed there with it
}

// Folders implements reading.Items.
func (r *Reader) Folders(ctx context.Context) ([]reading.Folder, error) {
	folders, err := list(ctx, r.db, by(func(f *reading.Folder) []any { return []any{&f.ID, &f.Name} }),
		`SELECT id, name FROM folders ORDER BY name`)
	return folders, r.failed(ctx, "read", err)
}

// Subscriptions implements reading.Items.
func (r *Reader) Subscriptions(ctx context.Context) ([]reading.FollowedFeed, error) {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	defer tx.Rollback() // nothing to keep; ends the snapshot
	feeds, err := list(ctx, tx, func(row rowScanner) (f reading.FollowedFeed, err error) {
		err = scan(row, &f.ID, &f.URL, &f.Name, &f.Title, &f.Site, millis(&f.Since), &f.Errors, &f.Error,
			millis(&f.Polled))
		f.Title, f.Site, f.Error = safehtml.Label(f.Title), safehtml.Link(f.Site),
			safehtml.Inert(safehtml.Line(f.Error))
		return f, err
	}, `SELECT id, url, name, title, link, since, errors, last_error, last_poll
		FROM feeds WHERE subscribed ORDER BY id`)
	if err == nil {
		err = addFolders(ctx, tx, feeds)
	}
	return feeds, r.failed(ctx, "read", err)
}

// addFolders adds to each feed the folders that it is in.
func addFolders(ctx context.Context, tx *sql.Tx, feeds []reading.FollowedFeed) error {
	type filed struct {
		feed reading.FeedID
		in   reading.Folder
	}
	for x, err := range found(ctx, tx, by(func(x *filed) []any { return []any{&x.feed, &x.in.ID, &x.in.Name} }),
		`SELECT f.feed, d.id, d.name FROM filed f JOIN folders d ON d.id = f.folder ORDER BY f.feed, d.name`) {
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
	id, err := one(ctx, r.db, single[reading.FeedID], `SELECT id FROM feeds WHERE url = ?`, string(u))
	return id, r.failed(ctx, "read", err)
}

// FeedOf implements reading.Filing.
func (r *Reader) FeedOf(ctx context.Context, id reading.FeedID) (feed.URL, error) {
	u, err := one(ctx, r.db, single[feed.URL], `SELECT url FROM feeds WHERE id = ?`, int64(id))
	return u, r.failed(ctx, "read", err)
}

// Filing implements reading.Filing.
func (r *Reader) Filing(ctx context.Context, number int64) (name string, folders []string, err error) {
	read := func(row rowScanner) (folder string, err error) {
		err = scan(row, &name, &folder)
		return folder, err
	}
	folders, err = list(ctx, r.db, read, `
		SELECT f.name, coalesce(d.name, '') FROM feeds f LEFT JOIN filed i ON i.feed = f.id LEFT JOIN folders d ON d.id = i.folder
		WHERE f.id = ? ORDER BY d.name`, number)
	if len(folders) == 1 && folders[0] == "" {
		folders = nil
	}
	return name, folders, wrap("read", r.path, err)
}
