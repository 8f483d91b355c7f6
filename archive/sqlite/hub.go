package sqlite

import (
	"context"
	"net/netip"

	"feedex/archive"
)

// HubSubscriptions implements archive.HubList.
func (r *Reader) HubSubscriptions(ctx context.Context) ([]archive.HubSubscription, error) {
	return all(ctx, r, func(row rowScanner) (s archive.HubSubscription, err error) {
		var from string
		err = scan(row, &s.Callback, &s.Topic, &from, &s.Secret, millis(&s.Expires), &s.ETag, &s.Failures,
			millis(&s.Next))
		s.From, _ = netip.ParseAddr(from)
		return s, err
	}, `SELECT callback, topic, subscriber, secret, expires, etag, failures, next FROM hub ORDER BY callback, topic`)
}

// KeepHubSubscription implements archive.HubStore.
func (s *Store) KeepHubSubscription(h archive.HubSubscription) {
	from := ""
	if h.From.IsValid() {
		from = h.From.String()
	}
	s.write(`INSERT OR REPLACE INTO hub (callback, topic, subscriber, secret, expires, etag, failures, next) VALUES `+
		`(?, ?, ?, ?, ?, ?, ?, ?)`,
		h.Callback, h.Topic, from, h.Secret, h.Expires.UnixMilli(), h.ETag, h.Failures, millis(&h.Next))
}

// DropHubSubscription implements archive.HubStore.
func (s *Store) DropHubSubscription(callback, topic string) {
	s.write(`DELETE FROM hub WHERE callback = ? AND topic = ?`, callback, topic)
}
