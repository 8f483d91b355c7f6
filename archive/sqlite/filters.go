package sqlite

import (
	"context"
	"encoding/hex"
	"slices"
	"time"

	"feedex/feed"
	"feedex/filter"
	"feedex/reading"
)

// isKept is whether a filter keeps entry e, also one that was removed and may come back. What a neighbor alone says is
// kept by none: it would choose its words, and no bound would hold for what it brings.
const isKept = `(` + isConfirmed + ` AND EXISTS (SELECT 1 FROM items i
	CROSS JOIN caught c INDEXED BY caught_by_item ON c.item = i.id
	CROSS JOIN filters f ON f.id = c.filter WHERE i.seq = e.seq AND f.rule = 'keep'))`

// AddFilter implements reading.Filters.
func (s pen) AddFilter(at time.Time, w reading.FilterWish) (reading.FilterID, error) {
	if err := s.checkFilter(0, w); err != nil {
		return 0, err
	}
	var last int64
	s.row(`SELECT coalesce(max(place), 0) FROM filters WHERE person = ? AND NOT gone`, []any{s.person}, &last)
	return s.insertFilter(at, w, last+1, nil), nil
}

// KeepFilterAgain implements reading.Filters. Its key is its own, or was given to the other.
func (s pen) KeepFilterAgain(at time.Time, id, instead reading.FilterID) error {
	x := catcher{id: id, person: s.person}
	var w reading.FilterWish
	var key []byte
	if !s.row(`SELECT name, words, coalesce((SELECT name FROM folders WHERE id = f.folder), ''), rule,
			coalesce((SELECT name FROM labels WHERE id = f.label), ''), standing, place, key
			FROM filters f WHERE id = ? AND person = ? AND gone`, []any{id, s.person},
		&w.Name, &w.Words, &w.Folder, &w.Rule, &w.Label, &w.Standing, &x.place, &key) ||
		instead != 0 && !s.row(`SELECT place, key FROM filters WHERE id = ? AND person = ? AND NOT gone`,
			[]any{instead, s.person}, &x.place, &key) {
		return reading.ErrNoFilter
	}
	if err := s.checkFilter(instead, w); err != nil {
		return err
	}
	if instead != 0 {
		s.replaceFilter(at, instead)
	}
	s.write(`UPDATE filters SET gone = 0, behind = 1, place = ?, key = ? WHERE id = ?`, x.place, key, id)
	if x.rule = w.Rule; s.catchers != nil && s.err == nil {
		s.catchers.put(x, w.Words)
	}
	return nil
}

// checkFilter says why a person cannot have a filter in the place of one, 0 for none.
func (s pen) checkFilter(id reading.FilterID, w reading.FilterWish) error {
	var n int
	if id == 0 && s.row(`SELECT count(*) FROM filters WHERE person = ? AND NOT gone`, []any{s.person}, &n) &&
		n >= reading.MaxFilters {
		return reading.ErrFilters
	}
	if w.Rule == reading.RuleFull && s.person != reading.Owner {
		return reading.ErrOwnersRule
	}
	if w.Standing {
		if err := s.checkStanding(id); err != nil {
			return err
		}
	}
	if err := s.taken(w.Name, `folder`, `label`); err != nil {
		return err
	}
	if s.row(`SELECT 1 FROM filters WHERE person = ? AND name = ? AND id <> ? AND NOT gone`,
		[]any{s.person, w.Name, id}, new(int)) {
		return reading.TakenBy("filter", w.Name)
	}
	if err := s.FolderTaken(w.Folder); w.Folder != "" && err != nil {
		return err
	}
	if w.Folder != "" && !s.roomForFolders([]reading.Arrangement{{Into: []string{w.Folder}}}) {
		return reading.ErrFolders
	}
	if w.Label == "" || s.labelNamed(w.Label) != 0 {
		return nil
	}
	return s.checkLabel(w.Label)
}

func (s pen) insertFilter(at time.Time, w reading.FilterWish, place int64, key []byte) (id reading.FilterID) {
	s.begin()
	s.row(`INSERT INTO filters (person, name, words, folder, rule, label, place, key, created, standing)
		VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, randomblob(16)), ?, ?) RETURNING id`, []any{s.person, w.Name, w.Words,
		s.folderOrNone(w.Folder), string(w.Rule), s.labelOrNone(w.Label), place, key, at.Unix(), w.Standing}, &id)
	if s.catchers != nil && s.err == nil {
		s.catchers.put(catcher{id, s.person, w.Rule, place}, w.Words)
	}
	return id
}

// folderOrNone is the number of the folder of that name, nil for none.
func (s pen) folderOrNone(name string) any {
	if name == "" {
		return nil
	}
	return s.folder(name)
}

// labelOrNone is the number of the label of that name, which checkFilter has found no fault with, nil for none.
func (s pen) labelOrNone(name string) any {
	if name == "" {
		return nil
	}
	id := s.labelNamed(name)
	if id == 0 {
		id, _ = s.addLabel(name)
	}
	return id
}

// ChangeFilter implements reading.Filters.
func (s pen) ChangeFilter(at time.Time, id reading.FilterID, w reading.FilterWish) (reading.FilterID, error) {
	var place int64
	var words string
	var key []byte
	if !s.row(`SELECT place, words, key FROM filters WHERE id = ? AND person = ? AND NOT gone`,
		[]any{id, s.person}, &place, &words, &key) {
		return 0, reading.ErrNoFilter
	}
	if err := s.checkFilter(id, w); err != nil {
		return 0, err
	}
	if words != w.Words {
		s.replaceFilter(at, id)
		return s.insertFilter(at, w, place, key), nil
	}
	s.write(`UPDATE filters SET name = ?, folder = ?, rule = ?, label = ?, standing = ? WHERE id = ?`, w.Name,
		s.folderOrNone(w.Folder), string(w.Rule), s.labelOrNone(w.Label), w.Standing, id)
	s.catchers.change(id, func(x *catcher) { x.rule = w.Rule })
	return id, nil
}

// MoveFilter implements reading.Filters.
func (s pen) MoveFilter(id, before reading.FilterID) {
	order := load(&s.writer, single[reading.FilterID],
		`SELECT id FROM filters WHERE person = ? AND NOT gone ORDER BY place, id`, s.person)
	from := slices.Index(order, id)
	if from < 0 || id == before {
		return
	}
	order = slices.Delete(order, from, from+1)
	to := slices.Index(order, before)
	if to < 0 {
		to = len(order)
	}
	order = slices.Insert(order, to, id)
	s.write(`UPDATE filters SET place = j.key + 1 FROM json_each(?) j
		WHERE filters.id = j.value AND place <> j.key + 1`, jsonNumbers(order))
	for i, id := range order {
		s.catchers.change(id, func(x *catcher) { x.place = int64(i) + 1 })
	}
}

// replaceFilter removes a filter whose key another takes.
func (s pen) replaceFilter(at time.Time, id reading.FilterID) {
	s.RemoveFilter(at, id)
	s.write(`UPDATE filters SET key = randomblob(16) WHERE id = ?`, id)
}

// RemoveFilter implements reading.Filters. When it was removed stands in gone.
func (s pen) RemoveFilter(at time.Time, id reading.FilterID) bool {
	if s.write(`UPDATE filters SET gone = ? WHERE id = ? AND person = ? AND NOT gone`, at.Unix(), id, s.person) == 0 {
		return false
	}
	if s.catchers != nil {
		s.catchers.index.Remove(filter.ID(id))
		delete(s.catchers.of, filter.ID(id))
	}
	return true
}

// Sweep implements reading.FilterSweeper.
func (s *Store) Sweep(upTo time.Time, limit int) (more bool) {
	return s.sweep(limit, `gone AND (gone <= ? OR gone > ?)`, upTo.Unix(), upTo.Add(reading.RemovedFor).Unix())
}

// sweep is Sweep for the filters of which a condition holds.
func (s *Store) sweep(limit int, which string, args ...any) (more bool) {
	isDue := `SELECT id FROM filters WHERE ` + which + ` LIMIT 1`
	var id int64
	if !s.row(isDue, args, &id) {
		return false
	}
	s.write(`DELETE FROM found WHERE filter = ?`, id)
	if s.write(`DELETE FROM caught WHERE filter = ?1 AND item IN (SELECT item FROM caught WHERE filter = ?1 LIMIT ?2)`,
		id, limit) < int64(limit) {
		s.write(`DELETE FROM filters WHERE id = ?`, id)
	}
	return s.err == nil && s.row(isDue, args, &id)
}

// Catch implements reading.Filters.
func (s pen) Catch(at time.Time, id reading.FilterID, items []reading.ItemID) {
	s.write(`INSERT INTO caught (filter, item, at)
		SELECT f.id, i.id, ? FROM filters f, json_each(?) j CROSS JOIN items i ON i.id = j.value
		WHERE f.id = ? AND f.person = ? AND NOT f.gone ON CONFLICT DO NOTHING`, at.Unix(), jsonNumbers(items), id,
		s.person)
}

// CaughtUp implements reading.Filters.
func (s pen) CaughtUp(id reading.FilterID) {
	s.write(`UPDATE filters SET behind = 0 WHERE id = ? AND person = ?`, id, s.person)
}

// FolderTaken implements reading.Filters.
func (s pen) FolderTaken(name string) error { return s.taken(name, `filter`, `label`) }

// taken is a reading.ErrFilterName where something of the person that is one of these has a name.
func (s pen) taken(name string, by ...string) error {
	for _, what := range by {
		query := `SELECT 1 FROM ` + what + `s WHERE person = ? AND name = ?`
		if what == `filter` {
			query += ` AND NOT gone`
		}
		if s.row(query, []any{s.person, name}, new(int)) {
			return reading.TakenBy(what, name)
		}
	}
	return nil
}

// filterColumns are a NamedFilter, from filters f.
const filterColumns = `f.id, f.name, f.words, coalesce((SELECT name FROM folders WHERE id = f.folder), ''), f.rule,
	coalesce((SELECT name FROM labels WHERE id = f.label), ''), f.standing, f.key, f.created`

// ofPerson are the filters of a person, in their order: what is behind the columns. Its argument is the person.
const ofPerson = ` FROM filters f WHERE f.person = ? AND NOT f.gone ORDER BY f.place, f.id`

// scanFilter reads one row of filterColumns, and what is selected behind them.
func scanFilter(row rowScanner, more ...any) (f reading.NamedFilter, err error) {
	var key []byte
	err = scan(row, append([]any{&f.ID, &f.Name, &f.Words, &f.Folder, &f.Rule, &f.Label, &f.Standing, &key,
		seconds(&f.Created)}, more...)...)
	f.Key = hex.EncodeToString(key)
	if _, bad := feed.ParseMatch(f.Words); bad != nil {
		f.Problem = bad.Error()
	}
	return f, err
}

// filtersOf are the filters of a person that caught item i, as a list in JSON. Its argument is the person.
const filtersOf = `(SELECT json_group_array(f.id ORDER BY f.place, f.id) FROM caught c INDEXED BY caught_by_item
	CROSS JOIN filters f ON f.id = c.filter WHERE c.item = i.id AND f.person = ? AND NOT f.gone)`

// Filters implements reading.FilterList.
func (r personalReader) Filters(ctx context.Context) ([]reading.NamedFilter, error) {
	return all(ctx, r.Reader, func(row rowScanner) (reading.NamedFilter, error) { return scanFilter(row) },
		`SELECT `+filterColumns+ofPerson, r.person)
}

// RemovedFilters implements reading.FilterList.
func (r personalReader) RemovedFilters(ctx context.Context) ([]reading.NamedFilter, error) {
	return all(ctx, r.Reader, func(row rowScanner) (reading.NamedFilter, error) { return scanFilter(row) },
		`SELECT `+filterColumns+` FROM filters f WHERE f.person = ? AND f.gone ORDER BY f.gone DESC, f.id DESC`,
		r.person)
}

// CountedFilters implements reading.FilterList.
func (r personalReader) CountedFilters(ctx context.Context) ([]reading.CountedFilter, error) {
	return all(ctx, r.Reader, func(row rowScanner) (f reading.CountedFilter, err error) {
		f.NamedFilter, err = scanFilter(row, &f.Caught, &f.Acted, seconds(&f.Latest), &f.Found, seconds(&f.Asked),
			seconds(&f.Next), &f.Trouble)
		return f, err
	}, `SELECT `+filterColumns+`,
			(SELECT count(*) FROM caught WHERE filter = f.id),
			(SELECT count(*) FROM caught INDEXED BY caught_acted WHERE filter = f.id AND did <> ''),
			(SELECT max(at) FROM caught WHERE filter = f.id),
			(SELECT count(*) FROM found n JOIN entries e ON e.seq = n.seq JOIN feeds d ON d.id = e.feed
				WHERE n.filter = f.id AND NOT d.subscribed), f.asked, f.next, f.trouble`+ofPerson, r.person)
}

// FilterCounts implements reading.FilterList.
func (r personalReader) FilterCounts(ctx context.Context) ([]reading.UnreadCount[reading.FilterID], error) {
	return unreadOf[reading.FilterID](ctx, r, `caught c INDEXED BY caught_by_item ON c.item = m.item
		CROSS JOIN filters s ON s.id = c.filter AND NOT s.gone`)
}

// CaughtBy implements reading.FilterList.
func (r personalReader) CaughtBy(ctx context.Context, id reading.FilterID, upTo reading.ItemID, secret bool,
	limit int) ([]reading.CaughtItem, error) {
	items, err := all(ctx, r.Reader, by(func(c *reading.CaughtItem) []any {
		return []any{&c.Item, &c.Seq, &c.Changed, &c.Feed, &c.Title, seconds(&c.At), &c.Did}
	}), `SELECT c.item, i.seq, coalesce(e.changed, 0), f.url, f.title, c.at, c.did FROM caught c CROSS JOIN items i ON i.id = c.item
			CROSS JOIN entries e ON e.seq = i.seq CROSS JOIN feeds f ON f.id = i.feed
		WHERE c.filter = (SELECT id FROM filters WHERE id = ? AND person = ? AND NOT gone)
			AND (?3 = 0 OR c.item <= ?3) AND (? OR NOT f.secret) AND `+isRead+` ORDER BY c.item DESC LIMIT ?`, id,
		r.person, upTo, secret, r.person, limit)
	if err == nil {
		var found []reading.CaughtItem
		found, err = r.foundBy(ctx, id, secret, limit)
		items = merged(items, found, limit)
	}
	return items, err
}

// FilterOf implements reading.FilterKeys.
func (r *Reader) FilterOf(ctx context.Context, key string) (reading.Keyed, error) {
	bytes, err := hex.DecodeString(key)
	if err != nil || len(bytes) == 0 {
		return reading.Keyed{}, nil
	}
	return first(ctx, r, by(keyedFields),
		`SELECT person, id, name FROM filters WHERE key = ? AND NOT gone AND NOT person`+isHidden, bytes)
}

// Behind implements reading.FilterKeys.
func (r *Reader) Behind(ctx context.Context) ([]reading.Keyed, error) {
	return all(ctx, r, by(keyedFields),
		`SELECT person, id, name FROM filters WHERE behind AND NOT gone ORDER BY id`)
}

func keyedFields(k *reading.Keyed) []any { return []any{&k.Person, &k.Filter, &k.Name} }
