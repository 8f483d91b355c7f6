package archivetest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// What is over the limits of a feed goes, the oldest first, but for what is starred and the latest.
func testOverTheLimitOfAFeed(t *testing.T, open func(t testing.TB) reading.Database) {
	long := strings.Repeat("x", 1000)
	record := func(n int) archive.Record {
		r := feedRecord(news, n)
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
			follow(t, a, time.Unix(1, 0), news, otherNews)
			keep(t, a, feedRecords(otherNews, 1, 9)...)
			// Entry 599 arrived at 599 and so on; -1 is of 600, -2 of 300, -3 of 100.
			a.Keep([]archive.Record{record(598), record(599), record(700), record(800), record(900)})
			a.Fill(now, []archive.Record{record(650), record(300), record(100)})
			commit(t, a)
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
			commit(t, a)
			purgeAll(t, a, now, archive.Retention{})
			var want []int64
			for _, seq := range test.want {
				want = append(want, bySeq(seq))
			}
			var got []int64
			for _, r := range slices.Backward(search(t, a, feed.Filter{Feed: news})) {
				got = append(got, r.Seq)
			}
			if !slices.Equal(got, want) {
				t.Errorf("left are %v, want %v", got, want)
			}
			if got := search(t, a, feed.Filter{Feed: otherNews}); len(got) != 9 {
				t.Errorf("%d entries are left of the other feed", len(got))
			}
			if last, err := a.LastPurge(t.Context()); err != nil || last.Entries != int64(8-len(want)) ||
				last.At.Equal(now) != (last.Entries > 0) || (last.Bytes > 0) != (last.Entries > 0) {
				t.Errorf("the last purge is %+v, %v", last, err)
			}
		})
	}
}

// starSeq stars an entry.
func starSeq(t *testing.T, a reading.Database, seq int64) {
	t.Helper()
	for _, r := range search(t, a, feed.Filter{Limit: math.MaxInt}) {
		if r.Seq != seq {
			continue
		}
		if _, item, _, err := a.Entry(t.Context(), r.ID); err == nil && item.ID != 0 {
			a.Mark(markedAt, []reading.ItemID{item.ID}, reading.Mark{Starred: reading.Yes})
			commit(t, a)
			return
		}
	}
	t.Fatalf("entry %d is no item", seq)
}

// purgeAll purges what is beyond what is kept.
func purgeAll(t *testing.T, a reading.Database, now time.Time, keep archive.Retention) {
	t.Helper()
	for {
		ids, err := a.OverLimit(t.Context(), now, keep)
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
		commit(t, a)
	}
}

// What is kept of a feed is shown where it is counted, and each limit changes by itself.
func testLimits(t *testing.T, a reading.Database) {
	follow(t, a, time.Unix(1, 0), news, otherNews)
	bytes, age, count, none := int64(5000), 36*time.Hour, int64(7), int64(0)
	a.SetLimits(news, &bytes, &age, &count)
	a.SetLimits(news, nil, nil, &none)
	a.SetLimits("https://nobody.example.org/", &bytes, nil, nil)
	follow(t, a, time.Unix(2, 0), news) // leaves them alone
	list, err := a.FeedLimits(t.Context())
	if want := (archive.Limits{Bytes: 5000, Age: 36 * time.Hour}); err != nil || len(list) != 1 ||
		list[0].URL != news || list[0].Limits != want {
		t.Errorf("bounds are %+v, %v", list, err)
	}
	feeds, err := a.FeedStats(t.Context())
	if err != nil || len(feeds) != 2 {
		t.Fatalf("%+v, %v", feeds, err)
	}
	for _, f := range feeds {
		if f.URL == news && (f.KeepBytes != 5000 || f.KeepAge != 36*3600 || f.KeepCount != 0) || f.URL != news &&
			f.KeepBytes+f.KeepAge+f.KeepCount != 0 {
			t.Errorf("%+v", f)
		}
	}
}

// A feed that takes the place of a page has its limits, but for those that the owner set for the feed itself.
func testInheritLimits(t *testing.T, a reading.Database) {
	bytes, age, count, own := int64(1000), time.Hour, int64(7), int64(8)
	follow(t, a, time.Unix(1, 0), news, otherNews)
	a.SetLimits(otherNews, &bytes, &age, &count)
	a.SetLimits(news, nil, nil, &own)
	a.Inherit(news, otherNews)
	commit(t, a)
	want := archive.FeedLimits{URL: news, Limits: archive.Limits{Bytes: bytes, Age: age, Count: own}}
	if list, err := a.FeedLimits(t.Context()); err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("limits are %+v, %v", list, err)
	}
}
