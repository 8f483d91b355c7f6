package sqlite

import (
	"context"
	"fmt"
	"time"

	"feedex/reading"
)

// isLabelled is whether a person labelled the item of a row of marks, and no filter of theirs alone.
const isLabelled = `EXISTS (SELECT 1 FROM labelled l INDEXED BY labelled_by_item CROSS JOIN labels n ON n.id = l.label
	WHERE l.item = marks.item AND l.filter IS NULL AND n.person = marks.person)`

// labelNamed is the label of a name, 0 for none.
func (s pen) labelNamed(name string) (id reading.LabelID) {
	s.row(`SELECT id FROM labels WHERE person = ? AND name = ?`, []any{s.person, name}, &id)
	return id
}

// Label implements reading.Labels.
func (s pen) Label(at time.Time, ids []reading.ItemID, name string, has bool) error {
	id := s.labelNamed(name)
	found := load(&s.writer, single[reading.ItemID], `SELECT id FROM items WHERE id IN (SELECT value FROM json_each(?))
		AND ?2 <> EXISTS (SELECT 1 FROM labelled WHERE label = ? AND item = items.id AND (filter IS NULL OR NOT ?2))`,
		jsonNumbers(ids), has, id)
	if len(found) == 0 || !has && id == 0 {
		return nil
	}
	if !has {
		s.unlabel(at, id, found)
		return nil
	}
	if s.row(`SELECT 1 FROM labelled l JOIN labels n ON n.id = l.label
		WHERE l.item IN (SELECT value FROM json_each(?)) AND n.person = ? AND n.id <> ?
		GROUP BY l.item HAVING count(*) >= ?`,
		[]any{jsonNumbers(found), s.person, id, reading.MaxEntryLabels}, new(int)) {
		return reading.ErrEntryLabels
	}
	if id == 0 {
		var err error
		if id, err = s.addLabel(name); err != nil {
			return err
		}
	}
	s.write(`INSERT INTO labelled (label, item) SELECT ?, value FROM json_each(?) WHERE true
		ON CONFLICT DO UPDATE SET filter = NULL`, id, jsonNumbers(found))
	s.touch(at, found)
	return nil
}

// checkLabel says why a person cannot have a label of a name that none has.
func (s pen) checkLabel(name string) error {
	if err := s.taken(name, `folder`, `filter`); err != nil {
		return err
	}
	var n int
	if s.row(`SELECT count(*) FROM labels WHERE person = ?`, []any{s.person}, &n) && n >= reading.MaxLabels {
		return reading.ErrLabels
	}
	return nil
}

// addLabel makes a label of a name that none has.
func (s pen) addLabel(name string) (id reading.LabelID, err error) {
	if err := s.checkLabel(name); err != nil {
		return 0, err
	}
	s.begin()
	s.row(`INSERT INTO labels (person, name) VALUES (?, ?) RETURNING id`, []any{s.person, name}, &id)
	return id, nil
}

// unlabel takes a label from items that have it.
func (s pen) unlabel(at time.Time, id reading.LabelID, items []reading.ItemID) {
	s.write(`DELETE FROM labelled WHERE label = ? AND item IN (SELECT value FROM json_each(?))`, id, jsonNumbers(items))
	s.touch(at, items)
}

// touch marks items without a change to what else is marked of them.
func (s pen) touch(at time.Time, items []reading.ItemID) {
	c := change{`listed = listed`, fmt.Sprintf(`m.marked IS NOT %d`, at.Unix()), `0, 1, 0`}
	s.change(at, c, len(items),
		ofItems(`items i NOT INDEXED`)+` AND m.item IN (SELECT value FROM json_each(?))`, s.person, jsonNumbers(items))
}

// RenameLabel implements reading.Labels.
func (s pen) RenameLabel(id reading.LabelID, name string) error {
	other := s.labelNamed(name)
	switch {
	case other == id:
		return nil
	case other != 0:
		return reading.ErrLabelName
	}
	if err := s.taken(name, `folder`, `filter`); err != nil {
		return err
	}
	s.write(`UPDATE labels SET name = ? WHERE id = ? AND person = ?`, name, id, s.person)
	return nil
}

// RemoveLabel implements reading.Labels.
func (s pen) RemoveLabel(at time.Time, id reading.LabelID, limit int) (more bool) {
	if s.write(`UPDATE filters SET rule = '', label = NULL WHERE label = ? AND person = ?`, id, s.person) > 0 {
		s.catchers = nil
	}
	found := load(&s.writer, single[reading.ItemID], `SELECT item FROM labelled
		WHERE label = (SELECT id FROM labels WHERE id = ? AND person = ?) LIMIT ?`, id, s.person, limit)
	s.unlabel(at, id, found)
	if len(found) == limit {
		return s.err == nil
	}
	s.write(`DELETE FROM labels WHERE id = ? AND person = ?`, id, s.person)
	return false
}

// labelBy gives items the label of a filter, those that do not have it and have room for it, and returns which.
func (s *Store) labelBy(id reading.FilterID, items ...reading.ItemID) []reading.ItemID {
	s.begin()
	return load(&s.writer, single[reading.ItemID], `INSERT INTO labelled (label, item, filter)
		SELECT f.label, i.id, f.id FROM json_each(?) j CROSS JOIN items i ON i.id = j.value CROSS JOIN filters f ON f.id = ?
		WHERE f.label IS NOT NULL AND (SELECT count(*) FROM labelled l INDEXED BY labelled_by_item
			JOIN labels n ON n.id = l.label WHERE l.item = i.id AND n.person = f.person) < ?
		ON CONFLICT DO NOTHING RETURNING item`, jsonNumbers(items), id, reading.MaxEntryLabels)
}

// Labels implements reading.LabelList.
func (r personalReader) Labels(ctx context.Context) ([]reading.Label, error) {
	return all(ctx, r.Reader, by(func(l *reading.Label) []any { return []any{&l.ID, &l.Name} }),
		`SELECT id, name FROM labels WHERE person = ? ORDER BY name`, r.person)
}

// LabelCounts implements reading.LabelList.
func (r personalReader) LabelCounts(ctx context.Context) ([]reading.UnreadCount[reading.LabelID], error) {
	return unreadOf[reading.LabelID](ctx, r, `labelled l INDEXED BY labelled_by_item ON l.item = m.item
		CROSS JOIN labels s ON s.id = l.label`)
}

// LabelsOn implements reading.LabelList.
func (r personalReader) LabelsOn(ctx context.Context,
	ids []reading.ItemID) (map[reading.ItemID][]reading.Label, error) {
	type given struct {
		item reading.ItemID
		reading.Label
	}
	labels := make(map[reading.ItemID][]reading.Label)
	for g, err := range found(ctx, r.db, by(func(g *given) []any { return []any{&g.item, &g.ID, &g.Name} }),
		`SELECT l.item, n.id, n.name FROM json_each(?) j
			CROSS JOIN labelled l INDEXED BY labelled_by_item ON l.item = j.value
			CROSS JOIN labels n ON n.id = l.label WHERE n.person = ? ORDER BY n.name`, jsonNumbers(ids), r.person) {
		if err != nil {
			return nil, r.failed(ctx, "read", err)
		}
		labels[g.item] = append(labels[g.item], g.Label)
	}
	return labels, nil
}
