package sqlite

import (
	"context"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// KeepFullText implements reading.FullTexts.
func (s *Store) KeepFullText(t reading.FullText) {
	var before, after string
	s.row(`SELECT content FROM full_texts WHERE item = ? AND shown`, []any{t.Item}, &before)
	if t.Shown {
		after = t.HTML
	}
	if s.write(`INSERT OR REPLACE INTO full_texts (item, at, shown, content, problem, again, troubles)
		SELECT id, ?, ?, ?, ?, ?, ? FROM items WHERE id = ?`,
		t.At.Unix(), t.Shown, t.HTML, t.Problem, seconds(&t.Again), t.Troubles, t.Item) > 0 && before != after {
		s.retold(t.At, t.Item)
	}
}

// ShowFullText implements reading.FullTexts.
func (s *Store) ShowFullText(at time.Time, id reading.ItemID, shown bool) {
	if s.write(`UPDATE full_texts SET shown = ?1 WHERE item = ?2 AND shown <> ?1 AND content <> ''`, shown, id) > 0 {
		s.retold(at, id)
	}
}

// retold has readers of a feed hear that one of its items reads otherwise.
func (s *Store) retold(at time.Time, id reading.ItemID) {
	s.write(`UPDATE entries AS e SET changed = (SELECT replaced + 1 FROM feeds WHERE id = e.feed)
		WHERE seq = (SELECT seq FROM items WHERE id = ? AND seq > 0)`, id)
	s.write(`UPDATE feeds SET replaced = replaced + 1, replaced_at = max(?, coalesce(replaced_at, 0))
		WHERE id = (SELECT feed FROM items WHERE id = ?)`, at.Unix(), id)
}

// DeferFullTexts implements reading.FullTexts.
func (s *Store) DeferFullTexts(u feed.URL, until time.Time) {
	s.write(`UPDATE feeds SET full_rests = ? WHERE url = ?`, until.Unix(), string(u))
}

// wantFullTexts says whether the full text of what a feed publishes is fetched.
func (s *Store) wantFullTexts(id reading.FeedID, wanted bool) {
	s.write(`UPDATE feeds SET full_from = CASE WHEN ? THEN coalesce(full_from, 0) END WHERE id = ?`, wanted, id)
}

// lookedThrough is how many of a feed's items, the latest, are looked through for those whose full text is due.
const lookedThrough = 200

// FullTextDue implements reading.FullTextList. What was filled in has a seq below 0.
func (r *Reader) FullTextDue(ctx context.Context, now time.Time, but []reading.ItemID) (reading.ItemID, error) {
	day := now.Add(-24 * time.Hour).Unix()
	return first(ctx, r, single[reading.ItemID], `
		WITH wanted (id) AS (
			SELECT i.id FROM feeds f CROSS JOIN items i
			WHERE f.full_from <= ?1 AND i.id IN (SELECT id FROM items WHERE feed = f.id ORDER BY id DESC LIMIT ?2)
			UNION
			SELECT c.item FROM filters x CROSS JOIN caught c INDEXED BY caught_acted ON c.filter = x.id AND c.did <> ''
			WHERE x.rule = 'full' AND NOT x.gone AND c.did = 'full' AND c.item IN (SELECT item
				FROM caught INDEXED BY caught_acted WHERE filter = x.id AND did <> '' ORDER BY item DESC LIMIT ?6))
		SELECT i.id FROM wanted w CROSS JOIN items i ON i.id = w.id CROSS JOIN feeds f ON f.id = i.feed
			CROSS JOIN entries e ON e.seq = i.seq LEFT JOIN full_texts t ON t.item = i.id
		WHERE f.subscribed AND (coalesce(f.full_rests, 0) <= ?1 OR f.full_rests > ?9)
			AND i.seq > 0 AND `+isPolled+` AND i.arrived > ?3 AND e.time > ?4 AND e.link <> ''
			AND (t.item IS NULL OR t.content = '' AND (t.again <= ?1 OR t.again > ?9))
			AND f.id NOT IN (SELECT y.feed FROM json_each(?8) j CROSS JOIN items y ON y.id = j.value)
			AND (SELECT count(*) FROM full_texts WHERE at > ?5 AND at <= ?1) < ?6
			AND (SELECT count(*) FROM full_texts x CROSS JOIN items y ON y.id = x.item
				WHERE x.at > ?5 AND x.at <= ?1 AND y.feed = f.id) < ?7
		ORDER BY t.item IS NOT NULL, t.again, i.id LIMIT 1`,
		now.Unix(), lookedThrough, now.Add(-reading.FullTextWithin).Unix(), now.Add(-reading.FullTextNews).Unix(), day,
		reading.FullTextsOfAll, reading.FullTextsOfFeed, jsonNumbers(but),
		now.Add(2*reading.FullTextRest).Unix())
}

// FullText implements reading.FullTextList.
func (r *Reader) FullText(ctx context.Context, id reading.ItemID) (reading.FullText, error) {
	return first(ctx, r, by(func(t *reading.FullText) []any {
		return []any{&t.Item, seconds(&t.At), &t.Shown, &t.HTML, &t.Problem, seconds(&t.Again), &t.Troubles}
	}), `SELECT item, at, shown, content, problem, again, troubles FROM full_texts WHERE item = ?`, id)
}

// fullTextOf is the full text of item i where it is shown, "" where none is.
const fullTextOf = `coalesce((SELECT content FROM full_texts WHERE item = i.id AND shown), '')`

// FullTexts implements reading.FullTextList.
func (r *Reader) FullTexts(ctx context.Context, seqs []int64) (map[int64]string, error) {
	return mapped(ctx, r, func(seq *int64, text *string) []any { return []any{seq, text} }, `
		SELECT i.seq, x.content FROM json_each(?) j CROSS JOIN items i ON i.seq = j.value
			CROSS JOIN full_texts x ON x.item = i.id WHERE x.shown AND x.content <> ''`, jsonNumbers(seqs))
}

// ItemRecord implements reading.FullTextList.
func (r *Reader) ItemRecord(ctx context.Context, id reading.ItemID) (record archive.Record, number int64, err error) {
	record, err = first(ctx, r, func(row rowScanner) (archive.Record, error) { return scanRecord(row, &number) },
		`SELECT `+recordColumns+`, f.id FROM items i CROSS JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = e.feed
		WHERE i.id = ?`, id)
	return record, number, err
}
