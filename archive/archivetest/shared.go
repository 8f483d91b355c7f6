package archivetest

import (
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// testShared has two nodes do the same, but that one of them follows a feed discreetly from some moment on, and the
// other follows it no more. Whatever the first writes of that feed, others know the same of both.
func testShared(t *testing.T, open func(t testing.TB) Archive) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &sharing{quiet: open(t), gone: open(t)}
		for _, a := range []Archive{s.quiet, s.gone} {
			a.KeepFeed(archive.Feed{URL: news, Subscribed: true})
			a.KeepFeed(archive.Feed{URL: blog, Subscribed: true})
		}
		before := rapid.SliceOfN(genRecord, 0, 5).Draw(rt, "before")
		s.both(func(a Archive) { a.Keep(before) })
		s.barred = rapid.Bool().Draw(rt, "barred")
		s.quiet.KeepFeed(archive.Feed{URL: news, Subscribed: true, Discreet: true, Private: s.barred, Barred: s.barred})
		s.gone.KeepFeed(archive.Feed{URL: news, Private: s.barred})
		rt.Repeat(map[string]func(*rapid.T){
			"":        s.compare,
			"poll":    s.poll,
			"bring":   s.bring,
			"confirm": s.confirm,
			"learn":   s.learn,
			"purge":   s.purge,
			"index":   s.index,
			"reopen":  s.reopen,
		})
		for _, a := range []Archive{s.quiet, s.gone} {
			if c, ok := a.(io.Closer); ok {
				if err := c.Close(); err != nil {
					rt.Fatal(err)
				}
			}
		}
	})
}

var someNeighbor = protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790)

// A sharing is the archives of the two.
type sharing struct {
	quiet, gone Archive
	barred      bool // nothing of the feed left either of them before
}

func (s *sharing) both(work func(Archive)) {
	work(s.quiet)
	work(s.gone)
}

// poll writes what an own poll shows: of the feed to one of them, of others to both.
func (s *sharing) poll(rt *rapid.T) {
	records := rapid.SliceOfN(genRecord, 1, 4).Draw(rt, "records")
	ids := make([]feed.EntryID, len(records))
	for i := range records {
		records[i].Source, records[i].Confirmed, ids[i] = protocol.NodeID{}, true, records[i].ID
	}
	own := func(r archive.Record) bool { return r.Entry.Feed == news }
	s.quiet.Keep(records)
	s.gone.Keep(slices.DeleteFunc(slices.Clone(records), own))
	switch rapid.IntRange(0, 3).Draw(rt, "and") {
	case 0:
		s.quiet.Confirm(base, ids)
		s.quiet.MarkPolled(base, ids)
		for i := range records {
			if !own(records[i]) {
				s.gone.Confirm(base, ids[i:i+1])
				s.gone.MarkPolled(base, ids[i:i+1])
			}
		}
	case 1:
		past := slices.DeleteFunc(rapid.SliceOfN(genRecord, 1, 4).Draw(rt, "past"),
			func(r archive.Record) bool { return !own(r) })
		s.quiet.Fill(base, past)
	}
}

// bring writes what a neighbor brought, and for the owner's eyes, too.
func (s *sharing) bring(rt *rapid.T) {
	records := rapid.SliceOfN(genRecord, 1, 4).Draw(rt, "records")
	for i := range records {
		records[i].Source = someNeighbor
	}
	s.both(func(a Archive) { a.Shared().Keep(records) })
	for i := range records {
		if id := records[i].ID; records[i].Entry.Feed == news && s.quiet.Known([]feed.EntryID{id})[0].New() {
			s.quiet.Keep(records[i : i+1])
		}
	}
}

func (s *sharing) confirm(rt *rapid.T) {
	ids := []feed.EntryID{genRecord.Draw(rt, "record").ID}
	s.both(func(a Archive) { a.Shared().Confirm(base, ids) })
}

// learn writes what polls show of the feed, and its owner says.
func (s *sharing) learn(rt *rapid.T) {
	is := func(what string) bool { return rapid.Bool().Draw(rt, what) }
	s.quiet.KeepFeed(archive.Feed{
		URL: news, Subscribed: true, Discreet: true, Barred: s.barred, Private: is("private"), Withheld: is("withheld"),
		Leads: is("leads"), Shared: is("shared"), Title: genText.Draw(rt, "title"),
	})
}

// purge drops what its owner has of the feed.
func (s *sharing) purge(rt *rapid.T) {
	e := feed.Entry{Feed: news, ID: guid(rapid.IntRange(0, entriesPerFeed-1).Draw(rt, "n"))}
	ids := []feed.EntryID{e.EntryID()}
	if rapid.Bool().Draw(rt, "readmit") {
		s.quiet.Readmit(ids)
	} else {
		s.quiet.Purge(base, ids)
	}
}

func (s *sharing) index(rt *rapid.T) {
	for _, a := range []Archive{s.quiet, s.gone} {
		if err := a.Commit(); err != nil {
			rt.Fatal(err)
		}
		if ix, ok := a.(Indexer); ok {
			if _, err := ix.Index(rapid.IntRange(0, 10).Draw(rt, "max")); err != nil {
				rt.Fatal(err)
			}
		}
	}
}

func (s *sharing) reopen(rt *rapid.T) {
	for _, a := range []*Archive{&s.quiet, &s.gone} {
		if err := (*a).Commit(); err != nil {
			rt.Fatal(err)
		}
		if r, ok := (*a).(Reopener); ok {
			*a = r.Reopen()
		}
	}
}

// compare compares what others know of the two.
func (s *sharing) compare(rt *rapid.T) {
	var ids []feed.EntryID
	for _, u := range feeds {
		for n := range entriesPerFeed {
			e := feed.Entry{Feed: u, ID: guid(n)}
			ids = append(ids, e.EntryID())
		}
	}
	for _, a := range []Archive{s.quiet, s.gone} {
		if err := a.Commit(); err != nil {
			rt.Fatal(err)
		}
	}
	got, want := s.quiet.Shared().Known(ids), s.gone.Shared().Known(ids)
	for i := range ids {
		if got[i] != want[i] {
			rt.Fatalf("others know %+v,\nof a node that follows no more %+v", got[i], want[i])
		}
	}
	f := genFilter.Draw(rt, "filter")
	f.Shareable, f.NoSecrets = true, false
	var found [2][]archive.Record
	for i, a := range []Archive{s.quiet, s.gone} {
		list, err := a.Search(rt.Context(), f)
		if err != nil {
			rt.Fatal(err)
		}
		for k := range list {
			list[k].Seq = 0
		}
		found[i] = list
	}
	if !slices.EqualFunc(found[0], found[1], func(a, b archive.Record) bool { return same(&a, &b) }) {
		rt.Fatalf("others find %+v\nat a node that follows no more %+v", found[0], found[1])
	}
}

// testPolledDiscreetly has an own poll list what neighbors brought of a feed that is followed discreetly: before it
// was, or since. Others may know another version later; the owner keeps what the publisher showed, and has it once.
func testPolledDiscreetly(t *testing.T, a Archive) {
	before, since, kept := record(news, 1, "before", ""), record(news, 2, "since", ""), record(news, 3, "kept", "")
	brought := []*archive.Record{&before, &since, &kept}
	for _, r := range brought {
		r.Source, r.Confirmed = someNeighbor, false
	}
	a.Keep([]archive.Record{before})
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Discreet: true})
	a.Shared().Keep([]archive.Record{since, kept})
	if got := a.MarkPolled(base.Add(time.Hour), []feed.EntryID{before.ID, since.ID}); len(got) != 0 {
		t.Errorf("MarkPolled = %+v, but neighbors' shares are what they were", got)
	}
	own := kept
	own.Source = protocol.NodeID{}
	a.Keep([]archive.Record{own})
	Commit(t, a)
	owners := func() {
		t.Helper()
		for _, r := range brought {
			if v := a.Known([]feed.EntryID{r.ID})[0]; v.Digest != r.Digest || !v.Polled || !v.Confirmed {
				t.Errorf("the owner knows %q as %+v", r.Entry.Title, v)
			}
		}
		found, err := a.Search(t.Context(), feed.Filter{Feed: news})
		if err != nil || len(found) != len(brought) ||
			slices.ContainsFunc(found, func(r archive.Record) bool { return !r.Confirmed }) {
			t.Errorf("the owner finds %+v, %v", found, err)
		}
		if got := len(a.Arrivals(news, 9)); got != len(brought) {
			t.Errorf("%d Arrivals, want %d", got, len(brought))
		}
	}
	others := func(digests ...feed.Digest) {
		t.Helper()
		for i, r := range brought {
			if v := a.Shared().Known([]feed.EntryID{r.ID})[0]; v.Digest != digests[i] || v.Polled ||
				v.Confirmed != (digests[i] != r.Digest) {
				t.Errorf("others know %q as %+v", r.Entry.Title, v)
			}
		}
		for _, relevance := range []bool{false, true} {
			found := search(t, a, feed.Filter{Feed: news, Relevance: relevance, Shareable: true})
			if len(found) != len(brought) || slices.ContainsFunc(found, func(r archive.Record) bool {
				return r.Confirmed != (digests[0] != brought[0].Digest) || !slices.Contains(digests, r.Digest)
			}) {
				t.Errorf("others find %+v", found)
			}
		}
		if got := sums(a.Unshown(base)); len(got) != 1 || got[0].Entries != int64(len(brought)) {
			t.Errorf("Unshown = %+v, want each once", got)
		}
	}
	owners()
	others(before.Digest, since.Digest, kept.Digest)
	places := func() (seqs []int64) {
		for _, r := range search(t, a, feed.Filter{IDs: []feed.EntryID{since.ID, kept.ID}}) {
			seqs = append(seqs, r.Seq)
		}
		return seqs
	}
	stood := places()

	// One neighbor says otherwise, and then two.
	var altered []archive.Record
	var digests []feed.Digest
	for _, r := range brought {
		x := *r
		x.Entry.Title, x.Confirmed = "altered", true
		x.Digest = x.Entry.Digest()
		altered, digests = append(altered, x), append(digests, x.Digest)
	}
	a.Shared().Keep(altered)
	Commit(t, a)
	for range 2 {
		owners()
		others(digests...)
		if got := places(); !slices.Equal(got, stood) {
			t.Errorf("neighbors moved what its owner has from %v to %v", stood, got)
		}
		indexAll(t, a)
	}
}

// testPolledOpenlyAgain has own polls list entries of a feed that was followed discreetly and is followed openly since:
// from then on others know these as the publisher shows them, whatever they knew, and whatever neighbors say.
func testPolledOpenlyAgain(t *testing.T, a Archive) {
	same, apart, edited := record(news, 1, "same", ""), record(news, 2, "apart", ""), record(news, 3, "edited", "")
	gone, own := record(news, 4, "gone", ""), record(news, 5, "own", "")
	brought := []archive.Record{same, apart, edited, gone}
	ids := make([]feed.EntryID, len(brought))
	for i := range brought {
		brought[i].Source, brought[i].Confirmed, ids[i] = someNeighbor, false, brought[i].ID
	}
	altered := slices.Clone(brought)
	for i := range altered {
		r := &altered[i]
		r.Entry.Title, r.Confirmed = "altered", true
		r.Digest = r.Entry.Digest()
	}
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Discreet: true})
	a.Shared().Keep(brought)
	a.MarkPolled(base, ids)
	a.Keep([]archive.Record{own})
	a.Shared().Keep(altered[1:3])
	Commit(t, a)
	indexAll(t, a)

	a.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	edited.Entry.Title = "edited since"
	edited.Digest = edited.Entry.Digest()
	share := archive.Share{Source: someNeighbor, Feed: news, Entries: 2}
	got := sums(a.MarkPolled(base.Add(time.Hour), []feed.EntryID{same.ID, apart.ID, own.ID}))
	if len(got) == 1 {
		share.Room = got[0].Room
	}
	if !slices.Equal(got, []archive.Share{share}) {
		t.Errorf("MarkPolled = %+v, want what the neighbor brought", got)
	}
	a.Keep([]archive.Record{edited})
	Commit(t, a)
	for range 2 {
		a.Shared().Keep(altered[:3])
		Commit(t, a)
		for i, want := range []*archive.Record{&same, &apart, &edited, &brought[3]} {
			v := a.Shared().Known([]feed.EntryID{want.ID})[0]
			if listed := i < 3; v.Digest != want.Digest || v.Polled != listed || v.Confirmed != listed {
				t.Errorf("others know %q as %+v", want.Entry.Title, v)
			}
			if v := a.Known([]feed.EntryID{want.ID})[0]; v.Digest != want.Digest || !v.Polled {
				t.Errorf("the owner knows %q as %+v", want.Entry.Title, v)
			}
		}
		if v := a.Shared().Known([]feed.EntryID{own.ID})[0]; !v.New() {
			t.Errorf("others know what polls had shown to the owner alone: %+v", v)
		}
		if got := sums(a.Unshown(base)); len(got) != 1 || got[0].Entries != 1 {
			t.Errorf("Unshown = %+v, want what no open poll listed", got)
		}
		if got := a.MarkPolled(base.Add(2*time.Hour), []feed.EntryID{same.ID, apart.ID, edited.ID}); len(got) != 0 {
			t.Errorf("MarkPolled = %+v of what was marked", got)
		}
		if found := search(t, a, feed.Filter{Words: []string{"altered"}, Shareable: true}); len(found) != 0 {
			t.Errorf("others find %+v", found)
		}
		indexAll(t, a)
	}
}

// testPurgedDiscreetly has an owner purge entries of a feed that they follow discreetly, which others keep, and own
// polls list them again once the feed is followed openly. From then on the owner has them, and others know them as the
// publisher shows them.
func testPurgedDiscreetly(t *testing.T, a Archive) {
	same, edited, absent := record(news, 1, "same", ""), record(news, 2, "edited", ""), record(news, 3, "absent", "")
	brought := []archive.Record{same, edited, absent}
	ids := make([]feed.EntryID, len(brought))
	for i := range brought {
		brought[i].Source, brought[i].Confirmed, ids[i] = someNeighbor, false, brought[i].ID
	}
	a.Keep(brought)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Discreet: true})
	a.Purge(base, ids)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	edited.Entry.Title = "edited since"
	edited.Digest = edited.Entry.Digest()
	a.Keep([]archive.Record{same, edited})
	Commit(t, a)

	for i, want := range []*archive.Record{&same, &edited, &absent} {
		listed := i < 2
		v := a.Shared().Known(ids[i : i+1])[0]
		if v.Digest != want.Digest || v.Polled != listed || v.Confirmed != listed {
			t.Errorf("others know %q as %+v", want.Entry.Title, v)
		}
		if v := a.Known(ids[i : i+1])[0]; v.Kept() != listed || listed && (v.Digest != want.Digest || !v.Polled) {
			t.Errorf("the owner knows %q as %+v", want.Entry.Title, v)
		}
	}
	if got := sums(a.Unshown(base)); len(got) != 1 || got[0].Entries != 1 {
		t.Errorf("Unshown = %+v, want what no open poll listed", got)
	}
}
