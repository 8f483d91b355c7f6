package sqlite

import (
	"context"
	"database/sql"
	"net/netip"
	"time"
)

// A HubSubscription is one to a document at the reader address, that its subscriber is pushed.
type HubSubscription struct {
	Callback string
	Topic    string
	From     netip.Addr // the address that asked for it; the zero Addr where an earlier version did not write that down
	Secret   string
	Expires  time.Time // to the millisecond
	ETag     string    // of what the subscriber has
	Failures int       // in a row
	Next     time.Time // of the next try after one, to the millisecond
}

// HubSubscriptions returns all of them.
func (r *Reader) HubSubscriptions(ctx context.Context) (list []HubSubscription, err error) {
	rows, err := r.db.QueryContext(ctx,
		`SELECT callback, topic, subscriber, secret, expires, etag, failures, next FROM hub ORDER BY callback, topic`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			var s HubSubscription
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

// KeepHubSubscription stores s in place of the one with its Callback and Topic.
func (s *Store) KeepHubSubscription(h HubSubscription) {
	from := ""
	if h.From.IsValid() {
		from = h.From.String()
	}
	s.write(`INSERT OR REPLACE INTO hub (callback, topic, subscriber, secret, expires, etag, failures, next) VALUES `+
		`(?, ?, ?, ?, ?, ?, ?, ?)`,
		h.Callback, h.Topic, from, h.Secret, h.Expires.UnixMilli(), h.ETag, h.Failures, toMillis(h.Next))
}

// DropHubSubscription forgets one; it is no error if there is none.
func (s *Store) DropHubSubscription(callback, topic string) {
	s.write(`DELETE FROM hub WHERE callback = ? AND topic = ?`, callback, topic)
}
