package sqlite

import (
	"context"
	"time"

	"feedex/reading"
)

// KeepPassword implements reading.Passwords.
func (s *Store) KeepPassword(p reading.Password) error {
	var n int
	switch {
	case s.row(`SELECT 1 FROM passwords WHERE name = ?`, []any{p.Name}, &n):
		return reading.ErrTaken
	case s.row(`SELECT count(*) FROM passwords`, nil, &n) && n >= reading.MaxPasswords:
		return reading.ErrPasswords
	case !s.row(`SELECT 1 FROM people WHERE id = ? AND removed IS NULL`, []any{p.Person}, &n) && s.err == nil:
		return reading.ErrNobody
	}
	s.write(`INSERT INTO passwords (`+passwordColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, p.Name, p.Person,
		string(p.Scope), p.Hash[:], p.Fever[:], seconds(&p.Created), seconds(&p.Used), p.Epoch)
	return nil
}

// UsePassword implements reading.Passwords.
func (s *Store) UsePassword(name string, at time.Time) {
	s.write(`UPDATE passwords SET used = ? WHERE name = ?`, at.Unix(), name)
}

// EndSessions implements reading.Passwords.
func (s *Store) EndSessions(name string) {
	s.write(`UPDATE passwords SET epoch = epoch + 1 WHERE name = ?`, name)
}

// DropPassword implements reading.Passwords.
func (s *Store) DropPassword(name string) bool {
	return s.write(`DELETE FROM passwords WHERE name = ?`, name) > 0
}

// Passwords implements reading.PasswordList.
func (r *Reader) Passwords(ctx context.Context) ([]reading.Password, error) {
	return all(ctx, r, by(passwordFields), `SELECT `+passwordColumns+` FROM passwords ORDER BY name`)
}

// Password implements reading.PasswordList.
func (r *Reader) Password(ctx context.Context, h reading.Hash, fever bool) (reading.Password, error) {
	column := `hash`
	if fever {
		column = `fever`
	}
	return first(ctx, r, by(passwordFields), `SELECT `+passwordColumns+` FROM passwords WHERE `+column+` = ?`, h[:])
}

const passwordColumns = `name, person, scope, hash, fever, created, used, epoch`

// passwordFields are where passwordColumns go.
func passwordFields(p *reading.Password) []any {
	return []any{&p.Name, &p.Person, &p.Scope, bytesOf(p.Hash[:]), bytesOf(p.Fever[:]), seconds(&p.Created),
		seconds(&p.Used), &p.Epoch}
}
