package sqlite

import (
	"database/sql"
	"fmt"
	"slices"

	"feedex/archive"
	"feedex/protocol"
)

// LoadPeers implements archive.Peers.
func (s *Store) LoadPeers() (peers []archive.Peer) {
	s.rows(`SELECT id, first_met, last_met, together, failures FROM peers`, nil, func(rows *sql.Rows) error {
		var p archive.Peer
		var id string
		var firstMet, lastMet sql.NullInt64
		if err := scan(rows, &id, &firstMet, &lastMet, &p.Together, &p.Failures); err != nil {
			return err
		}
		if err := p.ID.UnmarshalText([]byte(id)); err != nil {
			return fmt.Errorf("%w (peers: %w)", ErrDamaged, err)
		}
		p.FirstMet, p.LastMet = fromMillis(firstMet), fromMillis(lastMet)
		peers = append(peers, p)
		return nil
	})
	if s.err != nil {
		return nil
	}
	slices.SortFunc(peers, func(a, b archive.Peer) int { return a.ID.Compare(b.ID) })
	return peers
}

// KeepPeer implements archive.Peers.
func (s *Store) KeepPeer(p archive.Peer) {
	s.write(`INSERT OR REPLACE INTO peers VALUES (?, ?, ?, ?, ?)`,
		p.ID.String(), toMillis(p.FirstMet), toMillis(p.LastMet), int64(p.Together), p.Failures)
}

// DropPeer implements archive.Peers.
func (s *Store) DropPeer(id protocol.NodeID) {
	s.write(`DELETE FROM peers WHERE id = ?`, id.String())
}
