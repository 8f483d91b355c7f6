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

// Declined implements reading.DeclinedList.
func (r *Reader) Declined(ctx context.Context) ([]feed.URL, error) {
	feeds, err := list(ctx, r.db, single[feed.URL], `SELECT url FROM declined`)
	return feeds, r.failed(ctx, "read", err)
}
