package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

const (
	// storyTime is for how long a receiver hears of a story once.
	storyTime = 48 * time.Hour
	// storyWords is how many words a title has at least that tells a story from others: "News" does not.
	storyWords = 4
)

// KeepReceiver implements reading.Receivers.
func (s pen) KeepReceiver(r reading.Receiver) (id reading.ReceiverID, err error) {
	var n int
	if !s.row(`SELECT id FROM receivers WHERE person = ? AND name = ?`, []any{int64(s.person), r.Name}, &id) &&
		s.row(`SELECT count(*) FROM receivers WHERE person = ?`, []any{int64(s.person)}, &n) &&
		n >= reading.MaxReceivers {
		return 0, reading.ErrReceivers
	}
	for _, f := range r.Only {
		const isThere = `SELECT 1 FROM filters WHERE id = ? AND person = ? AND NOT gone`
		if !s.row(isThere, []any{int64(f), int64(s.person)}, &n) && s.err == nil {
			return 0, reading.ErrNoFilter
		}
	}
	s.begin()
	s.row(`
		INSERT INTO receivers (person, name, kind, address, secret, server, local, some, quiet_from, quiet_to, digest,
			most, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (person, name) DO UPDATE SET kind = excluded.kind, address = excluded.address,
			secret = excluded.secret, server = excluded.server, local = excluded.local, some = excluded.some,
			quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to, digest = excluded.digest, most = excluded.most,
			failures = 0, problem = '', next = NULL, ended = 0
		RETURNING id`, []any{int64(s.person), r.Name, string(r.Kind), r.Address, r.Secret, r.Server, r.Local,
		r.Only != nil, int(r.Hours.QuietFrom), int(r.Hours.QuietTo), jsonList[reading.TimeOfDay]{&r.Hours.Digest},
		r.Hours.Most, r.Created.Unix()}, &id)
	s.write(`DELETE FROM receiver_filters WHERE receiver = ?`, int64(id))
	for _, f := range r.Only {
		s.write(`INSERT INTO receiver_filters SELECT ?, key FROM filters WHERE id = ? ON CONFLICT DO NOTHING`,
			int64(id), int64(f))
	}
	return id, nil
}

// DropReceiver implements reading.Receivers.
func (s pen) DropReceiver(name string) bool {
	return s.write(`DELETE FROM receivers WHERE person = ? AND name = ?`, int64(s.person), name) > 0
}

// announce has the receivers of people told of what their filters caught of the items behind a number, but for what is
// no news any more, what was there when the first poll of a feed was made, and what a rule has muted. Of a story that
// several filters caught, or several feeds have, one is told once.
func (s *Store) announce(last int64) {
	type hit struct {
		receiver, item, waiting int64
		filter                  string
		arrived                 time.Time
		entry                   feed.EntryID
		title, link             string
	}
	hits := load(&s.writer, by(func(h *hit) []any {
		return []any{&h.receiver, &h.waiting, &h.filter, &h.item, seconds(&h.arrived), bytesOf(h.entry[:]), &h.title,
			&h.link}
	}), `
		SELECT r.id, (SELECT count(*) FROM messages m WHERE m.receiver = r.id AND m.told IS NULL), f.name, i.id, i.arrived,
			e.id, e.title, e.link
		FROM caught c INDEXED BY caught_by_item CROSS JOIN filters f ON f.id = c.filter AND NOT f.gone AND f.rule <> ?2
			CROSS JOIN receivers r ON r.person = f.person AND NOT r.ended
				AND (NOT r.some OR EXISTS (SELECT 1 FROM receiver_filters k WHERE k.receiver = r.id AND k.key = f.key))
			CROSS JOIN items i ON i.id = c.item CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds d ON d.id = e.feed
		WHERE c.item > ?1 AND e.time >= i.arrived - ?3 AND (e.source <> '' OR d.last_success IS NOT NULL) AND NOT EXISTS (
			SELECT 1 FROM caught m CROSS JOIN filters o ON o.id = m.filter AND o.person = f.person
			WHERE m.item = c.item AND m.did = ?2)
		ORDER BY i.id, f.place`, last, string(reading.RuleMute), int64(reading.MessageAge/time.Second))
	waiting := make(map[int64]int64)
	for i := range hits {
		h := &hits[i]
		if _, counted := waiting[h.receiver]; !counted {
			waiting[h.receiver] = h.waiting
		}
		story := storyOf(h.entry, h.title, h.link)
		if waiting[h.receiver] >= reading.MaxWaiting {
			s.write(`UPDATE receivers SET beyond = beyond + 1 WHERE id = ?1
				AND NOT EXISTS (SELECT 1 FROM messages WHERE receiver = ?1 AND story = ?2)`, h.receiver, story)
			continue
		}
		waiting[h.receiver] += s.write(`
			INSERT INTO messages (receiver, story, filter, item, arrived) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, h.receiver, story, h.filter, h.item, seconds(&h.arrived))
	}
}

// Told implements reading.Messages.
func (s *Store) Told(id reading.ReceiverID, at time.Time, messages []reading.MessageID) {
	s.write(`UPDATE messages SET told = ? WHERE receiver = ? AND id IN (SELECT value FROM json_each(?))`, at.Unix(),
		int64(id), jsonNumbers(messages))
	s.write(`UPDATE receivers SET failures = 0, problem = '', next = NULL, beyond = 0 WHERE id = ?`, int64(id))
	s.write(`DELETE FROM messages WHERE receiver = ? AND told < ?`, int64(id), at.Add(-storyTime).Unix())
}

// NotTold implements reading.Messages.
func (s *Store) NotTold(id reading.ReceiverID, problem string, next time.Time, ended bool) {
	s.write(`UPDATE receivers SET failures = failures + 1, problem = ?, next = ?, ended = ? WHERE id = ?`,
		safehtml.Label(problem), seconds(&next), ended, int64(id))
	if ended {
		s.write(`DELETE FROM messages WHERE receiver = ? AND told IS NULL`, int64(id))
	}
}

// Receivers implements reading.ReceiverList.
func (r *Reader) Receivers(ctx context.Context) ([]reading.Receiver, error) {
	all, err := list(ctx, r.db, func(row rowScanner) (x reading.Receiver, err error) {
		var some bool
		err = scan(row, &x.ID, &x.Person, &x.Name, &x.Kind, &x.Address, &x.Secret, &x.Server, &x.Local, &some,
			jsonList[reading.FilterID]{&x.Only}, &x.Hours.QuietFrom, &x.Hours.QuietTo,
			jsonList[reading.TimeOfDay]{&x.Hours.Digest}, &x.Hours.Most, seconds(&x.Created), &x.Failures, &x.Problem,
			seconds(&x.Next), &x.Ended)
		if !some {
			x.Only = nil // in place of none, which is what there is where those that it had are gone
		}
		return x, err
	}, `SELECT id, person, name, kind, address, secret, server, local, some,
			(SELECT json_group_array(f.id ORDER BY f.place) FROM receiver_filters k JOIN filters f ON f.key = k.key AND NOT f.gone
				WHERE k.receiver = receivers.id),
			quiet_from, quiet_to, digest, most, created, failures, problem, next, ended
		FROM receivers ORDER BY id`)
	return all, r.failed(ctx, "read", err)
}

// Waiting implements reading.ReceiverList.
func (r *Reader) Waiting(ctx context.Context, id reading.ReceiverID) (waiting []reading.Message, more int, err error) {
	waiting, err = list(ctx, r.db, func(row rowScanner) (m reading.Message, err error) {
		var secret string
		err = scan(row, &m.ID, &m.Filter, seconds(&m.Arrived), &m.Item, bytesOf(m.Entry[:]), seconds(&m.Time), &m.Title,
			&m.Link, &secret, &m.Feed)
		m.Title = safehtml.Label(m.Title)
		m.Link = safehtml.Link(m.Link)
		m.Feed = cmp.Or(safehtml.Label(m.Feed), feed.URL(secret).Host())
		return m, err
	}, `
		SELECT m.id, m.filter, m.arrived, m.item, e.id, e.time, e.title, e.link, f.url,
			coalesce((SELECT name FROM titles WHERE feed = f.id AND person = r.person), f.title)
		FROM messages m INDEXED BY messages_waiting CROSS JOIN receivers r ON r.id = m.receiver
			CROSS JOIN items i ON i.id = m.item CROSS JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = e.feed
		WHERE m.receiver = ? AND m.told IS NULL ORDER BY m.id`, int64(id))
	if err == nil {
		more, err = one(ctx, r.db, single[int], `SELECT beyond FROM receivers WHERE id = ?`, int64(id))
	}
	return waiting, more, r.failed(ctx, "read", err)
}

// ToldSince implements reading.ReceiverList.
func (r *Reader) ToldSince(ctx context.Context, id reading.ReceiverID, since time.Time) ([]time.Time, error) {
	times, err := list(ctx, r.db, by(func(t *time.Time) []any { return []any{seconds(t)} }),
		`SELECT DISTINCT told FROM messages WHERE receiver = ? AND told >= ? ORDER BY told`, int64(id),
		ceilSeconds(since))
	return times, r.failed(ctx, "read", err)
}

// storyOf is the same for entries that tell the same: those with a title of several words, and else those with a link.
func storyOf(id feed.EntryID, title, link string) []byte {
	folded, _ := archive.Fold(&feed.Entry{Title: title})
	key := "title" + folded
	switch {
	case strings.Count(folded, " ")-1 >= storyWords:
	case link != "":
		key = "link" + link
	default:
		return id[:]
	}
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}
