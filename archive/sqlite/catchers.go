package sqlite

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/filter"
	"feedex/reading"
)

// catchers are the filters of all people, as entries are matched against them. They are those that the open transaction
// has, so that what is written before a Commit meets those that were kept before it; where nothing comes of the
// transaction they are forgotten, and read again.
type catchers struct {
	index filter.Index
	of    map[filter.ID]catcher
}

// A catcher is a filter of a person.
type catcher struct {
	id     reading.FilterID
	person reading.PersonID
	rule   reading.Rule
	place  int64
}

const catcherColumns = `id, person, rule, place, words`

// catch are the filters that there are.
func (s *Store) catch() *catchers {
	if s.catchers != nil {
		return s.catchers
	}
	c := &catchers{of: make(map[filter.ID]catcher)}
	type row struct {
		catcher
		words string
	}
	for _, x := range load(&s.writer, by(func(x *row) []any {
		return []any{&x.id, &x.person, &x.rule, &x.place, &x.words}
	}), `SELECT `+catcherColumns+` FROM filters WHERE NOT gone`) {
		c.put(x.catcher, x.words)
	}
	if s.err == nil {
		s.catchers = c
	}
	return c
}

// Looking implements archive.Entries.
func (s *Store) Looking() int { return s.catch().index.Len() }

// put adds a filter. Words that cannot be read, as those of a later version, catch nothing.
func (c *catchers) put(x catcher, words string) {
	m, err := feed.ParseMatch(words)
	if err == nil {
		err = c.index.Put(filter.ID(x.id), m)
	}
	if err == nil {
		c.of[filter.ID(x.id)] = x
	}
}

// change changes what there is of a filter beside its words, if it was read.
func (c *catchers) change(id reading.FilterID, do func(*catcher)) {
	if c == nil {
		return
	}
	if x, ok := c.of[filter.ID(id)]; ok {
		do(&x)
		c.of[filter.ID(id)] = x
	}
}

// An arrivedItem is an item with its entry, as filters see it.
type arrivedItem struct {
	id    reading.ItemID
	feed  int64
	entry *feed.Entry
}

// arrivals are the items behind one that were made of records that were just stored.
func (s *Store) arrivals(last int64, stored []storedPlace, records []*archive.Record) (list []arrivedItem) {
	if s.catch().index.Len() == 0 {
		return nil
	}
	at := make(map[int64]int, len(stored))
	for i := range stored {
		at[stored[i].seq] = i
	}
	type item struct{ id, seq int64 }
	for _, x := range load(&s.writer, by(func(x *item) []any { return []any{&x.id, &x.seq} }),
		`SELECT id, seq FROM items WHERE id > ? ORDER BY id`, last) {
		if i, ok := at[x.seq]; ok {
			list = append(list, arrivedItem{reading.ItemID(x.id), stored[i].feed, &records[i].Entry})
		}
	}
	return list
}

const (
	// mostGathered is how many pairs of a filter and an item are put into order before they are noted.
	mostGathered = 1 << 16
	// mostNoted is how many of them a statement notes. For as long as it takes SQLite holds every page that it changes
	// as it was, and of so many that takes as long as all else that it does.
	mostNoted = 500
)

// catchItems notes which filters catch items, and has their rules act. Pairs are noted by filter, as the table has
// them: item by item each would be on another page, of more than the cache holds.
func (s *Store) catchItems(at int64, list []arrivedItem) {
	c := s.catch()
	if c.index.Len() == 0 {
		return
	}
	type act struct {
		item   reading.ItemID
		acting []catcher
	}
	var ids []filter.ID
	var pairs []caughtPair
	var acts []act
	for i := range list {
		x := &list[i]
		var acted map[reading.PersonID]bool
		ids, acted = s.notYet(x, c.index.Match(x.entry, ids[:0]))
		for _, id := range ids {
			pairs = append(pairs, caughtPair{int64(id), int64(x.id)})
		}
		if acting := c.acting(ids, acted); len(acting) > 0 {
			acts = append(acts, act{x.id, acting})
		}
		if len(pairs) < mostGathered && i+1 < len(list) {
			continue
		}
		s.note(at, pairs)
		for _, a := range acts {
			s.actFirst(at, a.item, a.acting)
		}
		pairs, acts = pairs[:0], acts[:0]
	}
}

// A caughtPair is a filter and an item that it caught.
type caughtPair [2]int64

// note notes what filters caught.
func (s *Store) note(at int64, pairs []caughtPair) {
	slices.SortFunc(pairs, func(a, b caughtPair) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for part := range slices.Chunk(pairs, mostNoted) {
		text, _ := json.Marshal(part) // which cannot fail
		s.write(`INSERT INTO caught (filter, item, at) SELECT value ->> 0, value ->> 1, ? FROM json_each(?)`, at,
			string(text))
	}
}

// notYet are those of the filters that had not caught an item, of people who have not left out its feed. Acted are the
// people for whom a rule has acted on it that does more than label.
func (s *Store) notYet(x *arrivedItem, ids []filter.ID) (_ []filter.ID, acted map[reading.PersonID]bool) {
	had := make(map[filter.ID]bool)
	acted = make(map[reading.PersonID]bool)
	type row struct {
		filter, person int64
		acted          bool
	}
	for _, c := range load(&s.writer, by(func(r *row) []any { return []any{&r.filter, &r.person, &r.acted} }),
		`SELECT c.filter, f.person, c.did NOT IN ('', 'label') AND NOT f.gone
			FROM caught c INDEXED BY caught_by_item JOIN filters f ON f.id = c.filter WHERE c.item = ?`, x.id) {
		had[filter.ID(c.filter)] = true
		if c.acted {
			acted[reading.PersonID(c.person)] = true
		}
	}
	out := load(&s.writer, single[int64], `SELECT person FROM left_out WHERE feed = ?`, x.feed)
	return slices.DeleteFunc(ids, func(id filter.ID) bool {
		return had[id] || slices.Contains(out, int64(s.catch().of[id].person))
	}), acted
}

// edited has filters look at an entry that was replaced: those that had not caught it.
func (s *Store) edited(r *archive.Record) {
	if s.catch().index.Len() == 0 {
		return
	}
	var id, in int64
	if s.row(`SELECT i.id, i.feed FROM items i JOIN entries e ON e.seq = i.seq WHERE e.id = ?`, []any{r.ID[:]}, &id,
		&in) {
		s.catchItems(r.Seen.Unix(), []arrivedItem{{reading.ItemID(id), in, &r.Entry}})
	}
}

// mostCaughtLate is at how many entries of a feed filters look when it begins to be followed, the latest: some dozen
// milliseconds of the loop.
const mostCaughtLate = 100

// catchFollowed has filters look at the items behind one, of a feed that began to be followed then.
func (s *Store) catchFollowed(id, last int64, at time.Time) {
	if s.catch().index.Len() == 0 {
		return
	}
	late := load(&s.writer, func(row rowScanner) (x arrivedItem, err error) {
		r, err := scanRecord(row, &x.id)
		x.feed, x.entry = id, &r.Entry
		return x, err
	}, `SELECT `+recordColumns+`, i.id
		FROM items i INDEXED BY items_by_feed CROSS JOIN entries e ON e.seq = i.seq JOIN feeds f ON f.id = e.feed
		WHERE i.feed = ? AND i.id > ? ORDER BY i.id DESC LIMIT ?`, id, last, mostCaughtLate)
	s.catchItems(at.Unix(), late)
}
