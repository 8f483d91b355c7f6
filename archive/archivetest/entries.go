package archivetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

const (
	news feed.URL = "https://news.example.org/feed"
	blog feed.URL = "https://blog.example.net/atom.xml"
)

func testEntries(t *testing.T, open func(testing.TB) Archive) {
	t.Run("unknown", func(t *testing.T) {
		a := open(t)
		got := a.Known([]feed.EntryID{{1}, {2}})
		if len(got) != 2 || got[0] != (archive.Version{}) || got[1] != (archive.Version{}) {
			t.Errorf("Known of strange entries = %v, want two zero versions", got)
		}
		if got := a.Known(nil); len(got) != 0 {
			t.Errorf("Known(nil) = %v", got)
		}
		a.Keep(nil)
		Commit(t, a)
	})

	t.Run("known before and after commit", func(t *testing.T) {
		a := open(t)
		one, two := record(news, 1, "one", ""), record(blog, 2, "two", "")
		one.Entry.Updated = base.Add(time.Minute)
		one.Digest = one.Entry.Digest()
		a.Keep([]archive.Record{one})
		wantKnown(t, a, one, two.ID)
		Commit(t, a)
		wantKnown(t, a, one, two.ID)
	})

	t.Run("arrivals", func(t *testing.T) {
		a := open(t)
		if got := a.Arrivals(news, 5); len(got) != 0 {
			t.Errorf("Arrivals of an empty archive = %v", got)
		}
		undated := archive.NewRecord(feed.Entry{Feed: news, ID: "undated"}, base, protocol.NodeID{})
		a.Keep([]archive.Record{record(news, 1, "", ""), record(blog, 2, "", ""), undated, record(news, 3, "", "")})
		want := make([]archive.Arrival, 0, 3) // the latest first
		for _, n := range []int64{3, 0, 1} {
			want = append(want, archive.Arrival{Time: base.Unix() + n*60, Seen: base.Unix() + n*3600})
		}
		for n := range 5 {
			got := a.Arrivals(news, n)
			slices.SortFunc(got, func(a, b archive.Arrival) int { return cmp.Compare(b.Time, a.Time) })
			part := slices.Clone(want[:min(n, 3)])
			slices.SortFunc(part, func(a, b archive.Arrival) int { return cmp.Compare(b.Time, a.Time) })
			if !slices.Equal(got, part) {
				t.Errorf("Arrivals(%d) = %v, want %v", n, got, part)
			}
		}
		Commit(t, a)
	})

	t.Run("order of arrival", func(t *testing.T) {
		a := open(t)
		// The entry that was published first arrives last; Seq in a record to keep means nothing.
		for n := 5; n > 0; n-- {
			r := record(news, n, "title", "")
			r.Seq = 1
			a.Keep([]archive.Record{r})
		}
		Commit(t, a)
		found := search(t, a, feed.Filter{})
		if len(found) != 5 {
			t.Fatalf("found %d records, want 5", len(found))
		}
		for i, r := range found {
			if want := record(news, i+1, "title", ""); r.ID != want.ID || r.Seq != int64(5-i) {
				t.Errorf("record %d is %s with seq %d, want %s with seq %d", i, r.Entry.ID, r.Seq, want.Entry.ID, 5-i)
			}
		}
	})

	t.Run("every field", func(t *testing.T) {
		a := open(t)
		for i, want := range fullRecords(t) {
			a.Keep([]archive.Record{want})
			Commit(t, a)
			want.Seq = int64(i) + 1
			got := search(t, a, feed.Filter{IDs: []feed.EntryID{want.ID}})
			if len(got) != 1 || !same(&got[0], &want) {
				t.Errorf("kept %+v, found %+v", want, got)
			}
		}
	})

	t.Run("replace", func(t *testing.T) {
		a := open(t)
		old := record(news, 1, "the quick fox", "old text")
		old.Source = NodeID(t, "192.0.2.7:7790")
		other := record(news, 2, "another", "")
		a.Keep([]archive.Record{old, other})
		Commit(t, a)
		indexAll(t, a)

		edited := old.Entry
		edited.Title, edited.Summary, edited.Published = "the slow fox", "young text", base.Add(-time.Hour)
		edited.Authors = []string{"A. Writer"}
		r := archive.NewRecord(edited, old.Seen.Add(time.Hour), NodeID(t, "198.51.100.9:7791"))
		r.Confirmed = true
		a.Keep([]archive.Record{r})
		r.Seen = old.Seen // as the one before
		wantKnown(t, a, r, feed.EntryID{9})
		Commit(t, a)
		want := r
		want.Seq, want.Seen, want.Source = 1, old.Seen, old.Source
		for range 2 { // before and after it is indexed again
			wantFound(t, a, feed.Filter{Words: []string{"slow"}}, want)
			wantFound(t, a, feed.Filter{Words: []string{"writer young"}})
			wantFound(t, a, feed.Filter{Words: []string{"writer", "young"}}, want)
			wantFound(t, a, feed.Filter{Words: []string{"quick"}})
			wantFound(t, a, feed.Filter{Until: base}, want)
			indexAll(t, a)
		}

		// A new entry takes the next number, whatever was replaced.
		a.Keep([]archive.Record{record(news, 3, "third", "")})
		Commit(t, a)
		if got := search(t, a, feed.Filter{Limit: 1}); len(got) != 1 || got[0].Seq != 3 {
			t.Errorf("newest is %+v, want seq 3", got)
		}
	})

	t.Run("confirm", func(t *testing.T) {
		a := open(t)
		brought, polled := record(news, 1, "brought", ""), record(news, 2, "polled", "")
		brought.Source, brought.Confirmed = NodeID(t, "192.0.2.7:7790"), false
		polled.Confirmed = false // whatever it says: we have seen it ourselves
		a.Keep([]archive.Record{brought, polled})
		Commit(t, a)
		brought.Seq, polled.Seq, polled.Confirmed = 1, 2, true
		wantFound(t, a, feed.Filter{}, polled, brought)
		wantKnown(t, a, brought, feed.EntryID{9})

		// An unconfirmed version in place of another confirms nothing.
		brought.Entry.Title = "edited"
		brought.Digest = brought.Entry.Digest()
		a.Keep([]archive.Record{brought})
		Commit(t, a)
		wantFound(t, a, feed.Filter{}, polled, brought)

		a.Confirm(base, []feed.EntryID{{9}, brought.ID, polled.ID})
		brought.Confirmed = true
		wantKnown(t, a, brought, feed.EntryID{9})
		Commit(t, a)
		for range 2 { // once is enough, and it stays so
			wantFound(t, a, feed.Filter{}, polled, brought)
			again := brought
			again.Confirmed = false
			a.Keep([]archive.Record{again})
			a.Confirm(base, []feed.EntryID{brought.ID})
			Commit(t, a)
		}

		// A version that comes confirmed confirms.
		third := record(news, 3, "third", "")
		third.Source, third.Confirmed = brought.Source, false
		a.Keep([]archive.Record{third})
		third.Confirmed = true
		a.Keep([]archive.Record{third})
		Commit(t, a)
		third.Seq = 3
		wantFound(t, a, feed.Filter{Limit: 1}, third)
	})

	t.Run("polled", func(t *testing.T) {
		a := open(t)
		source := NodeID(t, "192.0.2.7:7790")
		brought, polled, past, page := record(news, 1, "brought", ""), record(news, 2, "polled", ""),
			record(news, 3, "past", ""), record(news, 4, "page", "")
		brought.Source, brought.Confirmed, past.Source, past.Confirmed = source, false, source, false
		owners := record(news, 5, "of an export", "")
		owners.Confirmed = false
		a.Keep([]archive.Record{brought, polled})
		a.Fill(base, []archive.Record{past, page, owners})
		ids := []feed.EntryID{brought.ID, polled.ID, past.ID, page.ID, owners.ID}
		are := func(want ...bool) {
			t.Helper()
			for i, v := range a.Known(ids) {
				if v.Polled != want[i] || v.Polled && !v.Confirmed {
					t.Errorf("entry %d: Polled is %t, want %t, and it is confirmed: %t", i, v.Polled,
						want[i], v.Confirmed)
				}
			}
		}
		are(false, true, false, true, false)
		a.Confirm(base, ids) // that is another matter
		are(false, true, false, true, false)
		for range 2 { // once is enough
			a.MarkPolled(base, append(ids, feed.EntryID{9}))
			Commit(t, a)
			are(true, true, true, true, true)
		}
	})

	t.Run("what replaces what", func(t *testing.T) { testPrecedence(t, open(t)) })

	t.Run("dates of the future", func(t *testing.T) {
		a := open(t)
		hour := time.Hour
		for i, c := range []struct {
			published, updated, want time.Duration // after the arrival
		}{
			{hour, 0, hour},             // clocks differ
			{hour + time.Second, 0, 0},  // one that is ahead by more counts as no date
			{1e6 * hour, -hour, -hour},  // but the other may do
			{1e6 * hour, 1e6 * hour, 0}, //
			{-hour, 1e6 * hour, -hour},  //
		} {
			r := record(news, i, "", "")
			r.Entry.Published, r.Entry.Updated = base.Add(c.published), time.Time{}
			if c.updated != 0 {
				r.Entry.Updated = base.Add(c.updated)
			}
			r = archive.NewRecord(r.Entry, base, NodeID(t, "192.0.2.7:7790"))
			r.Seq = int64(i) + 1
			a.Keep([]archive.Record{r})
			Commit(t, a)
			at, ids := base.Add(c.want), []feed.EntryID{r.ID}
			if !r.Time().Equal(at) {
				t.Errorf("record %d is of %v, want %v", i, r.Time(), at)
			}
			wantFound(t, a, feed.Filter{IDs: ids, Since: at, Until: at.Add(time.Second)}, r)
		}
	})

	t.Run("extras", func(t *testing.T) { testExtras(t, open) })

	t.Run("twice in one call", func(t *testing.T) {
		a := open(t)
		first, second := record(news, 1, "first", ""), record(news, 1, "second", "")
		a.Keep([]archive.Record{first, second})
		Commit(t, a)
		second.Seq = 1
		wantFound(t, a, feed.Filter{}, second)
	})
}

// someExtras are extras of which each field says something.
func someExtras(n string, d time.Duration) feed.Extras {
	return feed.Extras{
		Duration: d, Image: feed.URL("https://news.example.org/" + n + ".jpg?a=1&b='é'"), Language: "de-CH",
		Season: 3, Episode: 14,
		Chapters: feed.Companion{URL: "https://news.example.org/chapters", Type: "application/json+chapters"},
		Transcripts: []feed.Companion{{URL: "https://news.example.org/vtt", Type: "text/vtt", Language: "en"},
			{URL: "https://news.example.org/srt"}},
	}
}

// The extras of a version are those with which it came until an own poll brings others, and what neighbors say of them
// then does not matter. Those of a feed that is followed discreetly the owner alone has.
func testExtras(t *testing.T, open func(t testing.TB) Archive) {
	brought := record(news, 1, "one", "text")
	brought.Source, brought.Confirmed = someNeighbor, false
	brought.Entry.Extras = someExtras("brought", time.Hour)
	again, polled, later := brought, record(news, 1, "one", "text"), record(news, 1, "one", "text")
	again.Entry.Extras = someExtras("again", time.Minute)
	polled.Entry.Extras, later.Entry.Extras = someExtras("polled", 2*time.Hour), feed.Extras{}

	a := open(t)
	known := func(of archive.Record, want archive.Record) {
		t.Helper()
		want.Seq = 1
		Commit(t, a)
		sum := want.Entry.Extras.Sum()
		if got := a.Known([]feed.EntryID{of.ID}); got[0].Extras != sum || got[0].Digest != of.Digest {
			t.Errorf("known is %+v, want extras %d", got, sum)
		}
		if got := search(t, a, feed.Filter{}); len(got) != 1 || !got[0].Entry.Equal(&want.Entry) {
			t.Errorf("found %+v, want %+v", got, want.Entry)
		}
	}
	a.Keep([]archive.Record{brought})
	known(brought, brought)
	a.Keep([]archive.Record{again})
	known(brought, brought)
	again.Confirmed = true
	a.Keep([]archive.Record{again})
	known(brought, brought)
	a.Keep([]archive.Record{polled})
	known(brought, polled)
	a.Keep([]archive.Record{again})
	known(brought, polled)
	a.Keep([]archive.Record{later})
	known(brought, later)

	b := open(t)
	b.Shared().Keep([]archive.Record{brought})
	b.KeepFeed(archive.Feed{URL: news, Subscribed: true, Discreet: true})
	b.Keep([]archive.Record{polled})
	Commit(t, b)
	if got := search(t, b, feed.Filter{}); len(got) != 1 || !got[0].Entry.Equal(&polled.Entry) {
		t.Errorf("the owner has %+v, want %+v", got, polled.Entry)
	}
	if got := search(t, b, feed.Filter{Shareable: true}); len(got) != 1 || !got[0].Entry.Equal(&brought.Entry) {
		t.Errorf("others have %+v, want %+v", got, brought.Entry)
	}
}

// fullRecords are records of which each field is put to the test.
func fullRecords(t testing.TB) []archive.Record {
	odd := "tab\there, line\nbreak, \"quotes\", 'more', \\ and \u2028, <b>&amp;</b>, naïve, 日本語, \U0001F600, \uFFFD; " +
		"DROP TABLE entries"
	full := feed.Entry{
		Feed: news, ID: odd, Title: odd, Link: "https://news.example.org/?a=1&b=%20#x",
		Authors:    []string{odd, "", "B, C"},
		Published:  time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
		Updated:    time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC),
		Summary:    odd,
		Content:    strings.Repeat(odd, 2000),
		Categories: []string{odd, "x"},
		Enclosures: []feed.Enclosure{{URL: "https://news.example.org/a.mp3", Type: "audio/mpeg", Length: 1 << 40}, {}},
		Rights:     []string{odd, "https://creativecommons.org/licenses/by/4.0/"},
		CopiedFrom: feed.Original{ID: odd, Title: odd, URL: "https://news.example.org/original"},
		Extras:     someExtras("1", time.Hour),
	}
	epoch := feed.Entry{Feed: blog, ID: "epoch", Published: time.Unix(0, 0).UTC()}
	bare := feed.Entry{Feed: blog}
	return []archive.Record{
		archive.NewRecord(full, base, NodeID(t, "[2001:db8::1]:7790")),
		archive.NewRecord(epoch, base, NodeID(t, "192.0.2.1:65535")),
		archive.NewRecord(bare, base.Add(999*time.Millisecond), NodeID(t, "192.0.2.1:1024")),
	}
}

func wantKnown(t *testing.T, a Archive, kept archive.Record, strange feed.EntryID) {
	t.Helper()
	got := a.Known([]feed.EntryID{strange, kept.ID, kept.ID})
	want := archive.Version{Digest: kept.Digest, Extras: kept.Entry.Extras.Sum(), Published: kept.Entry.Published,
		Updated: kept.Entry.Updated, Seen: kept.Seen, Confirmed: kept.Confirmed,
		Polled: kept.Source.IsZero()}
	if len(got) != 3 || got[0] != (archive.Version{}) || got[1] != want || got[2] != want {
		t.Errorf("Known = %+v, want nothing and twice %+v", got, want)
	}
}

func wantFound(t *testing.T, a Archive, f feed.Filter, want ...archive.Record) {
	t.Helper()
	got := search(t, a, f)
	if len(got) != len(want) {
		t.Fatalf("Search(%+v) found %d records, want %d: %+v", f, len(got), len(want), got)
	}
	for i := range want {
		if !same(&got[i], &want[i]) {
			t.Errorf("Search(%+v)[%d] = %+v, want %+v", f, i, got[i], want[i])
		}
	}
}
