package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// purgeAll purges what is beyond what is kept, as a node does, and returns how many entries that were.
func purgeAll(t rapid.TB, s *Store, now time.Time, keep archive.Retention) (n int) {
	t.Helper()
	for {
		ids, err := s.OverLimit(context.Background(), now, keep)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			untidy, err := s.Untidy(context.Background(), keep)
			if err != nil {
				t.Fatal(err)
			}
			if !untidy {
				return n
			}
			for dead := int64(-1); ; {
				dead = s.compact(dead)
				if err := s.Commit(); err != nil {
					t.Fatal(err)
				}
				if dead < 0 {
					break
				}
			}
			continue
		}
		for i, dropped := range s.Purge(now, ids) {
			if !dropped {
				t.Fatalf("%s may be purged, and was not", ids[i])
			}
			n++
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = s.Tidy(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// left is what is there of a feed, or of all, in order of seq.
func left(t rapid.TB, s *Store, u feed.URL) (records []archive.Record) {
	t.Helper()
	found, err := s.Search(context.Background(), feed.Filter{Feed: u, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(found)
	return found
}

// wantWhole verifies the archive as another process would: the full-text index of a connection that has searched before
// looks damaged to SQLite's own check once another connection has merged it.
func wantWhole(t rapid.TB, s *Store) {
	t.Helper()
	r, err := OpenReader(s.path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Verify(context.Background(), func(int64) {}, func(problem string) { t.Errorf("verify: %s", problem) })
	if err != nil {
		t.Fatal(err)
	}
}

// seqsIn are the Seqs of records.
func seqsIn(records []archive.Record) (seqs []int64) {
	for i := range records {
		seqs = append(seqs, records[i].Seq)
	}
	return seqs
}

// starSeq stars an entry.
func starSeq(t rapid.TB, s *Store, seq int64) {
	t.Helper()
	var id reading.ItemID
	if !s.row(`SELECT id FROM items WHERE seq = ?`, []any{seq}, &id) {
		t.Fatalf("entry %d is no item", seq)
	}
	s.Mark(time.Unix(1, 0), []reading.ItemID{id}, reading.Mark{Starred: reading.Yes})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What neighbors brought of feeds that the owner never followed is bounded, and so is what is one neighbor's word
// alone. What is more goes first what nobody confirmed.
func TestHearsayOverTheLimit(t *testing.T) {
	s := newStore(t)
	text := strings.Repeat("0123456789", 100)
	const each = 1000 + 512 // as each counts, about
	record := func(u feed.URL, n int, confirmed bool) archive.Record {
		r := archive.NewRecord(feed.Entry{Feed: u, ID: fmt.Sprint(n), Content: text}, time.Unix(int64(n), 0), aNeighbor)
		r.Confirmed = confirmed
		return r
	}
	const relayed, cover, once = feed.URL("https://relayed.example.org/"), feed.URL("https://cover.example.org/"),
		feed.URL("https://once.example.org/")
	follow(t, s, time.Unix(1, 0), news, once)
	s.KeepFeed(archive.Feed{URL: once, Since: time.Unix(1, 0)}) // no more
	s.KeepFeed(archive.Feed{URL: cover, Cover: true})
	var polled []feed.EntryID
	for n := range 300 {
		for _, u := range []feed.URL{news, once, relayed, cover} {
			s.Keep([]archive.Record{record(u, n, n%2 == 0)})
			if n%3 == 0 && u == news {
				polled = append(polled, record(u, n, false).ID)
			}
		}
	}
	s.MarkPolled(time.Unix(1000, 0), polled)
	s.Fill(time.Unix(1, 0), []archive.Record{record(relayed, 5000, false)}) // the owner fetched it
	mustCommit(t, s)
	// 100 of news are shown, of the rest 100 are confirmed; so are 150 of once. Of both feeds 250 are not, and of the
	// others 300 are and 300 are not: 850 are bounded.
	for _, test := range []struct {
		bound             int64
		news, once        int // that are left
		confirmed, nobody int // of the two others
	}{
		{850 * 2 * each, 300, 300, 300, 300},
		{450 * each, 0, 0, 300, 0}, // of these 150 that nobody confirmed, the latest
		{200 * each, 200, 150, 200, 0},
	} {
		purgeAll(t, s, time.Unix(1e9, 0), archive.Retention{Relayed: test.bound})
		a, b := left(t, s, news), left(t, s, once)
		others := append(left(t, s, relayed), left(t, s, cover)...)
		confirmed, nobody := 0, -1 // but for the one that was fetched
		for _, r := range others {
			if r.Confirmed {
				confirmed++
			} else {
				nobody++
			}
		}
		switch {
		case test.news > 0 && (len(a) != test.news || len(b) != test.once):
			t.Errorf("%d: %d and %d entries are left of feeds that are or were followed, want %d and %d", test.bound,
				len(a), len(b), test.news, test.once)
		case test.nobody > 0 && nobody != test.nobody, confirmed < test.confirmed*9/10 || confirmed > test.confirmed:
			t.Errorf("%d: %d that are confirmed are left of others, want %d, and %d that are not", test.bound,
				confirmed, test.confirmed, nobody)
		}
		if test.news == 0 {
			unconfirmed := nobody
			for _, r := range append(a, b...) {
				if !r.Confirmed {
					unconfirmed++
				}
				if !r.Confirmed && r.Entry.ID < "180" && len(r.Entry.ID) == 3 && !slices.Contains(polled, r.ID) {
					t.Errorf("%s of %s stays and is old", r.Entry.ID, r.Entry.Feed)
				}
			}
			if unconfirmed < 130 || unconfirmed > 150 {
				t.Errorf("%d entries are left that nobody confirmed", unconfirmed)
			}
		}
	}
	if got := left(t, s, relayed); len(got) == 0 || got[0].Seq != -1 {
		t.Error("what the owner fetched is gone")
	}
	// Where the disk is short of room all of it may go, and nothing else does.
	for short := true; short; {
		ids, err := s.OverLimit(t.Context(), time.Unix(1e9, 0), archive.Retention{Short: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		s.Purge(time.Unix(1e9, 0), ids)
		mustCommit(t, s)
		short = len(ids) > 0
	}
	if a, b, c, d := left(t, s, news), left(t, s, once), left(t, s, relayed), left(t, s, cover); len(a) != 200 ||
		len(b) != 150 || len(c) != 1 || len(d) != 0 {
		t.Errorf("left are %d, %d, %d and %d", len(a), len(b), len(c), len(d))
	}
	wantWhole(t, s)
}

// Nothing that an own poll has shown goes because of what neighbors bring: what is left of it is what would be left if
// they had brought nothing, whatever the limits are and whatever was confirmed. Of theirs there is never more than an
// eighth of a limit beside it, and what goes of it is what the least is known of.
func TestNothingShownGoesForWhatNeighborsBring(t *testing.T) {
	alone(t)
	dir, opened := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		open := func() *Store {
			opened++
			path := filepath.Join(dir, fmt.Sprint(opened, ".db"))
			copyEmpty(t, path)
			s, err := Open(path, Config{})
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		alone, among := open(), open()
		defer alone.Close()
		defer among.Close()
		both := []*Store{alone, among}
		feeds := []feed.URL{"https://a.example.org/", "https://b.example.org/"}
		for _, s := range both {
			s.KeepFeed(archive.Feed{URL: feeds[0], Subscribed: true, Since: time.Unix(1, 0)})
			s.KeepFeed(archive.Feed{URL: feeds[1], Since: time.Unix(1, 0)})
		}
		count := rapid.IntRange(1, 60).Draw(rt, "entries")
		shown := make(map[feed.EntryID]bool)
		for n := range count {
			e := feed.Entry{Feed: rapid.SampledFrom(feeds).Draw(rt, "feed"), ID: fmt.Sprint(n),
				Title: strings.Repeat("word ", rapid.IntRange(0, 9).Draw(rt, "words"))}
			r := archive.NewRecord(e, time.Unix(int64(n), 0), protocol.NodeID{})
			switch kind := rapid.IntRange(0, 4).Draw(rt, "kind"); kind {
			case 0, 1: // an own poll brought it, or listed it later
				r.Confirmed = kind == 0 && rapid.Bool().Draw(rt, "confirmed")
				if kind == 1 {
					r.Source = aNeighbor
				}
				shown[r.ID] = true
				for _, s := range both {
					s.Keep([]archive.Record{r})
					s.MarkPolled(time.Unix(100, 0), []feed.EntryID{r.ID})
				}
			case 2:
				r.Source = aNeighbor
				among.Fill(time.Unix(100, 0), []archive.Record{r})
			default:
				r.Source, r.Confirmed = aNeighbor, kind == 3
				among.Keep([]archive.Record{r})
			}
		}
		draw := func(name string) archive.Limits {
			b := archive.Limits{Count: int64(rapid.IntRange(0, 20).Draw(rt, name+" count"))}
			if rapid.Bool().Draw(rt, name+" has age") {
				b.Age = time.Duration(rapid.IntRange(1, 100).Draw(rt, name+" age")) * time.Second
			}
			return b
		}
		keep, own := archive.Retention{All: draw("all")}, draw("own")
		own.Bytes = int64(rapid.IntRange(0, 400).Draw(rt, "bytes"))
		if rapid.Bool().Draw(rt, "relayed") {
			keep.Relayed = int64(rapid.IntRange(1, 20_000).Draw(rt, "relayed bytes"))
		}
		for _, s := range both {
			s.SetLimits(feeds[0], &own.Bytes, &own.Age, &own.Count)
			if err := s.Commit(); err != nil {
				rt.Fatal(err)
			}
			purgeAll(rt, s, time.Unix(int64(count), 0), keep)
		}
		ids := func(s *Store) (list []string, others []archive.Record) {
			for _, r := range left(rt, s, "") {
				if shown[r.ID] {
					list = append(list, r.Entry.ID)
				} else {
					others = append(others, r)
				}
			}
			slices.Sort(list)
			return list, others
		}
		want, _ := ids(alone)
		got, others := ids(among)
		if !slices.Equal(got, want) {
			rt.Fatalf("left of what own polls have shown are %v, and %v where neighbors brought nothing", got, want)
		}
		// and one that may not go
		if n := int64(len(others)); keep.All.Count > 0 &&
			n > max((keep.All.Count+7)/8, keep.All.Count-int64(len(got)))+1 {
			rt.Fatalf("%d entries that no poll has shown are left beside %d, within a bound of %d", n, len(got),
				keep.All.Count)
		}
	})
}

// usedIndexed is how many bytes are used when everything is indexed.
func usedIndexed(t *testing.T, s *Store) int64 {
	t.Helper()
	for left := 1; left > 0; {
		var err error
		if left, err = s.Index(500); err != nil {
			t.Fatal(err)
		}
	}
	used, err := s.used(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// A flood of what nobody has confirmed fills the disk's share for it and no more; all that own polls have shown stays.
// And what it takes is what a limit counts, so that it gets no larger than it may be.
func TestFloodOnABoundedDisk(t *testing.T) {
	alone(t)
	s := newStore(t)
	c := newCorpus()
	own := c.records(1500)
	keep(t, s, own...)
	r := rand.New(rand.NewPCG(1, 2))
	bound := usedIndexed(t, s) * 8 / 6 // an eighth for others, and an eighth is free
	for round := range 3 {
		for range 10 {
			var flood []archive.Record
			for range 20 {
				e := feed.Entry{Feed: own[0].Entry.Feed, ID: fmt.Sprint(r.Uint64()),
					Summary: words(r, 3000, 'a', 26, 2)}
				flood = append(flood, archive.NewRecord(e, time.Unix(1e9, 0), aNeighbor))
			}
			keep(t, s, flood...)
		}
		before := usedIndexed(t, s)
		purgeAll(t, s, time.Unix(2e9, 0), archive.Retention{All: archive.Limits{Bytes: bound}})
		after := usedIndexed(t, s)
		there := make(map[feed.EntryID]bool)
		for _, r := range left(t, s, "") {
			there[r.ID] = true
		}
		for i := range own {
			if !there[own[i].ID] {
				t.Fatalf("round %d: entry %d of an own poll is gone; %d bytes are used of %d, bound %d", round, i,
					after, before, bound)
			}
		}
		if after > bound {
			t.Errorf("round %d: %d bytes are used of %d, after %d", round, after, bound, before)
		}
	}
}

// The file gets no larger than it may be, once what is free is given back; not much more is purged than must be.
func TestOverTheLimitOnDisk(t *testing.T) {
	alone(t)
	s := newStore(t)
	c := newCorpus()
	keep(t, s, c.records(6000)...)
	before := usedIndexed(t, s)
	bound := before / 2
	n := purgeAll(t, s, time.Unix(1, 0), archive.Retention{All: archive.Limits{Bytes: bound}})
	after := usedIndexed(t, s)
	if after > bound || after < bound*7/10 {
		t.Errorf("%d bytes are used of %d; want at most %d and not much less", after, before, bound)
	}
	if records := left(t, s, ""); len(records) != 6000-n || records[0].Seq != int64(n+1) {
		t.Errorf("%d entries are left of 6000 after %d were purged", len(records), n)
	}
	wantWhole(t, s)
	t.Logf("%d of 6000 entries purged, %d bytes used of %d", n, after, before)

	// Where it cannot be so small nothing is left but what may not be purged.
	follow(t, s, time.Unix(1, 0), left(t, s, "")[0].Entry.Feed)
	purgeAll(t, s, time.Unix(1, 0), archive.Retention{All: archive.Limits{Bytes: 1}})
	if records := left(t, s, ""); len(records) != 1 {
		t.Errorf("%d entries are left, want the latest of the feed that is followed", len(records))
	}
	wantWhole(t, s)
}

// Whatever an archive holds and its owner wants: what is left keeps to the limits but for what may not be purged, the
// latest are left, and nothing that was purged comes back.
func TestRetentionProperties(t *testing.T) {
	alone(t)
	dir, opened := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		opened++
		path := filepath.Join(dir, fmt.Sprint(opened, ".db"))
		copyEmpty(t, path)
		s, err := Open(path, Config{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		feeds := []feed.URL{"https://a.example.org/", "https://b.example.org/", "https://c.example.org/"}
		followed := make(map[feed.URL]bool)
		for _, u := range feeds {
			if followed[u] = rapid.Bool().Draw(rt, "followed"); followed[u] {
				s.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: time.Unix(1, 0)})
			}
		}
		now, all, starred := 0, []archive.Record(nil), make(map[feed.EntryID]bool)
		for range rapid.IntRange(1, 8).Draw(rt, "batches") {
			now += rapid.IntRange(0, 10).Draw(rt, "later")
			var batch []archive.Record
			for range rapid.IntRange(1, 5).Draw(rt, "entries") {
				e := feed.Entry{Feed: rapid.SampledFrom(feeds).Draw(rt, "feed"), ID: fmt.Sprint(len(all) + len(batch)),
					Title:     "word",
					Published: time.Unix(int64(rapid.IntRange(0, now).Draw(rt, "published")), 0)}
				batch = append(batch, archive.NewRecord(e, time.Unix(int64(now), 0), protocol.NodeID{}))
			}
			if rapid.Bool().Draw(rt, "past") {
				s.Fill(time.Unix(int64(now), 0), batch)
			} else {
				s.Keep(batch)
			}
			all = append(all, batch...)
		}
		if err := s.Commit(); err != nil {
			rt.Fatal(err)
		}
		for _, r := range left(rt, s, "") {
			if followed[r.Entry.Feed] && rapid.IntRange(0, 4).Draw(rt, "star") == 0 {
				starSeq(rt, s, r.Seq)
				starred[r.ID] = true
			}
		}
		bounds := func(name string) archive.Limits {
			return archive.Limits{Count: int64(rapid.IntRange(0, 6).Draw(rt, name+" count")),
				Age: time.Duration(rapid.IntRange(0, now).Draw(rt, name+" age")) * time.Second}
		}
		before := left(rt, s, "")
		keep, own := archive.Retention{All: bounds("all")}, make(map[feed.URL]archive.Limits)
		for _, u := range feeds {
			b := bounds("feed")
			own[u] = b
			s.SetLimits(u, nil, &b.Age, &b.Count)
		}
		if err := s.Commit(); err != nil {
			rt.Fatal(err)
		}
		if _, err := s.Index(rapid.IntRange(0, 20).Draw(rt, "indexed")); err != nil {
			rt.Fatal(err)
		}
		purgeAll(rt, s, time.Unix(int64(now), 0), keep)

		check := func() {
			rest := left(rt, s, "")
			there := make(map[feed.EntryID]bool)
			for _, r := range rest {
				there[r.ID] = true
			}
			latest, count, total := make(map[feed.URL]int64), make(map[feed.URL]int64), int64(0)
			for i := len(before) - 1; i >= 0; i-- { // from the latest on
				r := &before[i]
				u := r.Entry.Feed
				if latest[u] == 0 {
					latest[u] = r.Seq
				}
				protected := starred[r.ID] || followed[u] && latest[u] == r.Seq
				at := r.Seen
				if r.Seq < 0 {
					at = r.Time()
				}
				age := time.Unix(int64(now), 0).Sub(at)
				old := func(b archive.Limits) bool { return b.Age > 0 && age > b.Age }
				beyond := old(own[u])
				if !beyond || protected {
					beyond = beyond || own[u].Count > 0 && count[u] >= own[u].Count
					count[u]++
				}
				if !beyond || protected {
					beyond = beyond || old(keep.All)
					if !beyond || protected {
						beyond = beyond || keep.All.Count > 0 && total >= keep.All.Count
						total++
					}
				}
				if there[r.ID] == beyond && !protected || protected && !there[r.ID] {
					rt.Fatalf("entry %d of %s: there %v, beyond the bounds %v, protected %v", r.Seq, u, there[r.ID],
						beyond, protected)
				}
			}
		}
		check()
		rest := seqsIn(left(rt, s, ""))
		for _, r := range all {
			s.Keep([]archive.Record{r})
			if s.Fill(time.Unix(int64(now), 0), []archive.Record{r})[0] {
				rt.Fatalf("%s was filled in", r.Entry.ID)
			}
		}
		if err := s.Commit(); err != nil {
			rt.Fatal(err)
		}
		if got := seqsIn(left(rt, s, "")); !slices.Equal(got, rest) {
			rt.Fatalf("there are %v, before all came again %v", got, rest)
		}
		wantWhole(rt, s)
	})
}

// words is text of words with so many characters, drawn from an alphabet of so many that begins at first.
func words(r *rand.Rand, bytes int, first rune, alphabet, characters int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteByte(' ')
		for range characters {
			b.WriteRune(first + rune(r.IntN(alphabet)))
		}
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

// aNeighbor is one that brings something.
var aNeighbor = protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 7790)

// An entry takes no more room on disk than archive.Room says, index and items included, whatever its words are.
func TestRoomIsEnough(t *testing.T) {
	alone(t)
	const u = feed.URL("https://example.com/feed")
	for _, c := range []struct{ size, entries int }{{0, 500}, {100, 500}, {600, 400}, {3000, 150}, {64 << 10, 12},
		{300 << 10, 5}} {
		for _, text := range []struct {
			name       string
			first      rune
			characters int
			alphabet   int
		}{{"short words", 'a', 2, 26}, {"words", 'a', 5, 26}, {"Han", 0x4e00, 2, 20_000},
			{"Hangul", 0xac00, 1, 11_172}} {
			s := newStore(t)
			s.KeepFeed(archive.Feed{URL: u, Subscribed: true})
			mustCommit(t, s)
			empty, err := s.used(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, room := rand.New(rand.NewPCG(1, 2)), int64(0)
			for i := range c.entries {
				e := feed.Entry{Feed: u, ID: fmt.Sprint(i),
					Summary: words(r, c.size, text.first, text.alphabet, text.characters)}
				room += archive.Room(archive.TextBytes(&e))
				s.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), aNeighbor)})
				if i%50 == 0 {
					mustCommit(t, s)
				}
			}
			mustCommit(t, s)
			for left := 1; left > 0; {
				if left, err = s.Index(20); err != nil {
					t.Fatal(err)
				}
			}
			for more := true; more; {
				if more, err = s.Tidy(); err != nil {
					t.Fatal(err)
				}
			}
			full, err := s.used(t.Context())
			if taken := full - empty; err != nil || taken > room {
				t.Errorf("%d entries with %d bytes of %s take %d bytes, more than %d (%v)", c.entries, c.size,
					text.name, taken, room, err)
			} else if taken < room/6 {
				t.Errorf("%d entries with %d bytes of %s take %d bytes, far less than %d", c.entries, c.size,
					text.name, taken, room)
			}
		}
	}
}

// What the archive counts of an entry is what archive.TextBytes says, as far as it is not quoted in JSON.
func TestSizeOfAnEntry(t *testing.T) {
	s := newStore(t)
	full := feed.Entry{
		Feed: "https://example.com/feed", ID: "é", Title: "日本語", Link: "https://example.com/1", Summary: "<p>",
		Content: strings.Repeat("x", 5000),
		Authors: []string{"Ann <a@example.com>", `"Q" & \`}, Categories: []string{"", "\u2028"},
		Enclosures: []feed.Enclosure{{URL: "https://example.com/a.mp3?a=1&b=2", Type: "audio/mpeg", Length: 1 << 62}},
	}
	for i, e := range []feed.Entry{full, {Feed: full.Feed, Title: "only this"}} {
		keep(t, s, archive.NewRecord(e, time.Unix(1, 0), aNeighbor))
		var size int64
		if err := s.conn.QueryRowContext(t.Context(), `SELECT size FROM entries WHERE seq = ?`,
			i+1).Scan(&size); err != nil {
			t.Fatal(err)
		}
		if most := archive.TextBytes(&e); size > most || size < most-300 || i == 1 && size != most {
			t.Errorf("%+v: %d bytes, at most %d", e.Title, size, most)
		}
	}
}
