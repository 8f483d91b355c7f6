package sqlite

import (
	"context"
	"encoding/json"

	"feedex/feed"
	"feedex/reading"
)

// Find implements reading.Items. It takes no longer than searchTime.
func (r *Reader) Find(ctx context.Context, m feed.Match, of []reading.FeedID,
	limit int) (ids []reading.ItemID, err error) {
	var f feed.Filter
	f.Ask(m)
	err = r.searching(ctx, f, func(s *search) error {
		s.where = ` AND e.feed IN (SELECT id FROM feeds WHERE subscribed)`
		if len(of) > 0 {
			list, _ := json.Marshal(of) // numbers: it cannot fail
			s.where, s.args = s.where+` AND e.feed IN (SELECT value FROM json_each(?))`, []any{string(list)}
		}
		seqs, err := s.newest(limit)
		if err != nil {
			return err
		}
		found, err := json.Marshal(seqs)
		if err != nil {
			return err
		}
		var list []byte
		err = scan(s.tx.QueryRowContext(s.ctx,
			`SELECT json_group_array(id ORDER BY id) FROM items WHERE seq IN (SELECT value FROM json_each(?))`,
			string(found)), &list)
		if err != nil {
			return err
		}
		return json.Unmarshal(list, &ids)
	})
	return ids, err
}
