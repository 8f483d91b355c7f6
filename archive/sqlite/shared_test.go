package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

var neighborID, _ = protocol.ParseNodeID("192.0.2.7:7790")

// sharedArchive follows news discreetly. Its entries were here before (1), were edited by their publisher since (2),
// are from own polls alone (3), or were brought by a neighbor as well, in the same version (4) and in another (5).
func sharedArchive(t *testing.T) (*Store, []archive.Record) {
	t.Helper()
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	t.Cleanup(func() { s.Close() })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var records []archive.Record
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		records = append(records, newsRecord(id, "word "+id, at))
	}
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at})
	s.Keep(records[:2])
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at, Discreet: true})
	commit(t, s)
	edited := records[1]
	edited.Entry.Title = "word, edited"
	edited.Digest = edited.Entry.Digest()
	s.Keep(append([]archive.Record{edited}, records[2:]...))
	commit(t, s)
	if _, err := s.Index(3); err != nil {
		t.Fatal(err)
	}
	brought := []archive.Record{records[3], records[4]}
	for i := range brought {
		brought[i].Source, brought[i].Seen, brought[i].Confirmed = neighborID, at.Add(time.Hour), false
	}
	brought[1].Entry.Title = "word, altered"
	brought[1].Digest = brought[1].Entry.Digest()
	s.Shared().Keep(brought)
	commit(t, s)
	return s, records
}

// The owner of a node that follows a feed discreetly sees each of its entries once, everywhere, as own polls showed
// it; what others know beside that is in no list of theirs, and nothing of the archive is damaged by it.
func TestOwnersSeeTheirSideOnly(t *testing.T) {
	s, records := sharedArchive(t)
	for range 2 {
		list, err := s.Search(t.Context(), feed.Filter{})
		if err != nil || len(list) != 5 || list[0].Entry.Title == "word, altered" {
			t.Errorf("found %d entries, %v: %+v", len(list), err, list)
		}
		for _, q := range []reading.HeadlineQuery{{Limit: 50}, {Limit: 50, Unread: true}, {Limit: 50, Feed: 1}} {
			lines, err := s.Shelf(reading.Owner).Headlines(t.Context(), q)
			if err != nil || len(lines) != 5 ||
				slices.ContainsFunc(lines, func(h reading.Headline) bool { return h.URL != news || h.Item.ID == 0 }) {
				t.Errorf("%+v: %d headlines, %v: %+v", q, len(lines), err, lines)
			}
		}
		exported := 0
		for x, err := range s.Export(t.Context(), "") {
			if exported++; err != nil || x.Hidden != (x.ID != records[0].ID) || x.Entry.Title == "word, altered" {
				t.Errorf("exports %+v, %v", x, err)
			}
		}
		names, err := s.FeedNames(t.Context())
		if err != nil || len(names) != 1 || exported != 5 {
			t.Errorf("%d exported, feeds %v, %v", exported, names, err)
		}
		for number := range int64(4) {
			if f, err := s.NumberedFeed(t.Context(), number); err != nil || (f.URL != "") != (number == 1) {
				t.Errorf("feed %d is %q, %v", number, f.URL, err)
			}
		}
		stats, err := s.FeedStats(t.Context())
		if err != nil || len(stats) != 2 || stats[0].URL != news || stats[1].URL != news ||
			stats[0].Entries+stats[1].Entries != 8 ||
			stats[0].Apart == stats[1].Apart {
			t.Errorf("stats %+v, %v", stats, err)
		}
		if problems := verified(t, s.Reader); problems != nil {
			t.Error(problems)
		}
		for remaining := 1; remaining > 0; {
			if remaining, err = s.Index(100); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Entries that others know of a feed that is followed discreetly are bounded and purged as those that are relayed, and
// not brought back; what is kept of the feed itself does not matter to them.
func TestOthersSideIsPurgedAsRelayed(t *testing.T) {
	s, records := sharedArchive(t)
	ids := archive.IDsOf(records)
	known := func() (kept, purged int) {
		for _, v := range s.Shared().Known(ids) {
			if v.Kept() {
				kept++
			} else if v.Purged {
				purged++
			}
		}
		return kept, purged
	}
	if kept, purged := known(); kept != 4 || purged != 0 {
		t.Fatalf("others know %d entries, and %d that were purged", kept, purged)
	}
	s.Purge(time.Now(), ids[2:]) // by a limit of the feed
	commit(t, s)
	if kept, purged := known(); kept != 4 || purged != 0 {
		t.Errorf("after the owner's were purged others know %d, and %d that were purged", kept, purged)
	}
	overLimit, err := s.OverLimit(t.Context(), time.Now(), archive.Retention{Relayed: 1})
	if err != nil || len(overLimit) != 2 { // (2) own polls had shown to everybody
		t.Fatalf("%d entries to purge, %v", len(overLimit), err)
	}
	for _, dropped := range s.Purge(time.Now(), overLimit) {
		if !dropped {
			t.Error("not dropped")
		}
	}
	commit(t, s)
	again := records[3]
	again.Source = neighborID
	s.Shared().Keep([]archive.Record{again})
	commit(t, s)
	if kept, purged := known(); kept != 2 || purged != 2 {
		t.Errorf("after that they know %d, and %d that were purged", kept, purged)
	}
	if v := s.Known(ids[:2]); !v[0].Kept() || !v[1].Kept() {
		t.Errorf("the owner has %+v", v)
	}
	if problems := verified(t, s.Reader); problems != nil {
		t.Error(problems)
	}
}

// An entry that neighbors bring of a feed that is followed discreetly is stored once, also when an own poll has shown
// it. It is twice there where what the poll showed and what neighbors say differ: of one the neighbor's quota counts,
// the other is polled.
func TestBothSidesShareWhatIsTheSame(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	t.Cleanup(func() { s.Close() })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at, Discreet: true})
	r := newsRecord("1", "word", at)
	r.Source, r.Confirmed = neighborID, false
	stored := func(want, booked int64) {
		t.Helper()
		commit(t, s)
		stats, err := s.FeedStats(t.Context())
		entries := int64(0)
		for _, f := range stats {
			entries += f.Entries
		}
		if err != nil || entries != want {
			t.Errorf("%d entries are stored, want %d: %+v, %v", entries, want, stats, err)
		}
		if x := s.Unshown(at); len(x) != 1 || x[0].Entries != booked {
			t.Errorf("Unshown = %+v, want %d entry", x, booked)
		}
		if problems := verified(t, s.Reader); problems != nil {
			t.Error(problems)
		}
	}
	s.Shared().Keep([]archive.Record{r})
	stored(1, 1)
	for range 2 {
		s.MarkPolled(at.Add(time.Hour), []feed.EntryID{r.ID})
		stored(1, 1)
	}
	appeared, err := s.Appearances(t.Context(), 1, at, 9)
	if err != nil || len(appeared) != 1 || !appeared[0].Polled.Equal(at.Add(time.Hour)) {
		t.Errorf("Appearances = %+v, %v", appeared, err)
	}
	other := r
	other.Entry.Title, other.Confirmed = "altered", true
	other.Digest = other.Entry.Digest()
	s.Shared().Keep([]archive.Record{other})
	stored(2, 1)
}

// An entry that one neighbor forged of a feed that is followed discreetly, and that was purged on both sides, keeps
// what is true from neither.
func TestBothSidesGetWhatIsTrue(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	t.Cleanup(func() { s.Close() })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at, Discreet: true})
	forged, genuine, latest := newsRecord("1", "forged", at), newsRecord("1", "genuine", at),
		newsRecord("2", "latest", at)
	for _, r := range []*archive.Record{&forged, &genuine, &latest} {
		r.Source, r.Confirmed = neighborID, false
	}
	s.Shared().Keep([]archive.Record{forged, latest})
	commit(t, s)
	overLimit, err := s.OverLimit(t.Context(), at, archive.Retention{Relayed: 1})
	if err != nil || len(overLimit) == 0 {
		t.Fatalf("%d entries to purge, %v", len(overLimit), err)
	}
	s.Purge(at, overLimit)
	for _, c := range []struct {
		bring archive.Record
		want  bool
	}{{forged, false}, {genuine, true}} {
		s.Shared().Keep([]archive.Record{c.bring})
		commit(t, s)
		ids := []feed.EntryID{genuine.ID}
		if owners, others := s.Known(ids)[0], s.Shared().Known(ids)[0]; owners.Kept() != c.want ||
			others.Kept() != c.want {
			t.Errorf("%s: the owner has %+v, others %+v", c.bring.Entry.Title, owners, others)
		}
		if problems := verified(t, s.Reader); problems != nil {
			t.Error(problems)
		}
	}
}

// Entries that neighbors bring of a feed that is followed discreetly go to others as those that they bring of one that
// is not followed, whatever own polls have shown of them, and the owner did with them. The owner keeps what polls have
// shown.
func TestWhatIsRelayedGoesAsIfNotFollowed(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	records, ids := make([]archive.Record, 20), make([]feed.EntryID, 20)
	for i := range records {
		r := newsRecord(fmt.Sprint(i), "word", at)
		r.Source, r.Confirmed, r.Seen = neighborID, false, at
		records[i], ids[i] = r, r.ID
	}
	for _, relayed := range []int64{1, 8000} {
		var want []archive.Version // of who does not follow it
		for _, polled := range []int{-1, 0, 7, 20} {
			s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
			defer s.Close()
			if polled >= 0 {
				s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at, Discreet: true})
			}
			s.Shared().Keep(records)
			s.Shared().Confirm(at, ids[2:4])
			if polled >= 0 {
				s.MarkPolled(at, ids[:polled])
			}
			commit(t, s)
			purgeAll(t, s, at.Add(time.Hour), archive.Retention{Relayed: relayed})
			s.Shared().Keep(records)
			commit(t, s)
			got := s.Shared().Known(ids)
			if polled < 0 {
				want = got
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d bytes, %d polled: others know\n%+v, of who does not follow\n%+v", relayed, polled, got,
					want)
			}
			found, err := s.Search(t.Context(), feed.Filter{})
			if err != nil || len(found) < polled {
				t.Errorf("%d bytes, %d polled: the owner finds %d entries, %v", relayed, polled, len(found), err)
			}
			for i, v := range s.Known(ids[:polled]) {
				if !v.Polled || !v.Confirmed || !v.Kept() {
					t.Errorf("the owner knows %d as %+v", i, v)
				}
			}
			wantWhole(t, s)
			own := records[0]
			own.Source, own.Confirmed = protocol.NodeID{}, true
			s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: at})
			keep(t, s, own)
			if v := s.Shared().Known(ids[:1])[0]; polled == 0 && !v.Polled {
				t.Errorf("others know %+v of what an open poll brought back", v)
			}
		}
	}
}

// A search of one feed for others has the index come up with that feed's entries alone, also where it is followed
// discreetly and others know some of it apart: how long it takes tells nothing.
func TestSearchesOfADiscreetFeedAskTheIndexForIt(t *testing.T) {
	s, _ := sharedArchive(t)
	for i := range 50 {
		r := newsRecord(fmt.Sprint(i), "word", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		r.Entry.Feed = "https://other.example.org/feed"
		r.ID, r.Digest = r.Entry.EntryID(), r.Entry.Digest()
		s.Keep([]archive.Record{r})
	}
	commit(t, s)
	if _, err := s.Index(100); err != nil {
		t.Fatal(err)
	}
	f := feed.Filter{Feed: news, Words: []string{"word"}, Shareable: true}
	err := s.searching(t.Context(), f, func(x *search) error {
		if _, err := x.conditions(); err != nil {
			return err
		}
		query, err := x.match()
		if err != nil {
			return err
		}
		seqs, err := x.seqs(`SELECT rowid AS seq FROM words WHERE words MATCH ?`, []any{query.text}, 100)
		if len(seqs) != 8 { // what is the owner's, and what others know apart
			t.Errorf("%s finds %d entries in the index", query.text, len(seqs))
		}
		return err
	})
	found, err2 := s.Search(t.Context(), f)
	if err != nil || err2 != nil || len(found) != 4 {
		t.Errorf("others find %d entries, %v, %v", len(found), err, err2)
	}
}
