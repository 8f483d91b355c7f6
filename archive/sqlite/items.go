package sqlite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// A pen writes for one person.
type pen struct {
	*Store
	person reading.PersonID
}

// Pen implements reading.Database.
func (s *Store) Pen(p reading.PersonID) reading.Pen {
	if !s.row(`SELECT 1 FROM people WHERE id = ? AND removed IS NULL`, []any{p}, new(int)) && s.err == nil {
		return nil
	}
	return pen{s, p}
}

// LeaveOut implements reading.Pen.
func (s pen) LeaveOut(id reading.FeedID) {
	s.write(`INSERT INTO left_out SELECT id, ? FROM feeds WHERE id = ? ON CONFLICT DO NOTHING`, s.person, id)
}

// TakeIn implements reading.Pen.
func (s pen) TakeIn(id reading.FeedID, b archive.Backlog) {
	s.write(`DELETE FROM unfollowed WHERE feed = ? AND person = ?`, id, s.person)
	if s.write(`DELETE FROM left_out WHERE feed = ? AND person = ?`, id, s.person) > 0 {
		s.write(`INSERT INTO marks (person, item, feed, arrived, listed, read)
			SELECT ?3, i.id, i.feed, i.arrived, 1, 0 FROM items i WHERE i.seq IN (`+latestOf+`) ORDER BY i.id
			ON CONFLICT DO NOTHING`, id, b.Unread(), s.person)
	}
}

// Mark implements reading.Marking.
func (s pen) Mark(at time.Time, ids []reading.ItemID, m reading.Mark) {
	if len(ids) == 0 {
		return
	}
	for _, c := range changes(m) {
		s.change(at, c, len(ids), ofItems(`items i NOT INDEXED`)+` AND m.item IN (SELECT value FROM json_each(?))`,
			s.person, jsonNumbers(ids))
	}
}

// MarkStream implements reading.Marking.
func (s pen) MarkStream(at time.Time, stream reading.Stream, m reading.Mark, limit int) (more bool) {
	if m.Read == reading.Yes && stream.Read == reading.Either {
		stream.Read = reading.No // the others need no mark, and these have an index
	}
	for _, c := range changes(m) {
		from, args := streamOf(s.person, stream)
		more = s.change(at, c, limit, from, args...) == int64(limit) || more
	}
	return more && s.err == nil
}

// A change is the assignment of an UPDATE of marks, the condition on them under which that changes anything, and the
// values of listed, read and starred where there was no row; "" where none is wanted then.
type change struct{ set, where, added string }

func changes(m reading.Mark) (list []change) {
	switch m.Read {
	case reading.Yes:
		list = append(list, change{`read = 1`, `NOT m.read`, ``})
	case reading.No:
		list = append(list, change{`read = 0, listed = 1`, `m.read`, `1, 0, 0`})
	}
	switch m.Starred {
	case reading.Yes:
		list = append(list, change{`starred = 1`, `NOT m.starred`, `0, 1, 1`})
	case reading.No:
		list = append(list, change{`starred = 0`, `m.starred`, ``})
	}
	return list
}

// change changes at most limit of the marks m that a FROM clause with its condition finds, and returns how many. An
// UPDATE leaves indices alone that have nothing to do with it, which an INSERT that meets a row does not.
func (s pen) change(at time.Time, c change, limit int, from string, args ...any) (changed int64) {
	found := from + ` AND ` + c.where + ` LIMIT ?`
	changed = s.write(`UPDATE marks SET marked = ?, `+c.set+
		` WHERE person = ? AND item IN (SELECT m.item FROM `+found+`)`,
		slices.Concat([]any{at.Unix(), s.person}, args, []any{limit})...)
	if c.added != "" && changed < int64(limit) {
		changed += s.write(`INSERT INTO marks (person, item, feed, arrived, listed, read, starred, marked)
			SELECT ?, m.item, m.feed, m.arrived, `+c.added+`, ? FROM `+found+` ON CONFLICT DO NOTHING`,
			slices.Concat([]any{s.person, at.Unix()}, args, []any{int64(limit) - changed})...)
	}
	return changed
}

// ofItems has marks m of all items i, those that have none too: what is behind FROM, with a condition. Its argument is
// the person.
func ofItems(items string) string { return marksOrNone(`i.id`, items) }

// marksOrNone is ofItems with another column for the items' numbers: what comes in its order is sorted so.
func marksOrNone(number, items string) string {
	return `(SELECT ` + number + ` AS item, i.feed, i.arrived, coalesce(k.listed, 0) AS listed,
		coalesce(k.read, 1) AS read, coalesce(k.starred, 0) AS starred, k.marked
		FROM ` + items + ` LEFT JOIN marks k ON k.person = ? AND k.item = i.id) m WHERE true`
}

// ofMarks has the marks m of a person that there are, likewise.
func ofMarks(index string) string { return `marks m ` + index + ` WHERE m.person = ?` }

// ofThese is ofMarks of items x, in their order.
func ofThese(items string) string {
	return `(SELECT x.item, k.feed, k.arrived, k.listed, k.read, k.starred, k.marked
		FROM ` + items + ` CROSS JOIN marks k NOT INDEXED ON k.person = ? AND k.item = x.item) m WHERE true`
}

// marksOf has the marks of the items of a stream, and perhaps of others, where there are the fewest others among them.
// these is of which items, where a filter or a label says that.
func marksOf(s reading.Stream, these string) string {
	if s.Unlisted && s.Read != reading.No && s.Starred != reading.Yes && s.Changed.IsZero() {
		switch {
		case these != ``:
			return marksOrNone(`x.item`, these+` x CROSS JOIN items i ON i.id = x.item`)
		case s.Among == nil && s.Feed != 0:
			return ofItems(`items i INDEXED BY items_by_feed`)
		}
		return ofItems(`items i NOT INDEXED`) // but by their ids, or in their order
	}
	switch {
	case these != ``:
		return ofThese(these + ` x`)
	case s.Among != nil: // by their ids
	case s.Feed != 0:
		return ofMarks(`INDEXED BY marks_by_feed`)
	case s.Starred == reading.Yes:
		return ofMarks(`INDEXED BY marks_starred`)
	case s.Read == reading.No:
		return ofMarks(`INDEXED BY marks_unread`)
	}
	return ofMarks(`NOT INDEXED`) // but in the order of their ids
}

// isRead is whether a person reads feed f. Its argument is the person.
const isRead = `(f.subscribed AND NOT EXISTS (SELECT 1 FROM left_out l WHERE l.feed = f.id AND l.person = ?))`

// streamOf has the marks m of the items of a stream of a person: what is behind FROM, with its condition.
func streamOf(p reading.PersonID, s reading.Stream) (from string, args []any) {
	type set struct { // of items, with its number
		items string
		id    int64
	}
	var sets []set
	if s.Filter != 0 {
		sets = append(sets, set{`(SELECT item FROM caught WHERE filter =
			(SELECT id FROM filters WHERE id = ? AND person = ? AND NOT gone))`, int64(s.Filter)})
	}
	if s.Label != 0 {
		sets = append(sets, set{`(SELECT item FROM labelled WHERE label =
			(SELECT id FROM labels WHERE id = ? AND person = ?))`, int64(s.Label)})
	}
	these := `` // goes first, in its order: a page then takes no longer where the set is large
	if s.Among == nil && len(sets) > 0 {
		these, args = sets[0].items, []any{sets[0].id, p}
		sets = sets[1:]
	}
	all, args := []string{marksOf(s, these)}, append(args, p)
	and := func(condition string, values ...any) {
		all, args = append(all, condition), append(args, values...)
	}
	if s.Among != nil {
		and(`m.item IN (SELECT value FROM json_each(?))`, jsonNumbers(s.Among))
	}
	ofFeeds := isRead
	if s.NoSecrets {
		ofFeeds += ` AND NOT f.secret`
	}
	if s.Feed != 0 { // where several may be a + says that marks are not to be looked for by each of them
		and(`m.feed = ?`, s.Feed)
		and(`EXISTS (SELECT 1 FROM feeds f WHERE f.id = m.feed AND `+ofFeeds+`)`, p)
	} else {
		and(`+m.feed IN (SELECT f.id FROM feeds f WHERE `+ofFeeds+`)`, p)
	}
	for _, x := range sets {
		and(`m.item IN `+x.items, x.id, p)
	}
	if s.Folder != 0 {
		and(`+m.feed IN (SELECT feed FROM filed WHERE folder = (SELECT id FROM folders WHERE id = ? AND person = ?))`,
			s.Folder, p)
	}
	switch s.Read {
	case reading.Yes:
		and(`m.read`)
	case reading.No:
		and(`NOT m.read`)
	}
	switch s.Starred {
	case reading.Yes:
		and(`m.starred`)
	case reading.No:
		and(`NOT m.starred`)
	}
	if !s.Changed.IsZero() {
		and(`(m.arrived >= ? AND m.listed OR m.marked >= ?)`, ceilSeconds(s.Changed), ceilSeconds(s.Changed))
	} else if !s.Unlisted && s.Starred != reading.Yes && s.Read != reading.No {
		and(`m.listed`)
	}
	if !s.Since.IsZero() {
		and(`m.arrived >= ?`, ceilSeconds(s.Since))
	}
	if !s.Until.IsZero() {
		and(`m.arrived < ?`, ceilSeconds(s.Until))
	}
	return strings.Join(all, " AND "), args
}

// A personalReader reads the archive as one person has it.
type personalReader struct {
	*Reader
	person reading.PersonID
}

// Shelf implements reading.View.
func (r *Reader) Shelf(p reading.PersonID) reading.Shelf { return personalReader{r, p} }

// Size implements reading.Items.
func (r personalReader) Size(ctx context.Context, s reading.Stream) (int, error) {
	from, args := streamOf(r.person, s)
	return first(ctx, r.Reader, single[int], `SELECT count(*) FROM `+from, args...)
}

// IDs implements reading.Items.
func (r personalReader) IDs(ctx context.Context, s reading.Stream, p reading.Page) (ids []reading.ItemID, err error) {
	from, args := streamOf(r.person, s)
	order, above, below := ` ORDER BY m.item DESC`, p.Before, p.After
	if p.Oldest {
		order, above, below = ` ORDER BY m.item`, p.After, p.Before
	}
	if above > 0 {
		from, args = from+` AND m.item > ?`, append(args, above)
	}
	if below > 0 {
		from, args = from+` AND m.item < ?`, append(args, below)
	}
	args = append(args, min(max(p.Limit, 0), reading.MaxPage))
	return first(ctx, r.Reader, inOne[reading.ItemID],
		`SELECT json_group_array(item) FROM (SELECT m.item AS item FROM `+from+order+` LIMIT ?)`, args...)
}

// countFields are where a number, how many items of that are unread, and when the latest of them arrived go.
func countFields[ID ~int64](c *reading.UnreadCount[ID]) []any {
	return []any{&c.Of, &c.Unread, seconds(&c.Newest)}
}

// Counts implements reading.Items.
func (r personalReader) Counts(ctx context.Context) ([]reading.UnreadCount[reading.FeedID], error) {
	return all(ctx, r.Reader, by(countFields[reading.FeedID]), `SELECT f.id, u.items, (SELECT arrived FROM items WHERE id = (SELECT max(item)
			FROM marks INDEXED BY marks_by_feed WHERE person = u.person AND feed = u.feed AND read = 0))
		FROM unread u JOIN feeds f ON f.id = u.feed WHERE u.person = ? AND u.items > 0 AND `+isRead+` ORDER BY f.id`,
		r.person, r.person)
}

// unreadOf counts what is unread of sets s of items that a person has: their labels, or filters.
func unreadOf[ID ~int64](ctx context.Context, r personalReader, sets string) ([]reading.UnreadCount[ID], error) {
	return all(ctx, r.Reader, by(countFields[ID]),
		`SELECT s.id, count(*), max(m.arrived) FROM marks m INDEXED BY marks_unread CROSS JOIN `+sets+
			` AND s.person = m.person WHERE m.person = ? AND NOT m.read AND m.feed IN (SELECT f.id FROM feeds f WHERE `+
			isRead+`) GROUP BY s.id ORDER BY s.id`, r.person, r.person)
}

// Items implements reading.Items.
func (r personalReader) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for part := range slices.Chunk(ids, pageEntries) {
			for len(part) > 0 {
				page, done, err := r.itemPage(ctx, part)
				if err != nil {
					yield(reading.Item{}, r.failed(ctx, "read", err))
					return
				}
				for _, item := range page {
					if !yield(item, nil) {
						return
					}
				}
				part = part[done:]
			}
		}
	}
}

// itemPage reads items up to some bytes, and returns how many of the ids are done.
func (r personalReader) itemPage(ctx context.Context, ids []reading.ItemID) (page []reading.Item, done int, err error) {
	var key, size int
	var full string
	for item, err := range found(ctx, r.db, func(row rowScanner) (item reading.Item, err error) {
		record, err := scanRecord(row, &key, &item.ID, &item.Feed, seconds(&item.Arrived), &item.Listed, &item.Read,
			&item.Starred, seconds(&item.Changed), jsonList(&item.Filters), &full, &item.Site)
		item.Site = safehtml.Link(item.Site)
		item.EntryID, item.Entry = cmp.Or(record.Was, record.ID), record.Entry
		item.Time, item.Confirmed = record.Time(), record.Confirmed
		item.Entry.Content = cmp.Or(full, item.Entry.Content)
		return item, err
	}, `SELECT `+recordColumns+
		`, j.key, i.id, i.feed, i.arrived, coalesce(m.listed, 0), coalesce(m.read, 1), coalesce(m.starred, 0),
			coalesce(m.marked, i.arrived), `+filtersOf+`, `+fullTextOf+`, f.link
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds f ON f.id = e.feed
			LEFT JOIN marks m ON m.person = ? AND m.item = i.id
		WHERE `+isRead+` ORDER BY j.key`, r.person, jsonNumbers(ids), r.person, r.person) {
		if err != nil {
			return nil, 0, err
		}
		size += len(item.Entry.Summary) + len(item.Entry.Content)
		safehtml.Entry(&item.Entry)
		if page = append(page, item); size >= pageBytes {
			return page, key + 1, nil
		}
	}
	return page, len(ids), nil
}

// Find implements reading.Items. It takes no longer than searchTime.
func (r personalReader) Find(ctx context.Context, m feed.Match, of []reading.FeedID,
	limit int) (ids []reading.ItemID, err error) {
	var f feed.Filter
	f.Ask(m)
	err = r.searching(ctx, f, func(s *search) error {
		// By + no index is asked for each of the feeds in turn, once for every entry.
		s.where, s.args = ` AND +e.feed IN (SELECT f.id FROM feeds f WHERE `+isRead+`)`, []any{r.person}
		if len(of) > 0 {
			s.where += ` AND +e.feed IN (SELECT value FROM json_each(?))`
			s.args = append(s.args, jsonNumbers(of))
		}
		seqs, err := s.newest(limit)
		if err != nil {
			return err
		}
		ids, err = one(s.ctx, s.tx, inOne[reading.ItemID],
			`SELECT json_group_array(id ORDER BY id) FROM items WHERE seq IN (SELECT value FROM json_each(?))`,
			jsonNumbers(seqs))
		return err
	})
	return ids, err
}

// Found implements reading.Headlines. It takes no longer than searchTime.
func (r personalReader) Found(ctx context.Context, f feed.Filter) (found []archive.Record, err error) {
	err = r.searching(ctx, f, func(s *search) error {
		s.where = ` AND e.feed NOT IN (SELECT f.id FROM feeds f WHERE f.secret AND NOT ` + isRead + `)`
		s.args = []any{r.person}
		found, err = s.run(r.rankTime)
		return err
	})
	if err != nil && !errors.Is(err, archive.ErrCut) {
		return nil, err
	}
	return found, err
}
