package archivetest

import (
	"context"
	"fmt"
	"math"
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

// Entries over the limits of a feed go, the oldest first, but for those that are starred and the latest.
func testOverTheLimitOfAFeed(t *testing.T, open func(t testing.TB) reading.Database) {
	long := strings.Repeat("x", 1000)
	record := func(n int) archive.Record {
		r := FeedRecord(news, n)
		r.Entry.Content = long
		r.Digest = r.Entry.Digest()
		return r
	}
	now := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		archive.Limits
		star int64 // the seq of an entry
		want []int64
	}{
		"none":                {want: []int64{-3, -2, -1, 1, 2, 3, 4, 5}},
		"count":               {Limits: archive.Limits{Count: 2}, want: []int64{4, 5}},
		"count, filled first": {Limits: archive.Limits{Count: 6}, want: []int64{-1, 1, 2, 3, 4, 5}},
		"count and a star":    {Limits: archive.Limits{Count: 2}, star: -2, want: []int64{-2, 4, 5}},
		"count of more":       {Limits: archive.Limits{Count: 8}, want: []int64{-3, -2, -1, 1, 2, 3, 4, 5}},
		"bytes":               {Limits: archive.Limits{Bytes: 3500}, want: []int64{3, 4, 5}},
		"bytes for none":      {Limits: archive.Limits{Bytes: 1}, want: []int64{5}}, // the latest stays
		"age":                 {Limits: archive.Limits{Age: 400 * time.Second}, want: []int64{-1, 3, 4, 5}},
		"age to the second":   {Limits: archive.Limits{Age: 401 * time.Second}, want: []int64{-1, 2, 3, 4, 5}},
		"all too old":         {Limits: archive.Limits{Age: time.Second}, star: 1, want: []int64{1, 5}},
		"the strictest": {Limits: archive.Limits{Age: 400 * time.Second, Count: 3, Bytes: 2500},
			want: []int64{4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			Follow(t, a, time.Unix(1, 0), news, otherNews)
			Keep(t, a, FeedRecords(otherNews, 1, 9)...)
			// Entry 599 arrived at 599 and so on; -1 is of 600, -2 of 300, -3 of 100.
			a.Keep([]archive.Record{record(598), record(599), record(700), record(800), record(900)})
			a.Fill(now, []archive.Record{record(650), record(300), record(100)})
			Commit(t, a)
			// The other feed took the first seqs.
			bySeq := func(seq int64) int64 {
				if seq > 0 {
					return seq + 9
				}
				return seq
			}
			if test.star != 0 {
				starSeq(t, a, bySeq(test.star))
			}
			a.SetLimits(news, &test.Bytes, &test.Age, &test.Count)
			Commit(t, a)
			purgeAll(t, a, now, archive.Retention{})
			var want []int64
			for _, seq := range test.want {
				want = append(want, bySeq(seq))
			}
			if got := seqsIn(Left(t, a, news)); !slices.Equal(got, want) {
				t.Errorf("left are %v, want %v", got, want)
			}
			if got := Left(t, a, otherNews); len(got) != 9 {
				t.Errorf("%d entries are left of the other feed", len(got))
			}
			if last, err := a.LastPurge(t.Context()); err != nil || last.Entries != int64(8-len(want)) ||
				last.At.Equal(now) != (last.Entries > 0) || (last.Bytes > 0) != (last.Entries > 0) {
				t.Errorf("the last purge is %+v, %v", last, err)
			}
		})
	}
}

// What came while the clock was ahead goes with what came after it, and holds nothing up.
func testAgeByAClockThatWasAhead(t *testing.T, a reading.Database) {
	Follow(t, a, time.Unix(1, 0), news)
	for _, arrived := range [][2]int{{1, 3}, {5001, 5004}, {4, 6}, {900, 901}, {5005, 5005}} {
		Keep(t, a, FeedRecords(news, arrived[0], arrived[1])...)
	}
	purgeAll(t, a, time.Unix(1000, 0), archive.Retention{All: archive.Limits{Age: 500 * time.Second}})
	if got := seqsIn(Left(t, a, news)); !slices.Equal(got, []int64{11, 12, 13}) {
		t.Errorf("left are %v, want those that came last", got)
	}
}

// Left are the entries that are there of a feed, or of all, in order of seq.
func Left(t rapid.TB, a archive.Searcher, u feed.URL) []archive.Record {
	t.Helper()
	found, err := a.Search(context.Background(), feed.Filter{Feed: u, Limit: math.MaxInt})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(found)
	return found
}

// seqsIn are the Seqs of records.
func seqsIn(records []archive.Record) (seqs []int64) {
	for i := range records {
		seqs = append(seqs, records[i].Seq)
	}
	return seqs
}

// starSeq stars an entry.
func starSeq(t rapid.TB, a reading.Database, seq int64) {
	t.Helper()
	for _, r := range Left(t, a, "") {
		if r.Seq != seq {
			continue
		}
		if _, item, _, err := a.Shelf(reading.Owner).Entry(context.Background(), r.ID); err == nil && item.ID != 0 {
			a.Pen(reading.Owner).Mark(MarkedAt, []reading.ItemID{item.ID}, reading.Mark{Starred: reading.Yes})
			if err := a.Commit(); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("entry %d is no item", seq)
}

// purgeAll purges what is beyond what is kept.
func purgeAll(t rapid.TB, a reading.Database, now time.Time, keep archive.Retention) {
	t.Helper()
	for {
		ids, err := a.OverLimit(context.Background(), now, keep)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			return
		}
		for i, dropped := range a.Purge(now, ids) {
			if !dropped {
				t.Fatalf("%s may be purged, and was not", ids[i])
			}
		}
		if err := a.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// Entries that neighbors brought of feeds that the owner never followed are bounded, and so are those that are one
// neighbor's word alone. Of the excess, entries that nobody confirmed go first.
func testHearsayOverTheLimit(t *testing.T, s reading.Database) {
	text := strings.Repeat("0123456789", 100)
	const each = 1000 + 512 // as each counts, about
	brought := func(u feed.URL, n int, confirmed bool) archive.Record {
		e := feed.Entry{Feed: u, ID: fmt.Sprint(n), Content: text}
		r := archive.NewRecord(e, time.Unix(int64(n), 0), someNeighbor)
		r.Confirmed = confirmed
		return r
	}
	const relayed, volunteered = feed.URL("https://relayed.example.org/"), feed.URL("https://volunteer.example.org/")
	const once = feed.URL("https://once.example.org/")
	Follow(t, s, time.Unix(1, 0), news, once)
	s.KeepFeed(archive.Feed{URL: once, Since: time.Unix(1, 0)}) // no more
	s.KeepFeed(archive.Feed{URL: volunteered, Volunteering: archive.Volunteering{Volunteered: time.Unix(1, 0)}})
	var polled []feed.EntryID
	for n := range 300 {
		for _, u := range []feed.URL{news, once, relayed, volunteered} {
			s.Keep([]archive.Record{brought(u, n, n%2 == 0)})
			if n%3 == 0 && u == news {
				polled = append(polled, brought(u, n, false).ID)
			}
		}
	}
	s.MarkPolled(time.Unix(1000, 0), polled)
	s.Fill(time.Unix(1, 0), []archive.Record{brought(relayed, 5000, false)}) // the owner fetched it
	Commit(t, s)
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
		a, b := Left(t, s, news), Left(t, s, once)
		others := append(Left(t, s, relayed), Left(t, s, volunteered)...)
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
	if got := Left(t, s, relayed); len(got) == 0 || got[0].Seq != -1 {
		t.Error("what the owner fetched is gone")
	}
	// Where the disk is short of room all of it may go, and nothing else does.
	for short := true; short; {
		ids, err := s.OverLimit(t.Context(), time.Unix(1e9, 0), archive.Retention{Short: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		s.Purge(time.Unix(1e9, 0), ids)
		Commit(t, s)
		short = len(ids) > 0
	}
	if a, b, c, d := Left(t, s, news), Left(t, s, once), Left(t, s, relayed), Left(t, s, volunteered); len(a) != 200 ||
		len(b) != 150 || len(c) != 1 || len(d) != 0 {
		t.Errorf("left are %d, %d, %d and %d", len(a), len(b), len(c), len(d))
	}
	wantSound(t, s)
}

// What own polls have shown of feeds that are polled for others is bounded with what neighbors brought, and goes after
// what nobody confirmed; what they show of the owner's stays.
func testPolledForOthersOverTheLimit(t *testing.T, s reading.Database) {
	const others, relayed = feed.URL("https://volunteer.example.org/"), feed.URL("https://relayed.example.org/")
	text := strings.Repeat("0123456789", 100)
	Follow(t, s, time.Unix(1, 0), news)
	s.KeepFeed(archive.Feed{URL: others, Volunteering: archive.Volunteering{Tried: time.Unix(1, 0)}})
	for n := range 300 {
		for u, source := range map[feed.URL]protocol.NodeID{news: {}, others: {}, relayed: someNeighbor} {
			e := feed.Entry{Feed: u, ID: fmt.Sprint(n), Content: text}
			s.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(n), 0), source)})
		}
	}
	Commit(t, s)
	purgeAll(t, s, time.Unix(1e9, 0), archive.Retention{Relayed: 200 * 1512})
	a, b, c := Left(t, s, news), Left(t, s, others), Left(t, s, relayed)
	if len(a) != 300 || len(b) < 190 || len(b) > 200 || len(c) != 0 {
		t.Errorf("left are %d, %d and %d", len(a), len(b), len(c))
	}
	wantSound(t, s)
}

// Nothing that an own poll has shown goes because of what neighbors bring: what is left of it is what would be left if
// they had brought nothing, whatever the limits are and whatever was confirmed. Of theirs there is never more than an
// eighth of a limit beside it, and what goes of it is what the least is known of.
func testNothingShownGoes(t *testing.T, open func(t testing.TB) reading.Database) {
	rapid.Check(t, func(rt *rapid.T) {
		alone, among := open(t), open(t)
		defer alone.Close()
		defer among.Close()
		both := []reading.Database{alone, among}
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
					r.Source = someNeighbor
				}
				shown[r.ID] = true
				for _, s := range both {
					s.Keep([]archive.Record{r})
					s.MarkPolled(time.Unix(100, 0), []feed.EntryID{r.ID})
				}
			case 2:
				r.Source = someNeighbor
				among.Fill(time.Unix(100, 0), []archive.Record{r})
			default:
				r.Source, r.Confirmed = someNeighbor, kind == 3
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
		ids := func(s reading.Database) (list []string, others []archive.Record) {
			for _, r := range Left(rt, s, "") {
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

// Whatever an archive holds and its owner wants: what is left keeps to the limits but for what may not be purged, the
// latest are left, and nothing that was purged comes back.
func testRetentionProperties(t *testing.T, open func(t testing.TB) reading.Database) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t)
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
		for _, r := range Left(rt, s, "") {
			if followed[r.Entry.Feed] && rapid.IntRange(0, 4).Draw(rt, "star") == 0 {
				starSeq(rt, s, r.Seq)
				starred[r.ID] = true
			}
		}
		bounds := func(name string) archive.Limits {
			return archive.Limits{Count: int64(rapid.IntRange(0, 6).Draw(rt, name+" count")),
				Age: time.Duration(rapid.IntRange(0, now).Draw(rt, name+" age")) * time.Second}
		}
		before := Left(rt, s, "")
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
			rest := Left(rt, s, "")
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
		rest := seqsIn(Left(rt, s, ""))
		for _, r := range all {
			s.Keep([]archive.Record{r})
			if s.Fill(time.Unix(int64(now), 0), []archive.Record{r})[0] {
				rt.Fatalf("%s was filled in", r.Entry.ID)
			}
		}
		if err := s.Commit(); err != nil {
			rt.Fatal(err)
		}
		if got := seqsIn(Left(rt, s, "")); !slices.Equal(got, rest) {
			rt.Fatalf("there are %v, before all came again %v", got, rest)
		}
		wantSound(rt, s)
	})
}
