package sqlite

import (
	"database/sql"

	"feedex/archive"
)

// LoadHosts implements archive.Hosts.
func (s *Store) LoadHosts() (hosts []archive.Host) {
	s.rows(`SELECT name, gap, rest, until, spent, forbids FROM hosts ORDER BY name`, nil, func(rows *sql.Rows) error {
		var h archive.Host
		var until, spent sql.NullInt64
		if err := scan(rows, &h.Name, &h.Gap, &h.Rest, &until, &spent, &h.Forbids); err != nil {
			return err
		}
		h.Until, h.Spent = fromMillis(until), fromMillis(spent)
		hosts = append(hosts, h)
		return nil
	})
	if s.err != nil {
		return nil
	}
	return hosts
}

// KeepHost implements archive.Hosts.
func (s *Store) KeepHost(h archive.Host) {
	s.write(`INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?)`,
		h.Name, int64(h.Gap), int64(h.Rest), toMillis(h.Until), toMillis(h.Spent), h.Forbids)
}

// DropHost implements archive.Hosts.
func (s *Store) DropHost(name string) { s.write(`DELETE FROM hosts WHERE name = ?`, name) }
