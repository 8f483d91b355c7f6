package sqlite

import (
	"slices"

	"feedex/archive"
	"feedex/protocol"
)

// LoadPeers implements archive.Peers.
func (s *Store) LoadPeers() []protocol.FormerNeighbor {
	peers := load(&s.writer, by(func(p *protocol.FormerNeighbor) []any {
		return []any{spelled{&p.ID}, millis(&p.FirstMet), millis(&p.LastMet), &p.Together, &p.Failures}
	}), `SELECT id, first_met, last_met, together, failures FROM peers`)
	slices.SortFunc(peers, func(a, b protocol.FormerNeighbor) int { return a.ID.Compare(b.ID) })
	return peers
}

// KeepPeer implements archive.Peers.
func (s *Store) KeepPeer(p protocol.FormerNeighbor) {
	s.write(`INSERT OR REPLACE INTO peers VALUES (?, ?, ?, ?, ?)`,
		p.ID.String(), millis(&p.FirstMet), millis(&p.LastMet), int64(p.Together), p.Failures)
}

// DropPeer implements archive.Peers.
func (s *Store) DropPeer(id protocol.NodeID) {
	s.write(`DELETE FROM peers WHERE id = ?`, id.String())
}

// LoadAccounts implements archive.Accounts.
func (s *Store) LoadAccounts() []archive.KeptAccount {
	return load(&s.writer, by(func(a *archive.KeptAccount) []any { return []any{&a.Holder, &a.Text} }),
		`SELECT holder, text FROM accounts ORDER BY holder`)
}

// KeepAccount implements archive.Accounts.
func (s *Store) KeepAccount(a archive.KeptAccount) {
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
func (s *Store) LatestDIDs(n int) []protocol.DID {
	dids := load(&s.writer, by(func(d *protocol.DID) []any { return []any{bytesOf(d[:])} }),
		`SELECT did FROM dids ORDER BY n DESC LIMIT ?`, max(0, n))
	slices.Reverse(dids)
	return dids
}
