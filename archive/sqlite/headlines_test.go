package sqlite

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// shelfOf is what a person reads of a store, with its statements.
func shelfOf(t testing.TB, s *Store, p reading.PersonID) personalReader {
	t.Helper()
	r, is := s.Shelf(p).(personalReader)
	if !is {
		t.Fatalf("a shelf is a %T", s.Shelf(p))
	}
	return r
}

// What is unread in a folder is the same, page by page, whether it is found feed by feed or by a walk through all that
// is unread, and what has a label by publication whether it is sorted or by a walk through the archive.
func TestUnreadOfAFolder(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "feedex.db"))
	var urls []feed.URL
	for i := range 4 {
		urls = append(urls, feed.URL(fmt.Sprintf("https://example.org/%d", i)))
	}
	const secret = feed.URL("https://example.org/feed?token=hunter2hunter2")
	follow(t, s, time.Unix(1, 0), append(urls, secret)...)
	ann, err := s.AddPerson(time.Unix(1, 0), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	s.Pen(ann).Arrange([]reading.Arrangement{{URL: urls[0], Into: []string{"Hers"}}})
	s.Pen(reading.Owner).Arrange([]reading.Arrangement{{URL: urls[1], Into: []string{"News", "Sea"}},
		{URL: urls[2], Into: []string{"News"}}, {URL: secret, Into: []string{"News"}}})
	for i := range 60 { // those of a feed are in no order of their dates
		u := append(urls, secret)[i%5]
		e := feed.Entry{Feed: u, ID: fmt.Sprint(i), Title: fmt.Sprint("title ", i),
			Published: time.Unix(int64(i*37%60+10), 0)}
		s.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(100+i), 0), protocol.NodeID{})})
	}
	s.Pen(reading.Owner).Mark(markedAt, []reading.ItemID{7, 8, 12, 13, 60}, reading.Mark{Read: reading.Yes})
	var odd []reading.ItemID
	for i := reading.ItemID(1); i <= 60; i += 2 {
		odd = append(odd, i)
	}
	if err := s.Pen(reading.Owner).Label(markedAt, odd, "odd", true); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	owner := shelfOf(t, s, reading.Owner)
	folders, err := owner.Folders(t.Context())
	if err != nil || len(folders) != 2 {
		t.Fatalf("folders are %v, %v", folders, err)
	}
	hers, err := shelfOf(t, s, ann).Folders(t.Context())
	if err != nil || len(hers) != 1 {
		t.Fatalf("her folders are %v, %v", hers, err)
	}
	for what, want := range map[string]struct {
		query reading.HeadlineQuery
		all   int
	}{
		"a folder":              {reading.HeadlineQuery{Folder: folders[0].ID, Secret: true}, 31},
		"without secrets":       {reading.HeadlineQuery{Folder: folders[0].ID}, 20},
		"by publication":        {reading.HeadlineQuery{Folder: folders[0].ID, ByTime: true, Secret: true}, 31},
		"another folder":        {reading.HeadlineQuery{Folder: folders[1].ID, Secret: true}, 10},
		"somebody else's":       {reading.HeadlineQuery{Folder: hers[0].ID, Secret: true}, 0},
		"a label":               {reading.HeadlineQuery{Label: 1, ByTime: true, Secret: true}, 30},
		"a label, no secrets":   {reading.HeadlineQuery{Label: 1, ByTime: true}, 24},
		"one that is not there": {reading.HeadlineQuery{Folder: 99, Secret: true}, 0},
	} {
		q := want.query
		q.Unread, q.Limit = q.Label == 0, 7
		var found []reading.Headline
		for pages := 0; pages == 0 || len(found)%q.Limit == 0 && len(found) == pages*q.Limit && pages < 9; pages++ {
			few, err := owner.listed(t.Context(), q, false)
			many, failed := owner.listed(t.Context(), q, true)
			if err != nil || failed != nil || !reflect.DeepEqual(few, many) {
				t.Fatalf("%s, page %d: %v, %v and %v, %v", what, pages, few, err, many, failed)
			}
			if asked, err := owner.Headlines(t.Context(), q); err != nil || !reflect.DeepEqual(asked, few) {
				t.Fatalf("%s, page %d: %v, %v, want %v", what, pages, asked, err, few)
			}
			if found = append(found, few...); len(few) == 0 {
				break
			}
			last := few[len(few)-1]
			if q.Before = int64(last.Item.ID); q.ByTime {
				q.Before, q.At = last.Seq, last.Time
			}
		}
		if len(found) != want.all {
			t.Errorf("%s: %d, want %d", what, len(found), want.all)
		}
	}
}

// A page of what is unread in folders of two and of 49 of 1,000 feeds, of 100,000 entries that are all unread.
func BenchmarkUnreadOfAFolder(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "feedex.db"))
	url := func(i int) feed.URL { return feed.URL(fmt.Sprintf("https://www%d.example.com/feed.xml", i)) }
	for i := range 1000 {
		s.KeepFeed(archive.Feed{URL: url(i), Subscribed: true, Since: time.Unix(1, 0), LastSuccess: time.Unix(1, 0)})
	}
	for folder, feeds := range []int{2, 49} {
		for i := range feeds {
			s.Pen(reading.Owner).Arrange([]reading.Arrangement{{URL: url(i), Into: []string{fmt.Sprint(folder)}}})
		}
	}
	for i := 0; i < 100_000; i += 1000 {
		var records []archive.Record
		for n := i; n < i+1000; n++ {
			records = append(records, feedRecord(url(n*7919%1000), n))
		}
		keep(b, s, records...)
	}
	owner := shelfOf(b, s, reading.Owner)
	for i, folder := range []string{"of 2", "of 49"} {
		for _, walks := range []bool{false, true} {
			for _, byTime := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/walks=%t/published=%t", folder, walks, byTime), func(b *testing.B) {
					q := reading.HeadlineQuery{Folder: reading.FolderID(i + 1), Unread: true, ByTime: byTime,
						Secret: true, Limit: 41}
					var took []time.Duration
					for b.Loop() {
						begun := time.Now()
						found, err := owner.Headlines(b.Context(), q)
						if walks {
							begun = time.Now()
							found, err = owner.listed(b.Context(), q, true)
						}
						if err != nil || len(found) != 41 {
							b.Fatal(len(found), err)
						}
						took = append(took, time.Since(begun))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
				})
			}
		}
	}
}
