package sqlite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// KeepIcon implements reading.Icons.
func (s *Store) KeepIcon(u feed.URL, content []byte, next time.Time) {
	var id any
	if len(content) > 0 {
		id = s.iconID(content)
	}
	s.write(`UPDATE feeds SET icon_id = ? WHERE url = ?`, id, string(u))
	s.DeferIcon(u, next)
	s.write(`DELETE FROM icons WHERE id NOT IN (SELECT icon_id FROM feeds WHERE icon_id IS NOT NULL)`)
}

// iconID is the row of a picture, made if there is none.
func (s *Store) iconID(content []byte) (id int64) {
	digest := sha256.Sum256(content)
	if !s.row(`SELECT id FROM icons WHERE digest = ?`, []any{digest[:]}, &id) {
		s.begin()
		s.row(`INSERT INTO icons (word, digest, content) VALUES (?, ?, ?) RETURNING id`,
			[]any{rand.Text(), digest[:], content}, &id)
	}
	return id
}

// DeferIcon implements reading.Icons.
func (s *Store) DeferIcon(u feed.URL, next time.Time) {
	s.write(`UPDATE feeds SET icon_next = ? WHERE url = ?`, next.Unix(), string(u))
}

// IconDue implements reading.IconList.
func (r *Reader) IconDue(ctx context.Context, now time.Time) (archive.Feed, error) {
	return first(ctx, r, by(feedFields), `SELECT `+feedColumns+` FROM feeds
		WHERE subscribed AND last_success IS NOT NULL AND (icon_next <= ? OR icon_next > ?)
		ORDER BY icon_next, id LIMIT 1`, now.Unix(), now.Add(2*reading.IconHolds).Unix())
}

// picture says whether the person is shown the pictures of a feed's entries without being asked.
func (s pen) picture(id reading.FeedID, shown bool) {
	if shown {
		s.write(`INSERT INTO pictured VALUES (?, ?) ON CONFLICT DO NOTHING`, id, s.person)
		return
	}
	s.write(`DELETE FROM pictured WHERE feed = ? AND person = ?`, id, s.person)
}

// FeedLook implements reading.Looks.
func (r personalReader) FeedLook(ctx context.Context, number int64) (reading.FeedLook, error) {
	return first(ctx, r.Reader, by(func(l *reading.FeedLook) []any {
		return []any{&l.Icon.ID, &l.Icon.Word, &l.Pictures, &l.FullText}
	}), `SELECT `+iconRef+`, EXISTS (SELECT 1 FROM pictured WHERE feed = f.id AND person = ?),
			f.full_from IS NOT NULL FROM feeds f WHERE f.id = ?`, r.person, number)
}

// Icon implements reading.IconList.
func (r *Reader) Icon(ctx context.Context, id reading.IconID) (reading.Icon, error) {
	return r.icon(ctx, `id = ?`, id)
}

// IconAt implements reading.IconList.
func (r *Reader) IconAt(ctx context.Context, word string) (reading.Icon, error) {
	return r.icon(ctx, `word = ?`, word)
}

func (r *Reader) icon(ctx context.Context, where string, arg any) (reading.Icon, error) {
	return first(ctx, r, by(iconFields), `SELECT `+iconColumns+` FROM icons c WHERE `+where, arg)
}

const iconColumns = `c.id, c.word, c.content`

// iconFields are where iconColumns go.
func iconFields(c *reading.Icon) []any { return []any{&c.ID, &c.Word, &c.Content} }

// iconRef is the IconRef of feeds f, whether they have one or not.
const iconRef = `coalesce(f.icon_id, 0), coalesce((SELECT word FROM icons WHERE id = f.icon_id), '')`
