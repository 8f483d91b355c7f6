package sqlite

import (
	"context"
	"time"

	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// checkStanding says why a person cannot have a standing query in the place of a filter, 0 for none.
func (s pen) checkStanding(id reading.FilterID) error {
	var others int
	s.row(`SELECT count(*) FROM filters WHERE standing AND NOT gone AND id <> ?`, []any{id}, &others)
	return reading.CheckStanding(s.person, others)
}

// Asking implements reading.StandingQueries.
func (s *Store) Asking(at time.Time, id reading.FilterID, next time.Time) {
	s.write(`UPDATE filters SET asked = ?, next = ? WHERE id = ?`, seconds(&at), next.Unix(), id)
}

// Found implements reading.StandingQueries.
func (s *Store) Found(at time.Time, id reading.FilterID, entries []feed.EntryID, problem string) {
	if s.write(`UPDATE filters SET trouble = ? WHERE id = ? AND standing AND NOT gone`, safehtml.Label(problem),
		id) == 0 {
		return
	}
	s.write(`INSERT INTO found (filter, seq, at) SELECT ?, e.seq, ?
		FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value) JOIN feeds f ON f.id = e.feed
		WHERE NOT f.subscribed ON CONFLICT DO NOTHING`, id, at.Unix(), jsonIDs(entries))
	s.write(`DELETE FROM found WHERE filter = ?1 AND seq IN (
		SELECT seq FROM found WHERE filter = ?1 ORDER BY at DESC, seq DESC LIMIT -1 OFFSET ?2)`, id, reading.MaxFound)
}

// StandingDue implements reading.StandingList.
func (r *Reader) StandingDue(ctx context.Context, now time.Time) (f reading.NamedFilter, asked time.Time, err error) {
	f, err = first(ctx, r, func(row rowScanner) (reading.NamedFilter, error) {
		return scanFilter(row, seconds(&asked))
	}, `SELECT `+filterColumns+`, f.asked FROM filters f INDEXED BY filters_standing
		WHERE f.standing AND NOT f.gone AND (f.next <= ? OR f.next > ?) ORDER BY f.next LIMIT 1`,
		now.Unix(), now.Add(2*reading.StandingEvery).Unix()) // of a clock that was ahead
	return f, asked, err
}

// foundBy are the latest entries of feeds that nobody follows that a filter of the person found as a standing query, as
// CaughtBy has them.
func (r personalReader) foundBy(ctx context.Context, id reading.FilterID, secret bool,
	limit int) ([]reading.CaughtItem, error) {
	return all(ctx, r.Reader, by(func(c *reading.CaughtItem) []any {
		return []any{&c.Seq, &c.Changed, &c.Feed, &c.Title, seconds(&c.At)}
	}), `SELECT n.seq, coalesce(e.changed, 0), f.url, f.title, n.at
		FROM found n INDEXED BY found_by_time CROSS JOIN entries e ON e.seq = n.seq CROSS JOIN feeds f ON f.id = e.feed
		WHERE n.filter = (SELECT id FROM filters WHERE id = ? AND person = ? AND NOT gone) AND (? OR NOT f.secret)
			AND NOT f.subscribed
		ORDER BY n.at DESC, n.seq DESC LIMIT ?`, id, r.person, secret, limit)
}

// merged are two lists as one by when each was caught or found, the latest first, limit of them at most.
func merged(a, b []reading.CaughtItem, limit int) []reading.CaughtItem {
	if len(b) == 0 {
		return a
	}
	var all []reading.CaughtItem
	for len(all) < limit && len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0].At.After(a[0].At) {
			from = &b
		}
		all = append(all, (*from)[0])
		*from = (*from)[1:]
	}
	return all
}
