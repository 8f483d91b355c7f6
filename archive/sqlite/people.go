package sqlite

import (
	"context"
	"time"

	"feedex/archive"
	"feedex/reading"
)

// AddPerson implements reading.People.
func (s *Store) AddPerson(at time.Time, name string) (id reading.PersonID, err error) {
	var n int
	switch {
	case s.row(`SELECT 1 FROM people WHERE name = ?`, []any{name}, &n):
		return 0, reading.ErrPerson
	case s.row(`SELECT count(*) FROM people`, nil, &n) && n >= reading.MaxPeople:
		return 0, reading.ErrPeople
	}
	s.begin()
	s.row(`INSERT INTO people (name, created) VALUES (?, ?) RETURNING id`, []any{name, at.Unix()}, &id)
	s.write(`INSERT INTO marks (person, item, feed, arrived, listed, read)
		SELECT ?, id, feed, arrived, 1, 0 FROM (
			SELECT i.id, i.feed, i.arrived, row_number() OVER (PARTITION BY i.feed ORDER BY i.seq DESC) AS n
			FROM (SELECT seq FROM items WHERE seq > 0 ORDER BY seq DESC LIMIT ?) l CROSS JOIN items i ON i.seq = l.seq
			WHERE i.feed IN (SELECT id FROM feeds WHERE subscribed))
		WHERE n <= ? ORDER BY id`, id, reading.FirstLatest, archive.FirstUnread)
	return id, nil
}

// HidePerson implements reading.People. In the place of their name is one that nobody has.
func (s *Store) HidePerson(at time.Time, id reading.PersonID) {
	s.write(`UPDATE people SET removed = ?, name = char(10) || id WHERE id = ? AND id <> ?`, at.Unix(), id,
		reading.Owner)
	s.write(`DELETE FROM passwords WHERE person = ? AND person <> ?`, id, reading.Owner)
}

// ShowPerson implements reading.People.
func (s *Store) ShowPerson(p reading.Person) error {
	if s.row(`SELECT 1 FROM people WHERE name = ?`, []any{p.Name}, new(int)) {
		return reading.ErrPerson
	}
	if s.write(`UPDATE people SET removed = NULL, name = ? WHERE id = ? AND removed IS NOT NULL`, p.Name,
		p.ID) == 0 && s.err == nil {
		return reading.ErrNobody
	}
	return nil
}

// isHidden is whether a person, whose number is before it, was hidden.
const isHidden = ` IN (SELECT id FROM people WHERE removed IS NOT NULL)`

// HiddenPeople implements reading.PeopleList.
func (r *Reader) HiddenPeople(ctx context.Context, upTo time.Time) ([]reading.PersonID, error) {
	return all(ctx, r, single[reading.PersonID], `SELECT id FROM people WHERE removed <= ? OR removed > ?
		ORDER BY id`, upTo.Unix(), upTo.Add(reading.RemovedFor).Unix())
}

// RemovePerson implements reading.People.
func (s *Store) RemovePerson(id reading.PersonID, limit int) (more bool) {
	if id == reading.Owner {
		return false
	}
	for _, table := range []string{`passwords`, `folders`, `titles`, `left_out`, `unfollowed`, `pictured`,
		`receivers`} {
		s.write(`DELETE FROM `+table+` WHERE person = ?`, id)
	}
	s.write(`UPDATE filters SET gone = 1 WHERE person = ?`, id)
	s.catchers = nil
	if s.sweep(limit, `gone = 1`) {
		return true
	}
	if s.write(`DELETE FROM marks WHERE person = ?1 AND item IN (SELECT item FROM marks WHERE person = ?1 LIMIT ?2)`,
		id, limit) == int64(limit) {
		return s.err == nil
	}
	const ofPerson = `label IN (SELECT id FROM labels WHERE person = ?1)`
	if s.write(`DELETE FROM labelled WHERE `+ofPerson+` AND item IN (SELECT item FROM labelled WHERE `+ofPerson+
		` LIMIT ?2)`, id, limit) >= int64(limit) {
		return s.err == nil
	}
	s.write(`DELETE FROM labels WHERE person = ?`, id)
	s.write(`DELETE FROM people WHERE id = ?`, id)
	return false
}

// People implements reading.PeopleList.
func (r *Reader) People(ctx context.Context) ([]reading.Person, error) {
	return all(ctx, r, by(func(p *reading.Person) []any {
		return []any{&p.ID, &p.Name, seconds(&p.Created)}
	}), `SELECT id, name, created FROM people WHERE removed IS NULL ORDER BY id`)
}

// Belongings implements reading.PeopleList.
func (r *Reader) Belongings(ctx context.Context, id reading.PersonID) (reading.Belongings, error) {
	return first(ctx, r, by(func(b *reading.Belongings) []any {
		return []any{&b.Passwords, &b.Folders, &b.Unread, &b.Starred, &b.Labels, &b.Filters, &b.Receivers}
	}), `SELECT (SELECT count(*) FROM passwords WHERE person = ?1), (SELECT count(*) FROM folders WHERE person = ?1),
		(SELECT coalesce(sum(u.items), 0) FROM unread u JOIN feeds f ON f.id = u.feed WHERE u.person = ?1 AND `+isRead+`),
		(SELECT count(*) FROM marks WHERE person = ?1 AND starred),
		(SELECT count(*) FROM labels WHERE person = ?1), (SELECT count(*) FROM filters WHERE person = ?1 AND NOT gone),
		(SELECT count(*) FROM receivers WHERE person = ?1)`, id, id)
}
