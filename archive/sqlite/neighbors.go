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

// HasDID implements archive.Bundles.
func (s *Store) HasDID(did protocol.DID) bool {
	var n int64
	return s.row(`SELECT n FROM dids WHERE did = ?`, []any{did[:]}, &n)
}

// KeepDID implements archive.Bundles.
func (s *Store) KeepDID(did protocol.DID) {
	if s.nextDID == 0 {
		var last int64
		s.row(`SELECT coalesce(max(n), 0) FROM dids`, nil, &last)
		s.nextDID = last + 1
	}
	// Numbers without a gap let pruneDIDs count by subtracting.
	if s.write(`INSERT INTO dids VALUES (?, ?) ON CONFLICT (did) DO NOTHING`, s.nextDID, did[:]) > 0 {
		s.nextDID++
	}
}

// pruneDIDs drops the oldest dids in the transaction that added new ones, so that it never has much
// to do.
func (s *Store) pruneDIDs() {
	if oldest := s.nextDID - archive.KeptDIDs; oldest > 1 && s.tx != nil {
		s.write(`DELETE FROM dids WHERE n < ?`, oldest)
	}
}

// LatestDIDs implements archive.Bundles.
func (s *Store) LatestDIDs(n int) (dids []protocol.DID) {
	s.rows(`SELECT did FROM dids ORDER BY n DESC LIMIT ?`, []any{max(0, n)}, func(rows *sql.Rows) error {
		var blob []byte
		if err := scan(rows, &blob); err != nil {
			return err
		}
		did, err := fromBlob[protocol.DID](blob)
		dids = append(dids, did)
		return err
	})
	if s.err != nil {
		return nil
	}
	slices.Reverse(dids)
	return dids
}
