package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"feedex/archive"
)

// A tail is the last block of a feed.
type tail struct{ n, high, low, size int64 }

// paginate puts entries that were just stored, in this order, on the last blocks of their feeds, or on new ones.
func (s *Store) paginate(stored []place) {
	slices.SortStableFunc(stored, func(a, b place) int { return cmp.Compare(a.feed, b.feed) })
	for len(stored) > 0 && s.err == nil {
		id := stored[0].feed
		last := s.tail(id)
		for len(stored) > 0 && stored[0].feed == id {
			if last.n == 0 || last.size >= archive.FullBlock {
				s.keepTail(id, last)
				last.n, last.size = last.n+1, 0
			}
			seq := stored[0].seq
			last.high, last.low, last.size = max(last.high, seq), min(last.low, seq), last.size+1
			stored = stored[1:]
		}
		s.keepTail(id, last)
	}
}

// tail is the last block of a feed, the zero tail where it has none.
func (s *Store) tail(feed int64) (t tail) {
	s.row(`SELECT n, high, low, size FROM pages WHERE feed = ? ORDER BY n DESC LIMIT 1`, []any{feed}, &t.n, &t.high,
		&t.low, &t.size)
	return t
}

func (s *Store) keepTail(feed int64, t tail) {
	if t.n > 0 {
		s.write(`INSERT INTO pages (feed, n, high, low, size) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (feed, n) DO UPDATE SET high = excluded.high, low = excluded.low, size = excluded.size`, feed,
			t.n, t.high, t.low, t.size)
	}
}

// span is a block with where the one before ended. Its entries are those above after up to high, and those
// below before down to low.
type span struct{ n, size, high, low, after, before int64 }

// spans finds blocks p of a feed ?1; q are those before them.
const spans = `SELECT p.n, p.size, p.high, p.low, coalesce(q.high, 0), coalesce(q.low, 0)
	FROM pages p LEFT JOIN pages q ON q.feed = p.feed AND q.n = p.n - 1 WHERE p.feed = ?1 AND `

// inhabited is a condition on these: an entry is still there, of those that an archive.BlockRef names.
const inhabited = ` AND (
	p.size >= 100 AND EXISTS (SELECT 1 FROM entries WHERE feed = ?1 AND seq > coalesce(q.high, 0) AND seq <= p.high) OR
	EXISTS (SELECT 1 FROM entries WHERE feed = ?1 AND seq >= p.low AND seq < coalesce(q.low, 0)))`

// span is the first block that is found, the zero span if there is none.
func (r *Reader) span(ctx context.Context, where string, args ...any) (x span, err error) {
	err = scan(r.db.QueryRowContext(ctx, spans+where, args...), &x.n, &x.size, &x.high, &x.low, &x.after, &x.before)
	if errors.Is(err, sql.ErrNoRows) {
		return span{}, nil
	}
	return x, err
}

// ref is what there is of the block so far that never becomes more.
func (x span) ref() archive.BlockRef {
	switch {
	case x.size >= archive.FullBlock:
		return archive.BlockRef{Block: x.n}
	case x.low < x.before:
		return archive.BlockRef{Block: x.n, Filled: -x.low}
	}
	return archive.BlockRef{}
}

// LastBlock implements archive.Channels.
func (r *Reader) LastBlock(ctx context.Context, feed int64) (archive.BlockRef, error) {
	x, err := r.span(ctx, `p.n = (SELECT max(n) FROM pages WHERE feed = ?1)`+inhabited, feed)
	if ref := x.ref(); err == nil && ref.Block > 0 {
		return ref, nil
	}
	var ref archive.BlockRef
	if err == nil {
		ref, err = r.fullBefore(ctx, feed, x.n)
	}
	if err != nil {
		err = r.failed(ctx, "read", err)
	}
	return ref, err
}

// fullBefore is the latest full block before the n-th, or of all where n is 0, that has entries.
func (r *Reader) fullBefore(ctx context.Context, feed, n int64) (archive.BlockRef, error) {
	x, err := r.span(ctx, `(?2 = 0 OR p.n < ?2) AND p.size >= ?3`+inhabited+` ORDER BY p.n DESC LIMIT 1`, feed,
		n, archive.FullBlock)
	return archive.BlockRef{Block: x.n}, err
}

// Block implements archive.Channels.
func (r *Reader) Block(ctx context.Context, feed int64, ref archive.BlockRef) (archive.Block, error) {
	page, err := r.block(ctx, feed, ref)
	if err != nil {
		err = r.failed(ctx, "read", err)
	}
	return page, err
}

func (r *Reader) block(ctx context.Context, feed int64, ref archive.BlockRef) (page archive.Block, err error) {
	x, err := r.span(ctx, `p.n = ?2`, feed, ref.Block)
	if err != nil || x.n == 0 {
		return page, err
	}
	full := x.size >= archive.FullBlock
	switch {
	case ref.Filled == 0 && full:
	case ref.Filled > 0 && -ref.Filled >= x.low && -ref.Filled < x.before:
		x.high, x.low = x.after, -ref.Filled
	default:
		return page, nil
	}
	page.BlockRef = ref
	if page.Prev, err = r.fullBefore(ctx, feed, x.n); err != nil {
		return page, err
	}
	switch {
	case ref.Filled > 0 && full:
		page.Next = archive.BlockRef{Block: x.n}
	case full:
		next, err := r.span(ctx, `p.n > ?2`+inhabited+` ORDER BY p.n LIMIT 1`, feed, x.n)
		if err != nil {
			return page, err
		}
		page.Next = next.ref()
	}
	return page, r.readSpan(ctx, feed, x, &page)
}

// readSpan finds the entries of a block.
func (r *Reader) readSpan(ctx context.Context, feed int64, x span, page *archive.Block) error {
	const query = `SELECT e.seq, e.digest, max(e.seen, CASE WHEN e.updated <= unixepoch() THEN e.updated ELSE 0 END), ` + isConfirmed + `
		FROM entries e WHERE e.feed = ?1 AND (e.seq > ?2 AND e.seq <= ?3 OR e.seq >= ?4 AND e.seq < ?5) ORDER BY e.seq DESC`
	rows, err := r.db.QueryContext(ctx, query, feed, x.after, x.high, x.low, x.before)
	if err != nil {
		return err
	}
	hash := sha256.New()
	var updated int64
	err = each(rows, func(rows *sql.Rows) error {
		var seq, at int64
		var digest []byte
		var confirmed bool
		if err := scan(rows, &seq, &digest, &at, &confirmed); err != nil {
			return err
		}
		page.Seqs, updated = append(page.Seqs, seq), max(updated, at)
		hash.Write(digest)
		if confirmed {
			hash.Write([]byte{1})
		} else {
			hash.Write([]byte{0})
		}
		return nil
	})
	page.Updated, page.Digest = time.Unix(updated, 0).UTC(), hex.EncodeToString(hash.Sum(nil)[:16])
	return err
}
