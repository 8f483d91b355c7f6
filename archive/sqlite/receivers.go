package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

const (
	// storyTime is for how long a receiver hears of a story of several feeds once.
	storyTime = 48 * time.Hour
	// storyBegin is how much of its text tells a story from others of the same title, in bytes without markup.
	storyBegin = 200
)

// KeepReceiver implements reading.Receivers.
func (s pen) KeepReceiver(r reading.Receiver) (id reading.ReceiverID, err error) {
	var n int
	if !s.row(`SELECT id FROM receivers WHERE person = ? AND name = ?`, []any{s.person, r.Name}, &id) &&
		s.row(`SELECT count(*) FROM receivers WHERE person = ?`, []any{s.person}, &n) &&
		n >= reading.MaxReceivers {
		return 0, reading.ErrReceivers
	}
	for _, f := range r.Only {
		const isThere = `SELECT 1 FROM filters WHERE id = ? AND person = ? AND NOT gone`
		if !s.row(isThere, []any{f, s.person}, &n) && s.err == nil {
			return 0, reading.ErrNoFilter
		}
	}
	s.begin()
	s.write(`DELETE FROM commands WHERE receiver = (SELECT id FROM receivers WHERE id = ? AND word IS NOT ?)`,
		id, maybeBytesOf(r.Word[:]))
	s.row(`
		INSERT INTO receivers (person, name, kind, address, secret, server, local, some, quiet_from, quiet_to, digest,
			most, created, commands, word, heard, muted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (person, name) DO UPDATE SET kind = excluded.kind, address = excluded.address,
			secret = excluded.secret, server = excluded.server, local = excluded.local, some = excluded.some,
			quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to, digest = excluded.digest, most = excluded.most,
			failures = 0, problem = '', next = NULL, ended = 0, commands = excluded.commands, word = excluded.word,
			heard = iif(word IS excluded.word, heard, excluded.heard), deaf = iif(word IS excluded.word, deaf, ''),
			muted = excluded.muted
		RETURNING id`, []any{s.person, r.Name, string(r.Kind), r.Address, r.Secret, r.Server, r.Local,
		r.Only != nil, int(r.Hours.QuietFrom), int(r.Hours.QuietTo), jsonList(&r.Hours.Digest),
		r.Hours.Most, r.Created.Unix(), r.Commands, maybeBytesOf(r.Word[:]), r.Heard, seconds(&r.Muted)}, &id)
	s.write(`DELETE FROM receiver_filters WHERE receiver = ?`, id)
	for _, f := range r.Only {
		s.write(`INSERT INTO receiver_filters SELECT ?, key FROM filters WHERE id = ? ON CONFLICT DO NOTHING`, id, f)
	}
	return id, nil
}

// DropReceiver implements reading.Receivers.
func (s pen) DropReceiver(name string) bool {
	return s.write(`DELETE FROM receivers WHERE person = ? AND name = ?`, s.person, name) > 0
}

// A hit is an item that a filter of somebody caught, of which a receiver of theirs is to be told.
type hit struct {
	receiver, item, feed int64
	filter               string
	arrived              time.Time
	entry                feed.EntryID
	title, link, lead    string
	confirmed            bool
}

// announce has the receivers of people told of what their filters caught of the items behind a number, but for what is
// no news any more, what was there when the first poll of a feed was made, and what a rule has muted. Of a story that
// several feeds have one is told once, and of an entry that several filters caught as well.
func (s *Store) announce(last int64) {
	hits := load(&s.writer, by(func(h *hit) []any {
		return []any{&h.receiver, &h.filter, &h.item, &h.feed, seconds(&h.arrived), bytesOf(h.entry[:]), &h.title,
			&h.link, &h.lead, &h.confirmed}
	}), `
		SELECT h.receiver, h.filter, i.id, i.feed, i.arrived, e.id, e.title, e.link, `+leadColumn+`, `+isConfirmed+`
		FROM ( -- once an item, and not once for each filter that caught it
			SELECT r.id AS receiver, r.person AS person, c.item AS item, f.name AS filter, min(f.place)
			FROM caught c INDEXED BY caught_by_item CROSS JOIN filters f ON f.id = c.filter AND NOT f.gone AND f.rule <> ?2
				CROSS JOIN receivers r ON r.person = f.person AND NOT r.ended
					AND (NOT r.some OR EXISTS (SELECT 1 FROM receiver_filters k WHERE k.receiver = r.id AND k.key = f.key))
			WHERE c.item > ?1 GROUP BY r.id, c.item) h
			CROSS JOIN items i ON i.id = h.item CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds d ON d.id = e.feed
		WHERE e.time >= i.arrived - ?3 AND (e.source <> '' OR d.last_success IS NOT NULL) AND NOT EXISTS (
			SELECT 1 FROM caught m INDEXED BY caught_by_item CROSS JOIN filters o ON o.id = m.filter
			WHERE m.item = i.id AND m.did = ?2 AND o.person = h.person)
		ORDER BY h.receiver, i.id`, last, string(reading.RuleMute), int64(reading.MessageAge/time.Second))
	for len(hits) > 0 {
		of := slices.IndexFunc(hits, func(h hit) bool { return h.receiver != hits[0].receiver })
		if of < 0 {
			of = len(hits)
		}
		s.tell(hits[:of])
		hits = hits[of:]
	}
}

// tell has one receiver told of hits, as far as there is room; the rest is counted. What one neighbor alone vouches for
// makes room for what is confirmed: a night's inventions of one would keep all of it out.
func (s *Store) tell(hits []hit) {
	receiver := hits[0].receiver
	at := hits[0].arrived
	s.write(`DELETE FROM messages WHERE receiver = ? AND (told < ? OR told > ?)`, receiver, at.Add(-storyTime).Unix(),
		at.Add(storyTime).Unix()) // by a clock that was ahead
	var waiting, beyond int64
	hearsay := true // may wait: who is never reached has a thousand others, which are gone through once
	s.row(`SELECT count(*) FROM messages WHERE receiver = ? AND told IS NULL`, []any{receiver}, &waiting)
	for i := range hits {
		h := &hits[i]
		story, wording := h.story()
		if s.row(`SELECT 1 FROM messages WHERE receiver = ?1 AND story = ?2 AND feed <> ?4
			UNION ALL SELECT 1 FROM messages WHERE receiver = ?1 AND wording = ?3 AND feed <> ?4`,
			[]any{receiver, story, wording, h.feed}, new(int)) {
			continue
		}
		if waiting >= reading.MaxWaiting {
			beyond++
			if hearsay = hearsay && (!h.confirmed || s.write(dropHearsay, receiver) > 0); !hearsay || !h.confirmed {
				continue
			}
			waiting--
		}
		waiting += s.write(`
			INSERT INTO messages (receiver, story, wording, filter, item, feed, arrived) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, receiver, story, wording, h.filter, h.item, h.feed, seconds(&h.arrived))
	}
	if beyond > 0 {
		s.write(`UPDATE receivers SET beyond = beyond + ? WHERE id = ?`, beyond, receiver)
	}
}

// dropHearsay has a receiver told no more of what came last of what one neighbor alone vouches for.
const dropHearsay = `DELETE FROM messages WHERE id = (
	SELECT m.id FROM messages m INDEXED BY messages_waiting CROSS JOIN items i ON i.id = m.item
		CROSS JOIN entries e ON e.seq = i.seq
	WHERE m.receiver = ? AND m.told IS NULL AND NOT ` + isConfirmed + ` ORDER BY m.id DESC LIMIT 1)`

// Told implements reading.Messages.
func (s *Store) Told(to reading.Receiver, at time.Time, messages []reading.MessageID, more int) {
	s.write(`UPDATE messages SET told = ? WHERE receiver = ? AND id IN (SELECT value FROM json_each(?))`, at.Unix(),
		to.ID, jsonNumbers(messages))
	s.write(`UPDATE receivers SET beyond = max(0, beyond - ?) WHERE id = ?`, more, to.ID)
	s.write(`UPDATE receivers SET failures = 0, problem = '', next = NULL WHERE id = ? AND address = ?`, to.ID,
		to.Address)
}

// NotTold implements reading.Messages.
func (s *Store) NotTold(to reading.Receiver, problem string, next time.Time, ended bool) {
	if ended {
		next = time.Time{}
	}
	if s.write(`UPDATE receivers SET failures = failures + 1, problem = ?, next = ?, ended = ?
		WHERE id = ? AND address = ?`, safehtml.Label(problem), seconds(&next), ended, to.ID, to.Address) == 0 {
		return
	}
	if ended {
		s.write(`DELETE FROM messages WHERE receiver = ? AND told IS NULL`, to.ID)
		s.write(`UPDATE receivers SET beyond = 0 WHERE id = ?`, to.ID)
	}
}

// Receivers implements reading.ReceiverList.
func (r *Reader) Receivers(ctx context.Context) ([]reading.Receiver, error) {
	return all(ctx, r, func(row rowScanner) (x reading.Receiver, err error) {
		var some bool
		err = scan(row, &x.ID, &x.Person, &x.Name, &x.Kind, &x.Address, &x.Secret, &x.Server, &x.Local, &some,
			jsonList(&x.Only), &x.Hours.QuietFrom, &x.Hours.QuietTo,
			jsonList(&x.Hours.Digest), &x.Hours.Most, seconds(&x.Created), &x.Failures, &x.Problem,
			seconds(&x.Next), &x.Ended, &x.Commands, maybeBytesOf(x.Word[:]), &x.Heard, &x.Deaf, seconds(&x.Muted))
		if !some {
			x.Only = nil // in place of none, which is what there is where those that it had are gone
		}
		return x, err
	}, `SELECT id, person, name, kind, address, secret, server, local, some,
			(SELECT json_group_array(f.id ORDER BY f.place)
				FROM receiver_filters k JOIN filters f ON f.key = k.key AND NOT f.gone WHERE k.receiver = receivers.id),
			quiet_from, quiet_to, digest, most, created, failures, problem, next, ended, commands, word,
			heard, deaf, muted
		FROM receivers WHERE NOT person`+isHidden+` ORDER BY id`)
}

// Waiting implements reading.ReceiverList.
func (r *Reader) Waiting(ctx context.Context, id reading.ReceiverID, limit int) (waiting []reading.Message, more int,
	err error) {
	waiting, err = all(ctx, r, func(row rowScanner) (m reading.Message, err error) {
		var secret string
		err = scan(row, &m.ID, &m.Filter, seconds(&m.Arrived), &m.Item, bytesOf(m.Entry[:]), seconds(&m.Time), &m.Title,
			&m.Link, &secret, &m.Feed, &m.Lead, &m.Unconfirmed)
		m.Title = safehtml.Label(m.Title)
		m.Link = safehtml.Link(m.Link)
		m.Feed = cmp.Or(safehtml.Label(m.Feed), feed.URL(secret).Host())
		return m, err
	}, `
		SELECT m.id, m.filter, m.arrived, m.item, e.id, e.time, e.title, e.link, f.url,
			coalesce((SELECT name FROM titles WHERE feed = f.id AND person = r.person), f.title),
			iif(e.title = '', `+leadColumn+`, ''), NOT `+isConfirmed+`
		FROM messages m INDEXED BY messages_waiting CROSS JOIN receivers r ON r.id = m.receiver
			CROSS JOIN items i ON i.id = m.item CROSS JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = e.feed
		WHERE m.receiver = ? AND m.told IS NULL ORDER BY m.id LIMIT ?`, id, limit)
	if err == nil {
		more, err = first(ctx, r, single[int], `SELECT beyond FROM receivers WHERE id = ?`, id)
	}
	return waiting, more, err
}

// CountWaiting implements reading.ReceiverList.
func (r *Reader) CountWaiting(ctx context.Context, id reading.ReceiverID) (int, error) {
	return first(ctx, r, single[int], `SELECT beyond + (
		SELECT count(*) FROM messages m WHERE m.receiver = receivers.id AND m.told IS NULL) FROM receivers WHERE id = ?`,
		id)
}

// ToldSince implements reading.ReceiverList.
func (r *Reader) ToldSince(ctx context.Context, id reading.ReceiverID, since time.Time) ([]time.Time, error) {
	return all(ctx, r, by(func(t *time.Time) []any { return []any{seconds(t)} }),
		`SELECT DISTINCT told FROM messages WHERE receiver = ? AND told >= ? ORDER BY told`, id, ceilSeconds(since))
}

// leadColumn is the beginning of an entry's text e, from which lists and messages make an opening.
const leadColumn = `substr(iif(e.summary = '', e.content, e.summary), 1, 1000)`

// story is the same for entries with the same title and link, for all entries of a site may lead to its first page; and
// wording for those with the same title whose texts begin alike. That is nil where there is no title or no text, for a
// title alone may be that of many stories.
func (h *hit) story() (story, wording []byte) {
	story = h.entry[:]
	title, text := archive.Fold(&feed.Entry{Title: h.title, Summary: h.lead})
	if h.link != "" {
		sum := sha256.Sum256([]byte("link" + h.link + "\n" + title))
		story = sum[:]
	}
	if strings.TrimSpace(title) != "" && strings.TrimSpace(text) != "" {
		sum := sha256.Sum256([]byte(title + "\n" + text[:min(len(text), storyBegin)]))
		wording = sum[:]
	}
	return story, wording
}
