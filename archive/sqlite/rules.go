package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"feedex/filter"
	"feedex/reading"
)

// isNews is whether marks m are those of an item that came as news and on which the person has not laid a hand.
const isNews = `m.listed AND NOT m.read AND NOT m.starred AND m.marked IS NULL`

// acting are the filters whose rules may act on what they caught, in the order in which they are tried: of a person
// those that label first, as the item is news then, and where no other rule has acted the first with each. What keeps
// such a rule from acting keeps it in every filter.
func (c *catchers) acting(ids []filter.ID, acted map[reading.PersonID]bool) (acting []catcher) {
	for _, id := range ids {
		if f := c.of[id]; f.rule == reading.RuleLabel || f.rule.Acts() && !acted[f.person] {
			acting = append(acting, f)
		}
	}
	behind := func(f catcher) int {
		if f.rule == reading.RuleLabel {
			return 0
		}
		return 1
	}
	slices.SortFunc(acting, func(a, b catcher) int {
		return cmp.Or(cmp.Compare(a.person, b.person), cmp.Compare(behind(a), behind(b)), cmp.Compare(a.place, b.place),
			cmp.Compare(a.id, b.id))
	})
	type attempt struct {
		person reading.PersonID
		rule   reading.Rule
	}
	tried := make(map[attempt]bool)
	return slices.DeleteFunc(acting, func(f catcher) bool {
		of := attempt{f.person, f.rule}
		was := tried[of]
		tried[of] = true
		return was && f.rule != reading.RuleLabel
	})
}

// actFirst has the first rule of each person act on an item that filters caught, of those that do, and beside it all
// that label.
func (s *Store) actFirst(at int64, item reading.ItemID, acting []catcher) {
	var acted reading.PersonID // the last person for whom a rule acted
	for _, f := range acting {
		if f.person != acted && s.act(at, f, item) && f.rule != reading.RuleLabel {
			acted = f.person
		}
	}
}

// act has the rule of a filter act on an item that it has caught, if that is news, and reports whether it has. Programs
// learn of it where they may know the item, as of any other mark, but for a label: an item is news on which nobody has
// laid a hand after that, too.
func (s *Store) act(at int64, f catcher, item reading.ItemID) bool {
	var set string // what becomes of its marks, "" for nothing
	switch f.rule {
	case reading.RuleFull, reading.RuleLabel:
	case reading.RuleMute:
		set = `listed = 0, read = 1`
	case reading.RuleRead:
		set = `read = 1`
	case reading.RuleStar:
		set = `starred = 1`
	default:
		return false
	}
	const ofNews = ` WHERE person = ?2 AND item = ?3 AND ` + isNews
	of := []any{at, f.person, item}
	mayAct := `true`
	if f.rule == reading.RuleFull {
		mayAct = mayBeFull(time.Unix(at, 0))
	}
	if set == "" && !s.row(`SELECT ?1 FROM marks m`+ofNews+` AND `+mayAct, of, new(int64)) ||
		f.rule == reading.RuleLabel && len(s.labelBy(f.id, item)) == 0 ||
		set != "" && s.write(`UPDATE marks AS m SET `+set+`, marked = iif(arrived < ?1, ?1, NULL)`+ofNews, of...) == 0 {
		return false
	}
	s.write(`UPDATE caught SET did = ?, acted = ? WHERE filter = ? AND item = ?`, string(f.rule), at, f.id, item)
	return true
}

// mayBeFull is whether marks m are those of an item whose full text FullTextDue may come to, as far as that is known at
// a moment.
func mayBeFull(at time.Time) string {
	return fmt.Sprintf(`m.arrived > %d AND NOT EXISTS (SELECT 1 FROM full_texts WHERE item = m.item)
		AND EXISTS (SELECT 1 FROM items i JOIN entries e ON e.seq = i.seq
			WHERE i.id = m.item AND i.seq > 0 AND e.time > %d AND e.link <> '')`,
		at.Add(-reading.FullTextWithin).Unix(), at.Add(-reading.FullTextNews).Unix())
}

// onPast is what a rule does to items of the past, by marks m, false where it does nothing.
func onPast(r reading.Rule, at time.Time) (m change, ok bool) {
	switch r {
	case reading.RuleMute:
		return change{`read = 1, listed = 0`, `NOT m.read`, ``}, true // what is read would come back unread
	case reading.RuleRead:
		return changes(reading.Mark{Read: reading.Yes})[0], true
	case reading.RuleStar:
		return changes(reading.Mark{Starred: reading.Yes})[0], true
	case reading.RuleFull:
		return change{where: mayBeFull(at)}, true
	case reading.RuleLabel:
		return change{where: `true`}, true
	}
	return m, false
}

// noneActed is whether no rule of a person, its first argument, that keeps a rule from acting, its second, has acted on
// an item of marks m: one that labels and the others do not keep each other.
const noneActed = `NOT EXISTS (SELECT 1 FROM caught c INDEXED BY caught_by_item
	JOIN filters f ON f.id = c.filter WHERE c.item = m.item AND f.person = ? AND NOT f.gone
		AND c.did NOT IN ('', 'label') AND ? <> 'label')`

// labelledElse is whether a filter labelled what it caught, a row of caught c, while it had another label to give.
const labelledElse = `EXISTS (SELECT 1 FROM labelled l INDEXED BY labelled_by_item JOIN filters f ON f.id = l.filter
	WHERE l.item = c.item AND l.filter = c.filter AND l.label <> f.label)`

// Act implements reading.Filters. Programs learn of it as of any other mark.
func (s pen) Act(at time.Time, id reading.FilterID, items []reading.ItemID) (acted int) {
	f := catcher{id: id, person: s.person}
	if !s.row(`SELECT rule, place FROM filters WHERE id = ? AND person = ? AND NOT gone`,
		[]any{id, s.person}, &f.rule, &f.place) {
		return 0
	}
	m, ok := onPast(f.rule, at)
	if !ok {
		return 0
	}
	const caught = ` AND m.item IN (SELECT item FROM caught c
		WHERE filter = ? AND item IN (SELECT value FROM json_each(?)) AND (did = '' OR did = 'label' AND ` + labelledElse + `))`
	of := []any{s.person, id, jsonNumbers(items), s.person, string(f.rule)}
	found := load(&s.writer, single[reading.ItemID],
		`SELECT m.item FROM `+ofItems(`items i NOT INDEXED`)+caught+` AND `+noneActed+` AND `+m.where, of...)
	if f.rule == reading.RuleLabel && len(found) > 0 {
		found = s.labelBy(id, found...)
	}
	if len(found) == 0 {
		return 0
	}
	if m.set != "" {
		s.change(at, m, len(found), ofItems(`items i NOT INDEXED`)+` AND m.item IN (SELECT value FROM json_each(?))`,
			s.person, jsonNumbers(found))
	}
	s.write(`UPDATE caught SET did = ?, acted = ? WHERE filter = ? AND item IN (SELECT value FROM json_each(?))`,
		string(f.rule), at.Unix(), id, jsonNumbers(found))
	return len(found)
}

// TakeBack implements reading.Filters.
func (s pen) TakeBack(at time.Time, id reading.FilterID, moment time.Time, limit int) (more bool) {
	if !s.row(`SELECT 1 FROM filters WHERE id = ? AND person = ?`, []any{id, s.person}, new(int)) {
		return false
	}
	type deed struct {
		item int64
		did  reading.Rule
	}
	deeds := load(&s.writer, by(func(d *deed) []any { return []any{&d.item, &d.did} }),
		`SELECT item, did FROM caught INDEXED BY caught_acted WHERE filter = ?1 AND did <> '' AND (?2 IS NULL OR acted = ?2)
			LIMIT ?3`, id, seconds(&moment), limit)
	undone := map[reading.Rule]string{reading.RuleMute: `listed = 1, read = 0`, reading.RuleRead: `read = 0`,
		reading.RuleStar: `starred = 0`}
	for _, d := range deeds {
		switch d.did {
		case reading.RuleFull:
			s.takeBackFullText(at, d.item)
		case reading.RuleLabel:
			s.write(`DELETE FROM labelled WHERE item = ? AND filter = ?`, d.item, id)
		default:
			s.write(`UPDATE marks AS m SET `+undone[d.did]+`, marked = ?1 WHERE person = ?2 AND item = ?3
				AND coalesce(marked, 0) <= (SELECT acted FROM caught WHERE filter = ?4 AND item = ?3)`, at.Unix(),
				s.person, d.item, id)
		}
		s.write(`UPDATE caught SET did = '', acted = NULL WHERE filter = ? AND item = ?`, id, d.item)
	}
	return len(deeds) == limit && s.err == nil
}

// takeBackFullText has an item read as its feed has it, unless full texts are wanted of all that the feed publishes.
func (s *Store) takeBackFullText(at time.Time, item int64) {
	if s.row(`SELECT 1 FROM items i JOIN feeds f ON f.id = i.feed WHERE i.id = ? AND f.full_from IS NULL`, []any{item},
		new(int)) {
		s.ShowFullText(at, reading.ItemID(item), false)
	}
}

// RulesOn implements reading.FilterList.
func (r personalReader) RulesOn(ctx context.Context, at time.Time,
	items []reading.ItemID) (map[reading.Rule]int, error) {
	counts, sums := make(map[reading.Rule]int), ``
	var rules []reading.Rule
	var args []any
	for _, rule := range reading.Rules() {
		if m, ok := onPast(rule, at); ok {
			rules = append(rules, rule)
			sums += `, coalesce(sum(` + m.where + ` AND ` + noneActed + `), 0)`
			args = append(args, r.person, string(rule))
		}
	}
	_, err := first(ctx, r.Reader, func(row rowScanner) (_ struct{}, err error) {
		numbers, to := make([]int, len(rules)), make([]any, len(rules))
		for i := range numbers {
			to[i] = &numbers[i]
		}
		err = scan(row, to...)
		for i, rule := range rules {
			counts[rule] = numbers[i]
		}
		return struct{}{}, err
	}, `SELECT `+sums[2:]+` FROM `+ofItems(`items i NOT INDEXED`)+` AND m.item IN (SELECT value FROM json_each(?))`,
		append(args, r.person, jsonNumbers(items))...)
	return counts, err
}
