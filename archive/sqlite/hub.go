package sqlite

import (
	"context"
	"database/sql"
	"net/netip"

	"feedex/archive"
)

// HubSubscriptions implements archive.HubList.
func (r *Reader) HubSubscriptions(ctx context.Context) (list []archive.HubSubscription, err error) {
	rows, err := r.db.QueryContext(ctx,
		`SELECT callback, topic, subscriber, secret, expires, etag, failures, next FROM hub ORDER BY callback, topic`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var s archive.HubSubscription
			var expires, next sql.NullInt64
			var from string
			err := scan(rows, &s.Callback, &s.Topic, &from, &s.Secret, &expires, &s.ETag, &s.Failures, &next)
			s.From, _ = netip.ParseAddr(from)
			s.Expires, s.Next = fromMillis(expires), fromMillis(next)
			list = append(list, s)
			return err
		})
	}
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	return list, nil
}

// KeepHubSubscription implements archive.HubStore.
func (s *Store) KeepHubSubscription(h archive.HubSubscription) {
	from := ""
	if h.From.IsValid() {
		from = h.From.String()
	}
	s.write(`INSERT OR REPLACE INTO hub (callback, topic, subscriber, secret, expires, etag, failures, next) VALUES `+
		`(?, ?, ?, ?, ?, ?, ?, ?)`,
		h.Callback, h.Topic, from, h.Secret, h.Expires.UnixMilli(), h.ETag, h.Failures, toMillis(h.Next))
}

// DropHubSubscription implements archive.HubStore.
func (s *Store) DropHubSubscription(callback, topic string) {
	s.write(`DELETE FROM hub WHERE callback = ? AND topic = ?`, callback, topic)
}
