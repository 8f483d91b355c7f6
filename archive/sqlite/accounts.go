package sqlite

import (
	"database/sql"

	"feedex/archive"
)

// LoadAccounts implements archive.Accounts.
func (s *Store) LoadAccounts() (accounts []archive.Account) {
	s.rows(`SELECT holder, text FROM accounts ORDER BY holder`, nil, func(rows *sql.Rows) error {
		var a archive.Account
		if err := scan(rows, &a.Holder, &a.Text); err != nil {
			return err
		}
		accounts = append(accounts, a)
		return nil
	})
	if s.err != nil {
		return nil
	}
	return accounts
}

// KeepAccount implements archive.Accounts.
func (s *Store) KeepAccount(a archive.Account) {
	// For the driver a nil slice is NULL.
	s.write(`INSERT OR REPLACE INTO accounts VALUES (?, coalesce(?, x''))`, a.Holder, a.Text)
}

// DropAccount implements archive.Accounts.
func (s *Store) DropAccount(holder string) {
	s.write(`DELETE FROM accounts WHERE holder = ?`, holder)
}
