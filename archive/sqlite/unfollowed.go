package sqlite

import (
	"context"
	"time"

	"feedex/reading"
	"feedex/safehtml"
)

// NoteUnfollowed implements reading.Pen.
func (s pen) NoteUnfollowed(at time.Time, id reading.FeedID, by string) {
	s.write(`INSERT INTO unfollowed SELECT id, ?, ?, ? FROM feeds f WHERE id = ? AND `+isRead+`
		ON CONFLICT DO UPDATE SET by = excluded.by, at = excluded.at`, s.person, by, at.Unix(), id, s.person)
}

// Unfollowed implements reading.Shelf.
func (r personalReader) Unfollowed(ctx context.Context, since time.Time) ([]reading.Unfollowed, error) {
	return all(ctx, r.Reader, func(row rowScanner) (u reading.Unfollowed, err error) {
		err = scan(row, &u.Feed, &u.URL, &u.Title, &u.By, seconds(&u.At))
		u.Title = safehtml.Label(u.Title)
		return u, err
	}, `SELECT f.id, f.url, coalesce((SELECT name FROM titles WHERE feed = f.id AND person = u.person), f.title),
			u.by, u.at
		FROM unfollowed u JOIN feeds f ON f.id = u.feed
		WHERE u.person = ? AND u.at >= ? AND NOT `+isRead+` ORDER BY u.by, u.at DESC, f.id DESC`, r.person,
		since.Unix(), r.person)
}
