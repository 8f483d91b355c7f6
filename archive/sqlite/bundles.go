package sqlite

import (
	"database/sql"
	"slices"

	"feedex/archive"
	"feedex/protocol"
)

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
	if oldest := s.nextDID - archive.KeptDIDs; oldest > 1 && s.inTx {
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
