package archivetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/reading"
	"feedex/safehtml"
)

const secretFeed = feed.URL("https://example.org/feed?token=hunter2hunter2")

// keepForHeadlines keeps ten entries of one feed, one of a secret one, and one of a feed that nobody
// follows. Those with odd numbers came from a neighbor.
func keepForHeadlines(t *testing.T, a reading.Database, at time.Time) (records []archive.Record) {
	t.Helper()
	a.KeepFeed(archive.Feed{URL: news, Title: "News", Subscribed: true})
	a.KeepFeed(archive.Feed{URL: secretFeed, Title: "Mine", Subscribed: true})
	for i := range 10 {
		r := newsRecord(fmt.Sprint(i), fmt.Sprint("entry ", i), at.Add(time.Duration(i)*time.Hour))
		if i%2 == 1 {
			r.Source, r.Confirmed = someNeighbor, false
		}
		records = append(records, r)
	}
	for _, u := range []feed.URL{secretFeed, "https://example.net/relayed"} {
		records = append(records, archive.NewRecord(feed.Entry{Feed: u, ID: "1", Title: "other"},
			at.Add(20*time.Hour), someNeighbor))
	}
	a.Keep(records)
	a.MarkPolled(at.Add(30*time.Hour), []feed.EntryID{records[3].ID})
	Commit(t, a)
	return records
}

// Lists and pages show each entry as its owner has it.
func testHeadlines(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	shelf, pen := a.Shelf(ann), a.Pen(ann)
	at := time.Now().Add(-40 * time.Hour).Truncate(time.Second)
	records := keepForHeadlines(t, a, at)
	var newsFeed int64
	names, err := a.FeedNames(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if n.URL == news {
			newsFeed = n.Number
		}
	}
	all, err := shelf.Headlines(t.Context(), reading.HeadlineQuery{Limit: 99, Secret: true})
	if err != nil || len(all) != 11 {
		t.Fatalf("%d headlines, %v", len(all), err)
	}
	items := make(map[feed.EntryID]reading.ItemID)
	for _, h := range all {
		items[h.ID] = h.Item.ID
	}
	if h := all[7]; h.ID != records[3].ID || h.Feed != newsFeed || h.FeedTitle != "News" || h.URL != news ||
		h.Source != someNeighbor.String() || !h.Confirmed || h.Item.ID == 0 {
		t.Errorf("entry 3 is %+v", h)
	}
	if h := all[5]; h.ID != records[5].ID || h.Confirmed {
		t.Errorf("entry 5 is %+v", h)
	}
	pen.Mark(at, []reading.ItemID{items[records[2].ID], items[records[4].ID], items[records[10].ID]},
		reading.Mark{Starred: reading.Yes})
	var read []reading.ItemID
	for i, r := range records[:10] {
		if i < 7 {
			read = append(read, items[r.ID])
		}
	}
	pen.Mark(at, read, reading.Mark{Read: reading.Yes})
	name := "My own"
	pen.Arrange([]reading.Arrangement{{URL: news, Name: &name, Into: []string{"One", "A second"}}})
	given := []reading.ItemID{items[records[7].ID], items[records[3].ID], items[records[10].ID]}
	if err := errors.Join(pen.Label(at, given, "recipes", true), a.Pen(reading.Owner).Label(at, given[:1], "x", true),
		pen.Label(at, given[:1], "other", true)); err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	folders, err := shelf.Folders(t.Context())
	if err != nil || len(folders) != 2 {
		t.Fatalf("folders %+v, %v", folders, err)
	}
	seq := func(i int) int64 { return int64(i + 1) }
	for _, test := range []struct {
		name string
		q    reading.HeadlineQuery
		want []int // the numbers of the entries
	}{
		{"all", reading.HeadlineQuery{Limit: 3}, []int{9, 8, 7}},
		{"all, secrets too", reading.HeadlineQuery{Limit: 3, Secret: true}, []int{10, 9, 8}},
		{"older", reading.HeadlineQuery{Limit: 2, Before: seq(5)}, []int{4, 3}},
		{"of a feed", reading.HeadlineQuery{Limit: 2, Feed: newsFeed}, []int{9, 8}},
		{"of a feed, older", reading.HeadlineQuery{Limit: 99, Feed: newsFeed, Before: seq(2)}, []int{1, 0}},
		{"of a feed that nobody ever followed", reading.HeadlineQuery{Limit: 2, Feed: newsFeed + 2}, []int{11}},
		{"unread", reading.HeadlineQuery{Limit: 99, Unread: true}, []int{9, 8, 7}},
		{"unread, secrets too", reading.HeadlineQuery{Limit: 2, Unread: true, Secret: true}, []int{10, 9}},
		{"unread, older", reading.HeadlineQuery{Limit: 99, Unread: true, Before: int64(items[records[9].ID])},
			[]int{8, 7}},
		{"unread of a feed", reading.HeadlineQuery{Limit: 99, Unread: true, Feed: newsFeed}, []int{9, 8, 7}},
		{"unread of a folder", reading.HeadlineQuery{Limit: 2, Unread: true, Folder: folders[0].ID, Secret: true},
			[]int{9, 8}},
		{"starred in no such folder", reading.HeadlineQuery{Limit: 2, Starred: true, Folder: 99}, nil},
		{"newer", reading.HeadlineQuery{Limit: 2, After: seq(4)}, []int{5, 6}},
		{"unread, newer", reading.HeadlineQuery{Limit: 99, Unread: true, After: int64(items[records[7].ID])},
			[]int{8, 9}},
		{"starred", reading.HeadlineQuery{Limit: 99, Starred: true}, []int{4, 2}},
		{"starred of a feed", reading.HeadlineQuery{Limit: 99, Starred: true, Feed: newsFeed + 1,
			Secret: true}, []int{10}},
		{"labelled", reading.HeadlineQuery{Limit: 99, Label: 1}, []int{7, 3}},
		{"labelled, secrets too", reading.HeadlineQuery{Limit: 2, Label: 1, Secret: true}, []int{10, 7}},
		{"labelled, older", reading.HeadlineQuery{Limit: 9, Label: 1, Before: int64(given[0])}, []int{3}},
		{"labelled, newer", reading.HeadlineQuery{Limit: 9, Label: 1, After: int64(given[1])}, []int{7}},
		{"labelled, by publication", reading.HeadlineQuery{Limit: 9, Label: 1, ByTime: true}, []int{7, 3}},
		{"labelled by somebody else", reading.HeadlineQuery{Limit: 9, Label: 2}, nil},
	} {
		got, err := shelf.Headlines(t.Context(), test.q)
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%s: %d, %v, want %d", test.name, len(got), err, test.want)
			continue
		}
		for i, h := range got {
			if h.ID != records[test.want[i]].ID {
				t.Errorf("%s: the %d. is %q, want entry %d", test.name, i+1, h.Title, test.want[i])
			}
			if h.URL == news && h.FeedTitle != "My own" {
				t.Errorf("%s: the feed is called %q", test.name, h.FeedTitle)
			}
		}
	}
	for secret, want := range map[bool]int{false: 3, true: 4} {
		if n, err := shelf.CountUnread(t.Context(), secret); err != nil || n != want {
			t.Errorf("%d are unread, %v, want %d", n, err, want)
		}
	}
	r, item, number, err := shelf.Entry(t.Context(), records[2].ID)
	if err != nil || r.Entry.Title != "entry 2" || number != newsFeed ||
		item != (reading.ItemState{ID: items[records[2].ID], Read: true, Starred: true}) {
		t.Errorf("Entry = %q, %+v, %d, %v", r.Entry.Title, item, number, err)
	}
	want := map[feed.EntryID]reading.ItemState{
		records[2].ID:  {ID: items[records[2].ID], Read: true, Starred: true},
		records[10].ID: {ID: items[records[10].ID], Starred: true},
		records[11].ID: {Read: true},
	}
	states, err := shelf.ItemStates(t.Context(), []feed.EntryID{records[11].ID, {9}, records[2].ID, records[10].ID})
	if err != nil || !maps.Equal(states, want) {
		t.Errorf("ItemStates = %+v, %v, want %+v", states, err, want)
	}
	if states, err := shelf.ItemStates(t.Context(), nil); err != nil || len(states) != 0 {
		t.Errorf("ItemStates of nothing = %+v, %v", states, err)
	}
	if _, _, number, err := shelf.Entry(t.Context(), feed.EntryID{9}); err != nil || number != 0 {
		t.Errorf("an entry that is not there: %d, %v", number, err)
	}

	for number, want := range map[int64]string{newsFeed: "My own [A second One]", newsFeed + 1: " []", 99: " []"} {
		name, folders, err := shelf.Filing(t.Context(), number)
		if err != nil || fmt.Sprint(name, " ", folders) != want {
			t.Errorf("Filing(%d) = %q, %q, %v, want %s", number, name, folders, err, want)
		}
	}

	titles, err := shelf.Titles(t.Context(), []feed.URL{news, "https://example.org/unknown"})
	if err != nil || len(titles) != 1 ||
		titles[news] != (reading.FeedTitle{Feed: reading.FeedID(newsFeed), Text: "My own"}) {
		t.Errorf("Titles = %v, %v", titles, err)
	}

	list, err := a.Appearances(t.Context(), newsFeed, at.Add(3*time.Hour), 99)
	if err != nil || len(list) != 7 || !list[6].Polled.Equal(at.Add(30*time.Hour)) ||
		list[6].Source != someNeighbor.String() || !list[0].Polled.IsZero() {
		t.Errorf("Appearances = %+v, %v", list, err)
	}
	if n, err := a.BroughtSince(t.Context(), newsFeed, at.Add(3*time.Hour), 99); err != nil || n != 4 {
		t.Errorf("%d were brought, %v, want 4", n, err)
	}
	if n, err := a.CountEntries(t.Context(), newsFeed, 8); err != nil || n != 8 {
		t.Errorf("%d entries, %v, want 8 at most", n, err)
	}

	a.KeepFeed(archive.Feed{URL: news, Since: at}) // it is followed no more
	Commit(t, a)
	if list, err := shelf.Headlines(t.Context(), reading.HeadlineQuery{Limit: 99}); err != nil || len(list) != 10 {
		t.Errorf("of what was followed: %d headlines, %v", len(list), err)
	}
}

// testLeads is of what appeared without a title: it goes by how its text begins, and nothing else does.
func testLeads(t *testing.T, a reading.Database) {
	at := time.Unix(9, 0)
	Follow(t, a, at, news)
	for i, e := range []feed.Entry{{Title: "A title", Summary: "One"}, {Summary: "Two", Content: "Whole"},
		{Content: "Three"}, {Link: "https://news.example.org/4"}} {
		e.Feed, e.ID = news, fmt.Sprint(i)
		Keep(t, a, archive.NewRecord(e, at, someNeighbor))
	}
	list, err := a.Appearances(t.Context(), 1, time.Unix(1, 0), 9)
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []string{"", "Three", "Two", ""} {
		if list[i].Lead != want {
			t.Errorf("appearance %d begins %q, want %q", i, list[i].Lead, want)
		}
	}
}

func testRequestsFor(t *testing.T, a reading.Database) {
	at := time.UnixMilli(1_800_000_000_000).UTC()
	var list []grade.Request
	for i := range 6 {
		list = append(list, grade.Request{At: at.Add(time.Duration(i) * time.Hour), URL: string(news), Status: 200 + i})
	}
	list[3].Feed, list[3].URL = string(news), "https://example.com/moved"
	list[4].URL = "https://example.org/other"
	a.KeepRequests(list)
	a.KeepHost(archive.KnownHost{Name: "example.com", Budget: courtesy.Budget{Gap: time.Minute, Until: at}})
	Commit(t, a)
	got, err := a.RequestsFor(t.Context(), string(news), at.Add(2*time.Hour), 9)
	if err != nil || len(got) != 3 || got[0].Status != 202 || got[1].Status != 203 || got[2].Status != 205 {
		t.Errorf("RequestsFor = %+v, %v", got, err)
	}
	if got, err := a.RequestsFor(t.Context(), string(news), at, 2); err != nil || len(got) != 2 ||
		got[1].Status != 205 {
		t.Errorf("the latest two are %+v, %v", got, err)
	}
	if h, err := a.Host(t.Context(), "example.com"); err != nil || h.Gap != time.Minute || !h.Until.Equal(at) {
		t.Errorf("Host = %+v, %v", h, err)
	}
	if h, err := a.Host(t.Context(), "example.net"); err != nil || h != (archive.KnownHost{}) {
		t.Errorf("Host = %+v, %v, want none", h, err)
	}
}

// Of titles and links of any length so much is read as pages show, and so much that it shows that there was more.
func testLongHeadlines(t *testing.T, a reading.Database) {
	long := strings.Repeat("ä", 500_000)
	a.KeepFeed(archive.Feed{URL: news, Title: long, Subscribed: true})
	e := feed.Entry{Feed: news, ID: "1", Title: long, Link: "https://example.com/" + long}
	a.Keep([]archive.Record{archive.NewRecord(e, time.Now(), someNeighbor)})
	Commit(t, a)
	list, err := a.Shelf(reading.Owner).Headlines(t.Context(), reading.HeadlineQuery{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d headlines, %v", len(list), err)
	}
	h := list[0]
	want := safehtml.Title(long)
	if safehtml.Title(h.Title) != want || safehtml.Title(h.FeedTitle) != want || safehtml.Link(h.Link) != "" {
		t.Errorf("what is shown is not what would be of the whole: %.20q, %.20q, %.20q", h.Title, h.FeedTitle, h.Link)
	}
	if n := len(h.Title) + len(h.FeedTitle) + len(h.Link); n > 100_000 {
		t.Errorf("%d bytes are read", n)
	}
}

// Lists by when entries were published go on, page by page and back, where they were left, whatever came meanwhile: be
// few of them unread or many, and although many were published in the same second.
func testHeadlinesByTime(t *testing.T, a reading.Database) {
	const few, many, page = 90, 10_100, 40
	at := time.Now().Add(-1000 * time.Hour).Truncate(time.Second)
	u := [2]feed.URL{news, "https://example.org/feed"}
	var kept []archive.Record
	keep := func(n int) {
		var records []archive.Record
		for range n {
			i := len(kept) + len(records)
			e := feed.Entry{Feed: u[i%2], ID: fmt.Sprint(i), Published: at.Add(time.Duration(i*37%53) * time.Hour)}
			records = append(records, archive.NewRecord(e, at.Add(900*time.Hour), someNeighbor))
		}
		a.Keep(records)
		Commit(t, a)
		kept = append(kept, records...)
	}
	for _, u := range u {
		a.KeepFeed(archive.Feed{URL: u, Subscribed: true})
	}
	keep(few)
	for _, n := range []int{few, many} {
		keep(n - len(kept))
		for name, q := range map[string]reading.HeadlineQuery{"all": {}, "unread": {Unread: true},
			"of a feed": {Feed: 1}, "unread of a feed": {Feed: 1, Unread: true}, "starred": {Starred: true}} {
			name, q.ByTime, q.Limit = fmt.Sprint(name, " of ", n), true, page
			var want []feed.EntryID
			for _, i := range byTime(kept) {
				if q.Feed == 0 || kept[i].Entry.Feed == news {
					want = append(want, kept[i].ID)
				}
			}
			if q.Starred {
				want = nil
			}
			var got []reading.Headline
			for more := true; more && len(got) < 10*page; {
				list, err := a.Shelf(reading.Owner).Headlines(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if more = len(list) == page; len(list) > 0 {
					q.Before, q.At = list[len(list)-1].Seq, list[len(list)-1].Time
				}
				got = append(got, list...)
			}
			if !slices.Equal(idsOf(got), want[:min(len(want), 10*page)]) {
				t.Errorf("%s: pages differ from what was published", name)
			}
			if len(got) == 0 {
				continue
			}
			last := got[len(got)-1]
			q.Before, q.After, q.At, q.Limit = 0, last.Seq, last.Time, len(got)
			back, err := a.Shelf(reading.Owner).Headlines(t.Context(), q)
			if slices.Reverse(back); err != nil || !slices.Equal(idsOf(back), want[:len(got)-1]) {
				t.Errorf("%s: back are %d, %v, want %d", name, len(back), err, len(got)-1)
			}
		}
	}
}

// byTime are the numbers of records, the latest published first.
func byTime(records []archive.Record) []int {
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(records[b].Time().Compare(records[a].Time()), cmp.Compare(b, a))
	})
	return order
}

func idsOf(list []reading.Headline) (ids []feed.EntryID) {
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	return ids
}
