package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	// maxOverLimit is how many entries OverLimit returns at one time.
	maxOverLimit = 20_000
	// How much room an entry takes shows only once it is gone: its words in the index may take more than its texts, or
	// hardly any. So the room that is to be gained is divided by overLimitShare, for the first entries to go that have
	// so many bytes, or that are fewestOldest, and then one looks again.
	overLimitShare, fewestOldest = 4, 16
)

// Entries that neighbors brought and no own poll has shown go before any that one has shown, and of the former those
// that nobody has confirmed: a neighbor that brings much must not push out what is true. Else there would be two ways
// to have an entry dropped: to bring enough others, and to be the only one that brings it. So what own polls have shown
// and what they have not are held to limits apart from each other, see archive.Retention.

// A part is some of the entries e, as conditions on what their indices hold.
type part struct {
	index, where string
	args         []any
}

var everything = part{index: `entries_by_seq`, where: `1`}

func ofFeed(id int64) part {
	return part{index: `entries_by_feed`, where: `e.feed = ?`, args: []any{id}}
}

// from is the FROM clause of the part, with one condition more.
func (p part) from(and string, args ...any) (string, []any) {
	return ` FROM entries e INDEXED BY ` + p.index + ` WHERE ` + p.where + ` AND ` + and,
		append(p.args[:len(p.args):len(p.args)], args...)
}

// unshown are the entries of the part that are unshown, and shown the rest of them.
func (p part) unshown() part {
	return part{index: `entries_unshown`, where: p.where + ` AND ` + isUnshown, args: p.args}
}

func (p part) shown() part {
	p.where += ` AND e.seq NOT IN (SELECT seq FROM entries INDEXED BY entries_unshown WHERE source <> '' AND polled ` +
		`IS NULL)`
	return p
}

// expendable is a condition on entries e: they may be purged. Of a feed that is followed the latest entry that an own
// poll has shown stays or, where none has, the latest.
const expendable = `NOT ` + isWanted + ` AND NOT ` + isKept + ` AND e.seq NOT IN (SELECT coalesce(
		(SELECT e.seq FROM entries e INDEXED BY entries_by_feed WHERE e.feed = f.id AND NOT ` + isUnshown +
	` ORDER BY e.seq DESC LIMIT 1),
		(SELECT max(seq) FROM entries INDEXED BY entries_by_feed WHERE feed = f.id), 0)
	FROM feeds f WHERE f.subscribed)`

// hearsay is a condition on what is unshown: it is of a feed that the owner never followed, or one neighbor's word. Of
// a feed that is followed discreetly, what others know as it is goes as if the feed were not followed.
const hearsay = `e.seq > 0 AND (NOT e.confirmed OR e.feed IN (SELECT id FROM feeds WHERE NOT subscribed AND since IS ` +
	`NULL) OR ` + isSettled + `)`

// ownersHearsay is a condition on what own polls have shown to the owner alone: to others it is hearsay.
const ownersHearsay = isOwnersPolled + ` AND e.source <> '' AND e.seq > 0 AND ` + isSettled

// polledForOthers are conditions on what own polls have shown of feeds that are polled for neighbors, or were, and
// that the owner never followed: it is kept as what they relay.
const polledForOthers = `e.feed IN (SELECT id FROM feeds WHERE NOT subscribed AND since IS NULL ` +
	`AND tried IS NOT NULL) AND e.seq > 0 AND NOT ` + isUnshown

// hearsayBytes is the size that such an entry counts as: its text and, since there may be none, what it takes at least;
// and the URL of a feed that would else be nowhere.
const hearsayBytes = `e.size + 512 + (SELECT iif(kept AND NOT discreet, 0, 2 * octet_length(url)) FROM feeds ` +
	`WHERE id = e.feed)`

// OverLimit implements archive.OverLimits. It reads what it needs to tell,
// up to half a million entries in a second.
func (r *Reader) OverLimit(ctx context.Context, now time.Time, keep archive.Retention) (ids []feed.EntryID, err error) {
	ids, err = r.overLimit(ctx, now, keep)
	return ids, r.failed(ctx, "read", err)
}

func (r *Reader) overLimit(ctx context.Context, now time.Time, keep archive.Retention) (ids []feed.EntryID, err error) {
	used, err := r.used(ctx)
	if err != nil {
		return nil, err
	}
	if keep.Short > 0 || keep.Relayed > 0 && 2*used > keep.Relayed {
		ids, err = r.hearsay(ctx, keep)
	}
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	bounded, err := r.limitedFeeds(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range bounded {
		more, err := r.beyond(ctx, now, ofFeed(f.id), f.Limits)
		if ids = append(ids, more...); err != nil || len(ids) >= maxOverLimit {
			return ids, err
		}
	}
	if len(ids) > 0 {
		return ids, nil // without them there may be room for others
	}
	all := keep.All
	all.Bytes = 0 // are bytes on the disk
	if ids, err = r.beyond(ctx, now, everything, all); err != nil || len(ids) > 0 || keep.All.Bytes == 0 {
		return ids, err
	}
	return r.heaviest(ctx, used, keep.All.Bytes)
}

// Untidy implements archive.OverLimits.
func (r *Reader) Untidy(ctx context.Context, keep archive.Retention) (bool, error) {
	used, err := r.used(ctx)
	var dead int64
	if err == nil {
		dead, err = r.dead(ctx)
	}
	if err != nil {
		return false, r.failed(ctx, "read", err)
	}
	return dead > 0 && (keep.Short > 0 || keep.All.Bytes > 0 && used > keep.All.Bytes), nil
}

// dead is how much room the words of purged entries take in the index, at most.
func (r *Reader) dead(ctx context.Context) (bytes int64, err error) {
	return one(ctx, r.db, single[int64], `SELECT dead FROM state`)
}

// hearsay are the entries beyond what is to be kept of hearsay and of what is polled for others, and those that go
// because the disk is short of room. An entry that is the same to the owner and to others goes as theirs, and is the
// owner's to lose only if it is hearsay to both.
func (r *Reader) hearsay(ctx context.Context, keep archive.Retention) (ids []feed.EntryID, err error) {
	unshown, args := everything.unshown().from(hearsay)
	owners, _ := part{index: `entries_owners`, where: ownersHearsay}.from(`1`)
	polled, _ := part{index: `entries_by_feed`, where: polledForOthers}.from(`1`)
	excess := keep.Short / overLimitShare
	if keep.Relayed > 0 {
		bytes, err := one(ctx, r.db, single[int64], `SELECT coalesce(sum(n), 0) FROM (SELECT `+hearsayBytes+` AS n`+
			unshown+` UNION ALL SELECT `+hearsayBytes+owners+` UNION ALL SELECT `+hearsayBytes+polled+`)`, args...)
		if err != nil {
			return nil, err
		}
		excess = max(excess, bytes-keep.Relayed)
	}
	if excess <= 0 {
		return nil, nil
	}
	type entry struct {
		id            feed.EntryID
		size          int64
		settled, both bool
	}
	for e, err := range found(ctx, r.db, by(func(e *entry) []any {
		return []any{bytesOf(e.id[:]), &e.size, &e.settled, &e.both, new(bool), new(int64)}
	}), `SELECT e.id, `+hearsayBytes+`, `+isSettled+`, NOT e.confirmed AND `+expendable+`, e.confirmed, e.seq`+unshown+
		` AND (`+isSettled+` OR `+expendable+`)
		UNION ALL SELECT e.id, `+hearsayBytes+`, 1, 0, e.confirmed, e.seq`+owners+`
		UNION ALL SELECT e.id, `+hearsayBytes+`, 0, 0, 1, e.seq`+polled+` AND `+expendable+` ORDER BY 5, 6 LIMIT ?`,
		append(args, maxOverLimit)...) {
		if err != nil {
			return nil, err
		}
		if e.settled {
			ids = append(ids, turned(e.id))
		}
		if !e.settled || e.both {
			ids = append(ids, e.id)
		}
		if excess -= e.size; excess <= 0 {
			break
		}
	}
	return ids, nil
}

// heaviest are the first entries to go for a limit on the disk of which so much is used.
func (r *Reader) heaviest(ctx context.Context, used, bound int64) (ids []feed.EntryID, err error) {
	from, args := everything.unshown().from(`1`)
	room, err := one(ctx, r.db, single[int64], `SELECT coalesce(sum(`+roomOf+`), 0)`+from, args...)
	if err != nil {
		return nil, err
	}
	dead, err := r.dead(ctx)
	if err != nil {
		return nil, err
	}
	share := bound / archive.UnshownShare
	if excess := min(used-bound, room-share); excess > 0 {
		ids, err = r.light(ctx, from, `e.confirmed, e.seq`, args, excess)
	}
	if excess := used - room - dead - (bound - share); err == nil && len(ids) == 0 && excess > 0 {
		from, args := everything.from(`NOT ` + isUnshown)
		ids, err = r.light(ctx, from, `e.seq`, args, excess)
	}
	return ids, err
}

// light are the first entries to go for so many bytes on the disk.
func (r *Reader) light(ctx context.Context, from, order string, args []any,
	bytes int64) (ids []feed.EntryID, err error) {
	return r.first(ctx, `e.size`, from+` AND `+expendable+` ORDER BY `+order, args, func(count, size int64) bool {
		return size < bytes/overLimitShare || count < fewestOldest
	})
}

// used is how many bytes of the file hold something.
func (r *Reader) used(ctx context.Context) (bytes int64, err error) {
	return one(ctx, r.db, single[int64], `SELECT ((SELECT page_count FROM pragma_page_count) -
		(SELECT freelist_count FROM pragma_freelist_count)) * (SELECT page_size FROM pragma_page_size)`)
}

// beyond are entries of a part that are beyond limits. Entries that are too old go first: of the rest there may be few
// enough.
func (r *Reader) beyond(ctx context.Context, now time.Time, p part, b archive.Limits) (ids []feed.EntryID, err error) {
	if b.Age > 0 {
		latest := now.Add(-b.Age).Unix()
		if ids, err = r.victims(ctx, p, `e.seq < 0 AND e.time < ?`, latest); err != nil || len(ids) > 0 {
			return ids, err
		}
		cut, err := r.cutAge(ctx, p, latest, now.Unix())
		if err != nil {
			return nil, err
		}
		if ids, err = r.victims(ctx, p, `e.seq > 0 AND e.seq <= ?`, cut); err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	if b.Count == 0 && b.Bytes == 0 {
		return nil, nil
	}
	unshown, err := r.count(ctx, p.unshown())
	if err != nil {
		return nil, err
	}
	shown := p
	if unshown.count > 0 {
		shown = p.shown()
	}
	cut := int64(math.MinInt64) // all up to this seq go
	if b.Count > 0 {
		if cut, err = r.cutCount(ctx, shown, b.Count); err != nil {
			return nil, err
		}
	}
	if b.Bytes > 0 {
		if cut, err = r.cutBytes(ctx, shown, b.Bytes, cut); err != nil {
			return nil, err
		}
	}
	if cut > math.MinInt64 {
		if ids, err = r.victims(ctx, shown, `e.seq <= ?`, cut); err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	if unshown.count == 0 {
		return nil, nil
	}
	return r.beside(ctx, p, b, unshown)
}

// beside are the entries beyond limits among the unshown ones of a part, whose sums are given.
func (r *Reader) beside(ctx context.Context, p part, b archive.Limits, unshown sums) (ids []feed.EntryID, err error) {
	var excess sums
	if b.Count > 0 {
		all, err := r.entries(ctx, p)
		if err != nil {
			return nil, err
		}
		excess.count = unshown.count - max((b.Count+archive.UnshownShare-1)/archive.UnshownShare,
			b.Count-(all-unshown.count))
	}
	if b.Bytes > 0 {
		all, err := r.count(ctx, p)
		if err != nil {
			return nil, err
		}
		excess.bytes = unshown.bytes - max(b.Bytes/archive.UnshownShare, b.Bytes-(all.bytes-unshown.bytes))
	}
	if excess.count <= 0 && excess.bytes <= 0 {
		return nil, nil
	}
	from, args := p.unshown().from(expendable + ` ORDER BY e.confirmed, e.seq`)
	return r.first(ctx, `e.size`, from, args, func(count, bytes int64) bool {
		return count < excess.count ||
			bytes < excess.bytes
	})
}

// sums are how many entries there are, and how many bytes of text they have.
type sums struct{ count, bytes int64 }

func (r *Reader) count(ctx context.Context, p part) (s sums, err error) {
	from, args := p.from(`1`)
	err = scan(r.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(e.size), 0)`+from, args...), &s.count, &s.bytes)
	return s, err
}

func (r *Reader) entries(ctx context.Context, p part) (count int64, err error) {
	from, args := p.from(`1`)
	return one(ctx, r.db, single[int64], `SELECT count(*)`+from, args...)
}

// cutCount is the highest seq that is not among the latest n entries, the lowest number where all are.
func (r *Reader) cutCount(ctx context.Context, p part, n int64) (int64, error) {
	from, args := p.from(`e.seq <> 0 ORDER BY e.seq DESC LIMIT 1 OFFSET ?`, n)
	return orNone(math.MinInt64, r.db.QueryRowContext(ctx, `SELECT e.seq`+from, args...))
}

// cutBytes is the highest seq that does not fit into so many bytes with the entries after it, or cut where that is
// higher.
func (r *Reader) cutBytes(ctx context.Context, p part, bytes, cut int64) (int64, error) {
	for before := int64(math.MaxInt64); ; {
		next, err := r.fit(ctx, p, before, cut, &bytes)
		if err != nil || next == before {
			return cut, err
		}
		if bytes < 0 {
			return next, nil
		}
		before = next
	}
}

// fit takes the sizes of the latest entries before a seq and above cut from bytes, up to the one that does not fit, and
// returns the seq of the last; before if there is none.
func (r *Reader) fit(ctx context.Context, p part, before, cut int64, bytes *int64) (last int64, err error) {
	from, args := p.from(`e.seq < ? AND e.seq > ? ORDER BY e.seq DESC LIMIT ?`, before, cut, contentsPage)
	last = before
	read := func(row rowScanner) (size int64, err error) {
		err = scan(row, &last, &size)
		return size, err
	}
	for size, err := range found(ctx, r.db, read, `SELECT e.seq, e.size`+from, args...) {
		if err != nil {
			return 0, err
		}
		if *bytes -= size; *bytes < 0 {
			break
		}
	}
	return last, nil
}

// cutAge is the latest seq of what arrived before a time, ahead of all that arrived since. What arrived later than now
// did so by a clock that was ahead, and tells nothing.
func (r *Reader) cutAge(ctx context.Context, p part, before, now int64) (int64, error) {
	from, args := p.from(`e.seq > 0 AND e.seen BETWEEN ? AND ? ORDER BY e.seq LIMIT 1`, before, now)
	since, err := orNone(math.MaxInt64, r.db.QueryRowContext(ctx, `SELECT e.seq`+from, args...))
	if err != nil {
		return 0, err
	}
	from, args = p.from(`e.seq > 0 AND e.seq < ? AND e.seen < ? ORDER BY e.seq DESC LIMIT 1`, since, before)
	return orNone(0, r.db.QueryRowContext(ctx, `SELECT e.seq`+from, args...))
}

// orNone is the number in a row, or none where there is no row.
func orNone(none int64, row rowScanner) (n int64, err error) {
	if err = scan(row, &n); errors.Is(err, sql.ErrNoRows) {
		return none, nil
	}
	return n, err
}

// victims are the entries of a part that fulfil a condition and may be purged.
func (r *Reader) victims(ctx context.Context, p part, where string, arg any) (ids []feed.EntryID, err error) {
	from, args := p.from(where+` AND `+expendable+` ORDER BY e.seq`, arg)
	return r.first(ctx, `0`, from, args, func(_, _ int64) bool { return true })
}

// first are the entries that a FROM clause gives, up to the one of which more says that it is enough: it is told how
// many there are, and how much they take together.
func (r *Reader) first(ctx context.Context, takes, from string, args []any,
	more func(count, sum int64) bool) (ids []feed.EntryID, err error) {
	var size, sum int64
	read := func(row rowScanner) (id feed.EntryID, err error) {
		err = scan(row, bytesOf(id[:]), &size)
		return id, err
	}
	for id, err := range found(ctx, r.db, read, `SELECT e.id, `+takes+from+` LIMIT ?`,
		append(args[:len(args):len(args)], maxOverLimit)...) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if sum += size; !more(int64(len(ids)), sum) {
			break
		}
	}
	return ids, nil
}
