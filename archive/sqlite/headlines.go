package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Reads of an archive for pages that people see: short ones by an index each, so that none takes longer where there is
// more.

// itemColumns are a reading.ItemState, from items i and marks m that need not exist.
const itemColumns = `coalesce(i.id, 0), coalesce(m.read, 1), coalesce(m.starred, 0)`

// headlineColumns are the columns that a Headline is made of, from entries e, feeds f, items i and marks m. A text is
// cut at a thousand characters, titles and links, which an older archive has of any length, where nobody shows more.
const headlineColumns = `e.seq, e.id, f.id, f.url,
	substr(coalesce((SELECT name FROM titles WHERE feed = f.id AND person = @person), f.title), 1, 16385), ` + iconRef +
	`, substr(e.title, 1, 16385), substr(e.link, 1, 4097), e.time, e.seen, e.source, ` + isConfirmed + `,
	` + leadColumn + `, ` + itemColumns

// fewUnread is up to how many items that are not read, or have a label, are sorted by when they were published, and
// fewInFolder up to how many of a folder, which stand feed by feed, by their arrival. Where there are more, a walk in
// that order soon meets some; by arrival that passes what is not read, and nothing else.
const (
	fewUnread   = 5000
	fewInFolder = 500
)

// Headlines implements reading.Headlines.
func (r personalReader) Headlines(ctx context.Context, q reading.HeadlineQuery) ([]reading.Headline, error) {
	many := false
	if q.Unread && (q.ByTime || q.Folder != 0) {
		few := fewUnread
		if !q.ByTime {
			few = fewInFolder
		}
		n, err := r.countUnread(ctx, q.Feed, q.Folder, true)
		if err != nil {
			return nil, err
		}
		many = n >= few
	}
	if q.ByTime && (q.Label != 0 || q.Filter != 0) {
		n, err := first(ctx, r.Reader, single[int], `SELECT count(*) FROM (SELECT 1 FROM labelled WHERE label = ?
			UNION ALL SELECT 1 FROM caught WHERE filter = ? LIMIT ?)`, q.Label, q.Filter, fewUnread)
		if err != nil {
			return nil, err
		}
		many = n >= fewUnread
	}
	return r.listed(ctx, q, many)
}

// listed is Headlines where it is known whether there are many that are not read.
func (r personalReader) listed(ctx context.Context, q reading.HeadlineQuery, many bool) ([]reading.Headline, error) {
	q.Before = cmp.Or(q.Before, math.MaxInt64)
	if q.At.IsZero() {
		q.At = time.Unix(math.MaxInt64>>1, 0)
	}
	return all(ctx, r.Reader, by(headlineFields), headlineStatement(&q, many),
		sql.Named("person", r.person), sql.Named("feed", q.Feed),
		sql.Named("folder", q.Folder), sql.Named("label", q.Label), sql.Named("filter", q.Filter),
		sql.Named("before", q.Before),
		sql.Named("after", q.After), sql.Named("at", q.At.Unix()), sql.Named("secret", q.Secret),
		sql.Named("limit", q.Limit))
}

// headlineStatement finds the entries by the index that fits, and then reads what is shown of them. many says that
// there are many that are not read, or have the label or were caught.
func headlineStatement(q *reading.HeadlineQuery, many bool) string {
	const (
		isFollowed = `f.subscribed AND NOT EXISTS (SELECT 1 FROM left_out WHERE feed = f.id AND person = @person) AND `
		ofListed   = ` CROSS JOIN items i ON i.id = m.item CROSS JOIN entries e INDEXED BY entries_by_seq ON e.seq = i.seq
			JOIN feeds f ON f.id = i.feed WHERE ` + isFollowed
		ofMarks   = ofListed + `m.person = @person AND `
		withMarks = ` LEFT JOIN items i ON i.seq = e.seq LEFT JOIN marks m ON m.person = @person AND m.item = i.id`
		ofMany    = ` CROSS JOIN items i ON i.seq = e.seq CROSS JOIN marks m ON m.person = @person AND m.item = i.id
			WHERE ` + isFollowed + `NOT m.read`
		// What neighbors have relayed is theirs to choose, and nobody's here to read.
		wasFollowed = `(f.subscribed OR f.since IS NOT NULL)`
		ofLabel     = `m.label = (SELECT id FROM labels WHERE id = @label AND person = @person)`
	)
	named, which := `labelled`, ofLabel
	if q.Filter != 0 {
		named, which = `caught`,
			`m.filter = (SELECT id FROM filters WHERE id = @filter AND person = @person AND NOT gone)`
	}
	ofEntries := withMarks + ` WHERE `
	if q.Followed {
		ofEntries += isFollowed
	}
	all, ofFeed := `entries_by_seq`, `entries_by_feed`
	if q.ByTime {
		all, ofFeed = `entries_by_time`, `entries_of_feed`
	}
	entries := `entries e INDEXED BY ` + all + ` CROSS JOIN feeds f ON f.id = e.feed`
	feedEntries := `feeds f CROSS JOIN entries e INDEXED BY ` + ofFeed + ` ON e.feed = f.id`
	from, number := entries+ofEntries+wasFollowed, `e.seq`
	switch {
	case many && q.ByTime && (q.Label != 0 || q.Filter != 0):
		from = entries + ` CROSS JOIN items i ON i.seq = e.seq CROSS JOIN ` + named + ` m ON m.item = i.id WHERE ` +
			isFollowed + which
	case many && q.ByTime && q.Feed != 0:
		from = feedEntries + ofMany
	case many && q.ByTime:
		from = entries + ofMany
	case q.Unread && q.Feed != 0:
		from, number = `marks m INDEXED BY marks_by_feed`+ofMarks+`m.feed = @feed AND m.read = 0`, `m.item`
	case q.Unread && q.Folder != 0 && !many:
		from, number = `filed d CROSS JOIN marks m INDEXED BY marks_by_feed ON m.feed = d.feed`+ofMarks+
			`d.folder = @folder AND m.read = 0`, `m.item`
	case q.Unread:
		from, number = `marks m INDEXED BY marks_unread`+ofMarks+`NOT m.read`, `m.item`
	case q.Starred:
		from, number = `marks m INDEXED BY marks_starred`+ofMarks+`m.starred`, `m.item`
	case q.Label != 0, q.Filter != 0:
		from, number = named+` m`+ofListed+which, `m.item`
	case q.Feed != 0:
		from = feedEntries + ofEntries + `1`
	}
	before, after, order, direction := number+` < @before`, number+` > @after`, number, ` DESC`
	if q.ByTime {
		before, after = `(e.time, e.seq) < (@at, @before)`, `(e.time, e.seq) > (@at, @after)`
		order = `e.time DESC, e.seq`
	}
	where := `(@secret OR NOT f.secret) AND (@feed = 0 OR f.id = @feed)
		AND (@folder = 0 OR f.id IN (SELECT feed FROM filed WHERE folder =
			(SELECT id FROM folders WHERE id = @folder AND person = @person))) AND `
	if q.After == 0 {
		where += before
	} else { // bounded on one side alone: what is below 0 is before it, too
		where, direction, order = where+after, ``, strings.ReplaceAll(order, ` DESC`, ``)
	}
	order += direction
	// Outside, an item is there without marks, too: who had a filter label what is past marked nothing.
	outside := strings.ReplaceAll(order, `m.item`, `i.id`)
	return `SELECT ` + headlineColumns + ` FROM (
			SELECT e.seq AS seq FROM ` + from + ` AND ` + where + ` ORDER BY ` + order + ` LIMIT @limit) p
		CROSS JOIN entries e ON e.seq = p.seq JOIN feeds f ON f.id = e.feed` + withMarks + ` ORDER BY ` + outside
}

// headlineFields are where headlineColumns go.
func headlineFields(h *reading.Headline) []any {
	return []any{&h.Seq, bytesOf(h.ID[:]), &h.Feed, &h.URL, &h.FeedTitle, &h.FeedIcon.ID, &h.FeedIcon.Word,
		&h.Title, &h.Link, seconds(&h.Time), seconds(&h.Seen),
		&h.Source, &h.Confirmed, &h.Lead, &h.Item.ID, &h.Item.Read, &h.Item.Starred}
}

// CountUnread implements reading.Headlines.
func (r personalReader) CountUnread(ctx context.Context, secret bool) (int, error) {
	return r.countUnread(ctx, 0, 0, secret)
}

// countUnread is CountUnread in one feed or folder where that is not 0.
func (r personalReader) countUnread(ctx context.Context, number int64, folder reading.FolderID, secret bool) (int,
	error) {
	return first(ctx, r.Reader, single[int], `SELECT coalesce(sum(u.items), 0) FROM unread u JOIN feeds f ON f.id = u.feed
		WHERE u.person = ? AND `+isRead+` AND (? IN (0, f.id)) AND (? OR NOT f.secret)
			AND (?5 = 0 OR f.id IN (SELECT feed FROM filed WHERE folder = ?5))`,
		r.person, r.person, number, secret, folder)
}

// ItemStates implements reading.Headlines.
func (r personalReader) ItemStates(ctx context.Context, ids []feed.EntryID) (map[feed.EntryID]reading.ItemState,
	error) {
	return mapped(ctx, r.Reader, func(id *feed.EntryID, s *reading.ItemState) []any {
		return []any{bytesOf(id[:]), &s.ID, &s.Read, &s.Starred}
	}, `SELECT e.id, `+itemColumns+`
		FROM json_each(?) j CROSS JOIN entries e ON e.id = unhex(j.value) LEFT JOIN items i ON i.seq = e.seq
			LEFT JOIN marks m ON m.person = ? AND m.item = i.id`, jsonIDs(ids), r.person)
}

// Entry implements reading.Headlines.
func (r personalReader) Entry(ctx context.Context, id feed.EntryID) (record archive.Record, item reading.ItemState,
	number int64, err error) {
	record, err = first(ctx, r.Reader, func(row rowScanner) (archive.Record, error) {
		return scanRecord(row, &number, &item.ID, &item.Read, &item.Starred)
	}, `SELECT `+recordColumns+`, f.id, `+itemColumns+`
		FROM entries e JOIN feeds f ON f.id = e.feed LEFT JOIN items i ON i.seq = e.seq
			LEFT JOIN marks m ON m.person = ? AND m.item = i.id
		WHERE e.id = coalesce((SELECT id FROM entries WHERE was = ?2), ?2)`, r.person, id[:])
	return record, item, number, err
}
