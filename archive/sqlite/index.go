package sqlite

import (
	"database/sql"
	"errors"
	"strconv"

	"feedex/archive"
)

// errBusy is for a call of Index between a write and its Commit.
var errBusy = errors.New("a transaction is open: commit it first")

// Index brings at most max entries that were kept or replaced since they were last indexed into the
// full-text index, in a transaction of its own, and returns how many remain. An entry takes about
// a tenth of a millisecond. It belongs to the loop, after a Commit, when there is time: searches find
// entries that are not indexed too, but the more of them there are the longer they take.
func (s *Store) Index(max int) (remaining int, err error) {
	if s.inTx {
		return 0, wrap("index", s.path, errBusy)
	}
	s.begin()
	remaining = s.index(max)
	return remaining, s.Commit()
}

func (s *Store) index(max int) (remaining int) {
	replaced := s.seqs(`SELECT seq FROM stale ORDER BY seq LIMIT ?`, max)
	for _, seq := range replaced {
		s.indexEntry(seq)
		s.write(`DELETE FROM stale WHERE seq = ?`, seq)
	}
	added := s.seqs(`SELECT seq FROM entries INDEXED BY entries_by_seq
		WHERE seq > (SELECT indexed FROM state) ORDER BY seq LIMIT ?`, max-len(replaced))
	for _, seq := range added {
		s.indexEntry(seq)
	}
	if len(added) > 0 {
		s.write(`UPDATE state SET indexed = ?`, added[len(added)-1])
	}
	s.row(`SELECT (SELECT count(*) FROM stale) + (SELECT max(coalesce(max(seq), 0), indexed) FROM entries) - indexed FROM state`, nil, &remaining)
	return remaining
}

// indexEntry brings the words of one entry into the index, in place of what was there.
func (s *Store) indexEntry(seq int64) {
	var r archive.Record
	s.rows(`SELECT `+recordColumns+` FROM entries e JOIN feeds f ON f.id = e.feed WHERE e.seq = ?`, []any{seq},
		func(rows *sql.Rows) (err error) {
			r, err = scanRecord(rows)
			return err
		})
	if s.err != nil {
		return
	}
	title, rest := archive.Fold(&r.Entry)
	s.write(`INSERT OR REPLACE INTO words (rowid, feed, title, rest) VALUES (?, ?, ?, ?)`,
		seq, strconv.FormatInt(s.feedID(r.Entry.Feed), 10), title, rest)
}

// seqs reads a list of seqs.
func (s *Store) seqs(query string, args ...any) (seqs []int64) {
	s.rows(query, args, func(rows *sql.Rows) error {
		var seq int64
		err := scan(rows, &seq)
		seqs = append(seqs, seq)
		return err
	})
	return seqs
}
