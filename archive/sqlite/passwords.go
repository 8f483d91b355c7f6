package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	}
	s.write(`INSERT INTO passwords (name, hash, fever, created) VALUES (?, ?, ?, ?)`, p.Name, p.Hash[:], p.Fever[:],
		toSeconds(p.Created))
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
func (r *Reader) Passwords(ctx context.Context) (list []reading.Password, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT `+passwordColumns+` FROM passwords ORDER BY name`)
	if err == nil {
		err = each(rows, func(rows *sql.Rows) error {
			p, err := scanPassword(rows)
			list = append(list, p)
			return err
		})
	}
	return list, r.failed(ctx, "read", err)
}

// Password implements reading.PasswordList.
func (r *Reader) Password(ctx context.Context, h reading.Hash, fever bool) (reading.Password, error) {
	column := `hash`
	if fever {
		column = `fever`
	}
	p, err := scanPassword(r.db.QueryRowContext(ctx, `SELECT `+passwordColumns+` FROM passwords WHERE `+
		column+` = ?`, h[:]))
	if errors.Is(err, sql.ErrNoRows) {
		return reading.Password{}, nil
	}
	return p, r.failed(ctx, "read", err)
}

const passwordColumns = `name, hash, fever, created, used, epoch`

func scanPassword(row interface{ Scan(...any) error }) (p reading.Password, err error) {
	var hash, fever []byte
	var created int64
	var used sql.NullInt64
	if err := scan(row, &p.Name, &hash, &fever, &created, &used, &p.Epoch); err != nil {
		return p, err
	}
	if len(hash) != len(p.Hash) || len(fever) != len(p.Fever) {
		return p, fmt.Errorf("%w (a hash of %d bytes)", ErrDamaged, len(hash))
	}
	p.Hash, p.Fever, p.Created, p.Used = reading.Hash(hash), reading.Hash(fever), time.Unix(created, 0).UTC(),
		fromSeconds(used)
	return p, nil
}
