package sqlite

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

func TestChannelVersion(t *testing.T) {
	s := newStore(t)
	version := func() archive.FeedVersion {
		t.Helper()
		c, err := s.Channel(t.Context(), news)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.ChannelNumber(t.Context(), c.Number); n != c || err != nil {
			t.Errorf("ChannelNumber(%d) = %+v, %v, want %+v", c.Number, n, err, c)
		}
		return c.Version
	}
	if v := version(); v != (archive.FeedVersion{}) {
		t.Errorf("version of an unknown feed: %+v", v)
	}
	s.KeepFeed(archive.Feed{URL: news})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	last := version()
	if last != (archive.FeedVersion{}) {
		t.Errorf("version of a feed without entries: %+v", last)
	}
	brought := newsRecord("4", "four", time.Unix(500, 0))
	brought.Source, brought.Confirmed = protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790), false
	for i, step := range []struct {
		work    func()
		changed int64 // Unix seconds, 0 where the version must stay
	}{
		{func() { s.Keep([]archive.Record{newsRecord("1", "one", time.Unix(100, 0))}) }, 100},
		{func() { s.KeepFeed(archive.Feed{URL: news, Title: "other"}) }, 0},
		{func() {
			s.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: "https://example.com/"}, time.Unix(150, 0),
				protocol.NodeID{})})
		}, 0},
		{func() { s.Keep([]archive.Record{newsRecord("2", "two", time.Unix(200, 0))}) }, 200},
		{func() { s.Keep([]archive.Record{newsRecord("1", "replaced", time.Unix(300, 0))}) }, 300},
		{func() { s.Keep([]archive.Record{newsRecord("1", "replaced again", time.Unix(301, 0))}) }, 301},
		{func() { s.Keep([]archive.Record{newsRecord("3", "three", time.Unix(400, 0))}) }, 400},
		{func() { s.Keep([]archive.Record{brought}) }, 500},
		{func() { s.Confirm(time.Unix(600, 0), []feed.EntryID{brought.ID, {9}}) }, 600},
		{func() { s.Confirm(time.Unix(700, 0), []feed.EntryID{brought.ID}) }, 0},
		{func() { s.Purge(time.Unix(800, 0), []feed.EntryID{newsRecord("3", "three", time.Unix(400, 0)).ID}) }, 800},
	} {
		step.work()
		if v := version(); v != last {
			t.Errorf("step %d: version %+v before Commit, want %+v", i, v, last)
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		v := version()
		if step.changed == 0 {
			if v != last {
				t.Errorf("step %d: version %+v, want still %+v", i, v, last)
			}
		} else if v.Arrived < last.Arrived || v.Changed < last.Changed || v == last ||
			!v.At.Equal(time.Unix(step.changed, 0)) {
			t.Errorf("step %d: version %+v after %+v, want greater numbers and second %d", i, v, last, step.changed)
		}
		last = v
	}
}

// Records come in the order that was asked for, however large they are and whatever happens meanwhile.
func TestRecords(t *testing.T) {
	s := newStore(t)
	const n = 2*pageEntries + 5
	var want []string
	for i := range n {
		r := newsRecord(word(uint64(i)), word(uint64(i)), time.Unix(int64(i), 0))
		if i%10 == 0 {
			r.Entry.Content = strings.Repeat("x", pageBytes*2/3)
		}
		want = append(want, r.Entry.Title)
		s.Keep([]archive.Record{r, archive.NewRecord(feed.Entry{Feed: "https://example.com/", ID: r.Entry.ID},
			r.Seen, r.Source)})
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(want)
	c, err := s.Channel(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	seqs, err := s.Newest(t.Context(), c.Number, 1000)
	if err != nil || len(seqs) != n {
		t.Fatalf("%d seqs, %v, want %d", len(seqs), err, n)
	}
	var got []string
	for r, err := range s.Records(t.Context(), append(seqs, 1<<40)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Entry.Title)
		keep(t, s, newsRecord("late "+r.Entry.ID, "late", time.Unix(n, 0)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d, newest first", len(got), n)
	}
	for range s.Records(t.Context(), seqs) {
		break
	}
	if few, err := s.Newest(t.Context(), c.Number, 3); err != nil || len(few) != 3 || few[2] <= seqs[0] {
		t.Errorf("the newest three are %d, %v", few, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range s.Records(ctx, seqs) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("with an ended context: %v", errs)
	}
}

// What changed is told in the order of the changes, and what was filled in is no change.
func TestChanged(t *testing.T) {
	s := newStore(t)
	source := protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790)
	record := func(id, title string, confirmed bool) archive.Record {
		r := newsRecord(id, title, time.Unix(100, 0))
		if !confirmed {
			r.Source, r.Confirmed = source, false
		}
		return r
	}
	commit := func() archive.FeedVersion {
		t.Helper()
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		c, err := s.Channel(t.Context(), news)
		if err != nil {
			t.Fatal(err)
		}
		return c.Version
	}
	s.Keep([]archive.Record{record("1", "one", true), record("2", "two", false), record("3", "three", true)})
	s.Fill(time.Unix(150, 0), []archive.Record{record("4", "four", false), record("5", "five", false)})
	before := commit()
	changed := func(since archive.FeedVersion, last int64, limit int, want ...string) {
		t.Helper()
		seqs, err := s.Changed(t.Context(), 1, since, last, limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r := range s.Records(t.Context(), seqs) {
			got = append(got, r.Entry.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("changed since %+v up to %d: %q, want %q", since, last, got, want)
		}
	}
	changed(archive.FeedVersion{}, 100, 9)
	s.Confirm(time.Unix(200, 0), []feed.EntryID{record("2", "", false).ID, record("4", "", false).ID})
	middle := commit()
	s.Keep([]archive.Record{record("1", "other", true), record("5", "other", true)})
	commit()
	changed(archive.FeedVersion{}, 100, 9, "5", "1", "2")
	changed(before, 100, 9, "5", "1", "2")
	changed(middle, 100, 9, "5", "1")
	changed(archive.FeedVersion{}, 1, 9, "5", "1")
	changed(archive.FeedVersion{}, 100, 1, "5")
}

// Which URLs are secrets is judged anew with each poll: an archive may be older than what is known of them.
func TestSecretsAreFoundLate(t *testing.T) {
	s := newStore(t)
	const secret = feed.URL("https://example.net/?token=abc")
	s.KeepFeed(archive.Feed{URL: secret, Subscribed: true})
	s.write(`UPDATE feeds SET secret = 0`)
	s.KeepFeed(archive.Feed{URL: secret, Subscribed: true})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Following(t.Context(), false); err != nil || len(f.Titles) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// All feeds together are those that are followed, and those whose URL is a secret if that is asked for.
func TestFollowing(t *testing.T) {
	s := newStore(t)
	const secret = feed.URL("https://example.net/?token=abc")
	s.KeepFeed(archive.Feed{URL: news, Title: "News", Subscribed: true})
	s.KeepFeed(archive.Feed{URL: secret, Title: "Hush", Subscribed: true})
	s.KeepFeed(archive.Feed{URL: "https://example.com/", Title: "Old"})
	for i, u := range []feed.URL{news, secret, "https://example.com/", news} {
		s.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: u, ID: word(uint64(i))}, time.Unix(int64(100+i), 0),
			protocol.NodeID{})})
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		secret bool
		after  int64
		feeds  int
		want   []int64
	}{{false, 0, 1, []int64{4, 1}}, {true, 0, 2, []int64{4, 2, 1}}, {true, 1, 2, []int64{4, 2}}} {
		f, err := s.Following(t.Context(), c.secret)
		if err != nil || len(f.Titles) != c.feeds || f.Titles[news] != "News" ||
			f.Version != (archive.FeedVersion{Arrived: 4, At: time.Unix(103, 0).UTC()}) {
			t.Errorf("%+v: %+v, %v", c, f, err)
		}
		if got, err := s.NewestOfAll(t.Context(), c.secret, c.after, 9); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	before, _ := s.Following(t.Context(), false)
	s.KeepFeed(archive.Feed{URL: news, Title: "Other", Subscribed: true})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if after, _ := s.Following(t.Context(), false); after.Digest == before.Digest {
		t.Error("another title changes nothing")
	}
}
