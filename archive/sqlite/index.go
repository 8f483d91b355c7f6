package sqlite

import (
	"database/sql"
	"errors"
	"math"

	"feedex/archive"
)

// errBusy is for a call between a write and its Commit.
var errBusy = errors.New("a transaction is open: commit it first")

// Index brings at most max entries that were kept or replaced since they were last indexed into the
// full-text index, in a transaction of its own, and returns how many remain. It is for a process that has the archive
// alone, as a node has not: that has a Housekeeper.
func (s *Store) Index(max int) (remaining int, err error) {
	if s.inTx {
		return 0, wrap("index", s.path, errBusy)
	}
	s.begin()
	s.index(max, math.MaxInt)
	s.row(`SELECT (SELECT count(*) FROM stale) + (SELECT max(coalesce(max(seq), 0), indexed) FROM entries) - indexed `+
		`FROM state`, nil, &remaining)
	return remaining, s.Commit()
}

// index brings some entries into the index, until they are so many, or their texts so long.
func (w *writer) index(entries, bytes int) {
	for _, seq := range w.seqs(`SELECT seq FROM stale ORDER BY seq LIMIT ?`, entries) {
		if entries--; bytes <= 0 {
			return
		}
		bytes -= w.indexEntry(seq)
		w.write(`DELETE FROM stale WHERE seq = ?`, seq)
	}
	last := int64(0)
	for _, seq := range w.seqs(`SELECT seq FROM entries INDEXED BY entries_by_seq
		WHERE seq > (SELECT indexed FROM state) ORDER BY seq LIMIT ?`, entries) {
		if bytes <= 0 {
			break
		}
		bytes -= w.indexEntry(seq)
		last = seq
	}
	if last > 0 {
		w.write(`UPDATE state SET indexed = ?`, last)
	}
}

// indexEntry brings the words of one entry into the index, in place of what was there, and returns how long they are.
func (w *writer) indexEntry(seq int64) (bytes int) {
	var r archive.Record
	var number string
	w.rows(`SELECT `+recordColumns+`, e.feed FROM entries e JOIN feeds f ON f.id = e.feed WHERE e.seq = ?`, []any{seq},
		func(rows *sql.Rows) (err error) {
			r, err = scanRecord(rows, &number)
			return err
		})
	if w.err != nil {
		return 0
	}
	title, rest := archive.Fold(&r.Entry)
	w.write(`INSERT OR REPLACE INTO words (rowid, feed, title, rest) VALUES (?, ?, ?, ?)`, seq, number, title, rest)
	return len(title) + len(rest)
}

// seqs reads a list of seqs.
func (w *writer) seqs(query string, args ...any) (seqs []int64) {
	w.rows(query, args, func(rows *sql.Rows) error {
		var seq int64
		err := scan(rows, &seq)
		seqs = append(seqs, seq)
		return err
	})
	return seqs
}
