package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// channels finds feeds with their version. Seqs are not used twice.
const channels = `
	SELECT id, url, title, link, about, language, icon, subscribed, since, kept, max(coalesce(` + latest + `, 0), 0), replaced,
		max(coalesce((SELECT seen FROM entries WHERE seq = ` + latest + `), 0), coalesce(replaced_at, 0))
	FROM feeds f WHERE `

// latest is the seq of the latest arrival in feed f.
const latest = `(SELECT max(seq) FROM entries INDEXED BY entries_by_feed WHERE feed = f.id)`

// Channel implements archive.Channels.
func (r *Reader) Channel(ctx context.Context, u feed.URL) (archive.Channel, error) {
	// who asks for an address that others know learns of none that lets its bearer in
	return r.channel(ctx, `f.id = (`+feedByURL+`) AND (f.url = ?1 OR NOT f.secret)`, string(u))
}

// ChannelNumber implements archive.Channels.
func (r *Reader) ChannelNumber(ctx context.Context, number int64) (archive.Channel, error) {
	return r.channel(ctx, `NOT f.apart AND f.id = ?`, number)
}

func (r *Reader) channel(ctx context.Context, where string, arg any) (c archive.Channel, err error) {
	var kept bool
	var at int64
	stmt, err := r.prepare(ctx, channels+where)
	if err == nil {
		err = scan(stmt.QueryRowContext(ctx, arg), &c.Number, &c.URL, &c.Title, &c.Link, &c.About, &c.Language,
			&c.Icon, &c.Followed, millis(&c.Since), &kept, &c.Version.Arrived, &c.Version.Changed, &at)
	}
	empty := c.Version.Empty()
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !kept && empty:
		return archive.Channel{}, nil
	case err != nil:
		return archive.Channel{}, r.failed(ctx, "read", err)
	case !empty:
		c.Version.At = time.Unix(at, 0).UTC()
	}
	return c, nil
}

// Newest implements archive.Channels.
func (r *Reader) Newest(ctx context.Context, number int64, limit int) ([]int64, error) {
	return all(ctx, r, single[int64], `SELECT seq FROM entries INDEXED BY entries_by_feed
		WHERE feed = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`, number, limit)
}

// Changed implements archive.Channels.
func (r *Reader) Changed(ctx context.Context, number int64, since archive.FeedVersion, last int64,
	limit int) ([]int64, error) {
	return all(ctx, r, single[int64], `SELECT seq FROM entries INDEXED BY entries_by_change
		WHERE feed = ? AND changed > ? AND seq <= ? ORDER BY changed DESC LIMIT ?`, number, since.Changed, last, limit)
}

// NewestOfAll implements archive.Channels.
func (r *Reader) NewestOfAll(ctx context.Context, secret bool, after int64, limit int) ([]int64, error) {
	return all(ctx, r, single[int64], `SELECT seq FROM entries INDEXED BY entries_by_seq
		WHERE seq > max(?, 0) AND `+ofFollowed+` ORDER BY seq DESC LIMIT ?`, after, secret, limit)
}

// ofFollowed is a condition on entries: the node follows their feed, and its URL is no secret or may be one.
const ofFollowed = `feed IN (SELECT id FROM feeds WHERE subscribed AND (? OR NOT secret))`

// Following implements archive.Channels.
func (r *Reader) Following(ctx context.Context, secret bool) (f archive.Following, err error) {
	f.Titles = make(map[feed.URL]string)
	type followed struct {
		url                  feed.URL
		title                string
		replaced, replacedAt int64
	}
	feeds, err := list(ctx, r.db, by(func(x *followed) []any {
		return []any{&x.url, &x.title, &x.replaced, &x.replacedAt}
	}), `SELECT url, title, replaced, coalesce(replaced_at, 0)
		FROM feeds WHERE subscribed AND (? OR NOT secret) ORDER BY url`, secret)
	hash := sha256.New()
	var at, seen int64
	for _, x := range feeds {
		f.Titles[x.url] = x.title
		f.Version.Changed += x.replaced
		at = max(at, x.replacedAt)
		hash.Write(feed.AppendField(feed.AppendField(nil, string(x.url)), x.title))
	}
	if err == nil {
		err = scan(r.db.QueryRowContext(ctx, `SELECT seq, seen FROM entries INDEXED BY entries_by_seq
			WHERE seq > 0 AND `+ofFollowed+` ORDER BY seq DESC LIMIT 1`, secret), &f.Version.Arrived, &seen)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	}
	if err != nil {
		return archive.Following{}, r.failed(ctx, "read", err)
	}
	if at = max(at, seen); at > 0 {
		f.Version.At = time.Unix(at, 0).UTC()
	}
	f.Digest = hex.EncodeToString(hash.Sum(nil)[:16])
	return f, nil
}

// pageEntries and pageBytes bound what Records reads at one time.
const (
	pageEntries = 64
	pageBytes   = 1 << 20
)

// Records implements archive.Channels.
func (r *Reader) Records(ctx context.Context, seqs []int64) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for rest := seqs; len(rest) > 0; {
			page, done, err := r.some(ctx, rest[:min(pageEntries, len(rest))])
			if err != nil {
				yield(archive.Record{}, r.failed(ctx, "read", err))
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
			rest = rest[done:]
		}
	}
}

// some reads the first entries of these seqs, and says how many of the seqs that were.
func (r *Reader) some(ctx context.Context, seqs []int64) (page []archive.Record, done int, err error) {
	var key, size int
	read := func(row rowScanner) (archive.Record, error) { return scanRecord(row, &key) }
	for record, err := range found(ctx, r.db, read, `SELECT `+recordColumns+`, j.key
		FROM json_each(?) j CROSS JOIN entries e ON e.seq = j.value JOIN feeds f ON f.id = e.feed`, jsonNumbers(seqs)) {
		if err != nil {
			return nil, 0, err
		}
		page = append(page, record)
		if size += len(record.Entry.Summary) + len(record.Entry.Content); size >= pageBytes {
			return page, key + 1, nil
		}
	}
	return page, len(seqs), nil
}

// A tail is the last block of a feed.
type tail struct{ n, high, low, size int64 }

// paginate puts entries that were just stored, in this order, on the last blocks of their feeds, or on new ones.
func (s *Store) paginate(stored []storedPlace) {
	slices.SortStableFunc(stored, func(a, b storedPlace) int { return cmp.Compare(a.feed, b.feed) })
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
func (r *Reader) span(ctx context.Context, where string, args ...any) (span, error) {
	return one(ctx, r.db, by(func(x *span) []any { return []any{&x.n, &x.size, &x.high, &x.low, &x.after, &x.before} }),
		spans+where, args...)
}

// ref names the part of the block so far that never becomes more.
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
	return ref, r.failed(ctx, "read", err)
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
	return page, r.failed(ctx, "read", err)
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
	const query = `SELECT e.seq, e.digest, max(e.seen, CASE WHEN e.updated <= unixepoch() THEN e.updated ELSE 0 END), ` + isConfirmed + `,
			coalesce((SELECT x.at FROM items i CROSS JOIN full_texts x ON x.item = i.id WHERE i.seq = e.seq AND x.shown), 0)
		FROM entries e WHERE e.feed = ?1 AND (e.seq > ?2 AND e.seq <= ?3 OR e.seq >= ?4 AND e.seq < ?5) ORDER BY e.seq DESC`
	type listed struct {
		seq, at, confirmed, full int64
		digest                   []byte
	}
	entries, err := list(ctx, r.db, by(func(e *listed) []any {
		return []any{&e.seq, &e.digest, &e.at, &e.confirmed, &e.full}
	}), query, feed, x.after, x.high, x.low, x.before)
	hash := sha256.New()
	var updated int64
	for _, e := range entries {
		page.Seqs, updated = append(page.Seqs, e.seq), max(updated, e.at)
		hash.Write(append(e.digest, byte(e.confirmed)))
		if e.full != 0 {
			hash.Write(binary.BigEndian.AppendUint64(nil, uint64(e.full)))
		}
	}
	page.Updated, page.Digest = time.Unix(updated, 0).UTC(), hex.EncodeToString(hash.Sum(nil)[:16])
	return err
}
