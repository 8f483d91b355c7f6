package sqlite

import (
	"context"

	"feedex/feed"
	"feedex/reading"
)

// Decline implements reading.Declining.
func (s *Store) Decline(u feed.URL, declined bool) {
	if !declined {
		s.write(`DELETE FROM declined WHERE url = ?`, string(u))
		return
	}
	s.write(`INSERT INTO declined (url) VALUES (?) ON CONFLICT DO NOTHING`, string(u))
	s.write(`DELETE FROM declined WHERE id <= (SELECT id FROM declined ORDER BY id DESC LIMIT 1 OFFSET ?)`,
		reading.MaxDeclined)
}

// Unsuggested implements reading.UnsuggestedList.
func (r *Reader) Unsuggested(ctx context.Context) ([]feed.URL, error) {
	return all(ctx, r, single[feed.URL], `SELECT url FROM declined UNION SELECT url FROM feeds WHERE kept
		AND (subscribed OR since <> 0 OR private OR withheld OR discreet OR leads)`)
}
