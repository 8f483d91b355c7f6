package archivetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// newsChannel is the channel of a feed.
func newsChannel(t testing.TB, a reading.Database) archive.Channel {
	t.Helper()
	c, err := a.Channel(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testChannelVersion(t *testing.T, a reading.Database) {
	version := func() archive.FeedVersion {
		t.Helper()
		c := newsChannel(t, a)
		if n, err := a.ChannelNumber(t.Context(), c.Number); n != c || err != nil {
			t.Errorf("ChannelNumber(%d) = %+v, %v, want %+v", c.Number, n, err, c)
		}
		return c.Version
	}
	if v := version(); v != (archive.FeedVersion{}) {
		t.Errorf("version of an unknown feed: %+v", v)
	}
	a.KeepFeed(archive.Feed{URL: news})
	Commit(t, a)
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
		{func() { a.Keep([]archive.Record{newsRecord("1", "one", time.Unix(100, 0))}) }, 100},
		{func() { a.KeepFeed(archive.Feed{URL: news, Title: "other"}) }, 0},
		{func() {
			a.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: "https://example.com/"}, time.Unix(150, 0),
				protocol.NodeID{})})
		}, 0},
		{func() { a.Keep([]archive.Record{newsRecord("2", "two", time.Unix(200, 0))}) }, 200},
		{func() { a.Keep([]archive.Record{newsRecord("1", "replaced", time.Unix(300, 0))}) }, 300},
		{func() { a.Keep([]archive.Record{newsRecord("1", "replaced again", time.Unix(301, 0))}) }, 301},
		{func() { a.Keep([]archive.Record{newsRecord("3", "three", time.Unix(400, 0))}) }, 400},
		{func() { a.Keep([]archive.Record{brought}) }, 500},
		{func() { a.Confirm(time.Unix(600, 0), []feed.EntryID{brought.ID, {9}}) }, 600},
		{func() { a.Confirm(time.Unix(700, 0), []feed.EntryID{brought.ID}) }, 0},
		{func() { a.Purge(time.Unix(800, 0), []feed.EntryID{newsRecord("3", "three", time.Unix(400, 0)).ID}) }, 800},
	} {
		step.work()
		if v := version(); v != last {
			t.Errorf("step %d: version %+v before Commit, want %+v", i, v, last)
		}
		Commit(t, a)
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

// newsRecord is an entry of news.
func newsRecord(id, text string, seen time.Time) archive.Record {
	return archive.NewRecord(feed.Entry{Feed: news, ID: id, Title: text}, seen, protocol.NodeID{})
}

// Records come in the order that was asked for, however large they are and whatever happens meanwhile.
func testRecords(t *testing.T, a reading.Database) {
	const n = 133
	var want []string
	for i := range n {
		r := newsRecord(fmt.Sprint("r", i), fmt.Sprint("r", i), time.Unix(int64(i), 0))
		if i%10 == 0 {
			r.Entry.Content = strings.Repeat("x", 700_000)
		}
		want = append(want, r.Entry.Title)
		a.Keep([]archive.Record{r, archive.NewRecord(feed.Entry{Feed: "https://example.com/", ID: r.Entry.ID},
			r.Seen, r.Source)})
	}
	Commit(t, a)
	slices.Reverse(want)
	c := newsChannel(t, a)
	seqs, err := a.Newest(t.Context(), c.Number, 1000)
	if err != nil || len(seqs) != n {
		t.Fatalf("%d seqs, %v, want %d", len(seqs), err, n)
	}
	var got []string
	for r, err := range a.Records(t.Context(), append(seqs, 1<<40)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Entry.Title)
		Keep(t, a, newsRecord("late "+r.Entry.ID, "late", time.Unix(n, 0)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d, newest first", len(got), n)
	}
	for range a.Records(t.Context(), seqs) {
		break
	}
	if few, err := a.Newest(t.Context(), c.Number, 3); err != nil || len(few) != 3 || few[2] <= seqs[0] {
		t.Errorf("the newest three are %d, %v", few, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range a.Records(ctx, seqs) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("with an ended context: %v", errs)
	}
}

// Entries that changed are told in the order of the changes, and entries that were filled in are no change.
func testChanged(t *testing.T, a reading.Database) {
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
		Commit(t, a)
		return newsChannel(t, a).Version
	}
	a.Keep([]archive.Record{record("1", "one", true), record("2", "two", false), record("3", "three", true)})
	a.Fill(time.Unix(150, 0), []archive.Record{record("4", "four", false), record("5", "five", false)})
	before := commit()
	changed := func(since archive.FeedVersion, last int64, limit int, want ...string) {
		t.Helper()
		seqs, err := a.Changed(t.Context(), 1, since, last, limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r := range a.Records(t.Context(), seqs) {
			got = append(got, r.Entry.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("changed since %+v up to %d: %q, want %q", since, last, got, want)
		}
	}
	changed(archive.FeedVersion{}, 100, 9)
	a.Confirm(time.Unix(200, 0), []feed.EntryID{record("2", "", false).ID, record("4", "", false).ID})
	middle := commit()
	a.Keep([]archive.Record{record("1", "other", true), record("5", "other", true)})
	commit()
	changed(archive.FeedVersion{}, 100, 9, "5", "1", "2")
	changed(before, 100, 9, "5", "1", "2")
	changed(middle, 100, 9, "5", "1")
	changed(archive.FeedVersion{}, 1, 9, "5", "1")
	changed(archive.FeedVersion{}, 100, 1, "5")
}

// All feeds together are those that are followed, and those whose URL is a secret if that is asked for.
func testFollowing(t *testing.T, a reading.Database) {
	const secret = feed.URL("https://example.net/?token=abc")
	a.KeepFeed(archive.Feed{URL: news, Title: "News", Subscribed: true})
	a.KeepFeed(archive.Feed{URL: secret, Title: "Hush", Subscribed: true})
	a.KeepFeed(archive.Feed{URL: "https://example.com/", Title: "Old"})
	for i, u := range []feed.URL{news, secret, "https://example.com/", news} {
		a.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: u, ID: fmt.Sprint(i)}, time.Unix(int64(100+i), 0),
			protocol.NodeID{})})
	}
	Commit(t, a)
	for _, c := range []struct {
		secret bool
		after  int64
		feeds  int
		want   []int64
	}{{false, 0, 1, []int64{4, 1}}, {true, 0, 2, []int64{4, 2, 1}}, {true, 1, 2, []int64{4, 2}}} {
		f, err := a.Following(t.Context(), c.secret)
		if err != nil || len(f.Titles) != c.feeds || f.Titles[news] != "News" ||
			f.Version != (archive.FeedVersion{Arrived: 4, At: time.Unix(103, 0).UTC()}) {
			t.Errorf("%+v: %+v, %v", c, f, err)
		}
		if got, err := a.NewestOfAll(t.Context(), c.secret, c.after, 9); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	before, _ := a.Following(t.Context(), false)
	a.KeepFeed(archive.Feed{URL: news, Title: "Other", Subscribed: true})
	Commit(t, a)
	if after, _ := a.Following(t.Context(), false); after.Digest == before.Digest {
		t.Error("another title changes nothing")
	}
}

// Whatever arrives and is filled in, in whatever order: a block that was named once has the same entries for ever, also
// after the oldest were purged, less those; and the latest arrivals with all blocks before are everything.
func testBlocks(t *testing.T, open func(t testing.TB) reading.Database) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { growBlocks(t, open(t), rand.New(rand.NewPCG(seed, 0))) })
	}
}

func growBlocks(t *testing.T, a reading.Database, rng *rand.Rand) {
	other := feed.URL("https://example.com/other")
	named := make(map[archive.BlockRef][]int64)
	gone := make(map[int64]bool)
	id := 0
	entries := func(u feed.URL, n int) (list []archive.Record) {
		for range n {
			id++
			list = append(list, archive.NewRecord(feed.Entry{Feed: u, ID: fmt.Sprint(id)},
				time.Unix(int64(id), 0), protocol.NodeID{}))
		}
		return list
	}
	for range 20 {
		n := 1 + rng.IntN(60)
		switch rng.IntN(7) {
		case 0, 1, 2:
			a.Keep(entries(news, n))
		case 3, 4:
			a.Fill(time.Unix(1, 0), entries(news, n))
		case 5:
			a.Fill(time.Unix(1, 0), entries(other, n/3))
			a.Keep(entries(other, n/3))
		case 6:
			oldest := search(t, a, feed.Filter{Limit: math.MaxInt})
			var ids []feed.EntryID
			for _, r := range oldest[max(0, len(oldest)-n):] {
				ids, gone[r.Seq] = append(ids, r.ID), true
			}
			a.Purge(time.Unix(1, 0), ids)
		}
		Commit(t, a)
		CheckBlocks(t, a, named, gone)
	}
}

// CheckBlocks follows a feed's blocks from the last to the first, and compares them with what they had before, which is
// in named; gone are the seqs of what was purged since.
func CheckBlocks(t *testing.T, a reading.Database, named map[archive.BlockRef][]int64, gone map[int64]bool) {
	t.Helper()
	c := newsChannel(t, a)
	if c.Number == 0 {
		return
	}
	got, err := a.Newest(t.Context(), c.Number, archive.FullBlock)
	if err != nil {
		t.Fatal(err)
	}
	last, err := a.LastBlock(t.Context(), c.Number)
	if err != nil {
		t.Fatal(err)
	}
	for ref := last; ref.Block > 0; {
		block, err := a.Block(t.Context(), c.Number, ref)
		if err != nil || len(block.Seqs) == 0 || block.BlockRef != ref || block.Prev.Block >= ref.Block {
			t.Fatalf("block %+v: %+v, %v", ref, block, err)
		}
		if _, known := named[ref]; !known {
			named[ref] = block.Seqs
		}
		got = append(got, block.Seqs...)
		if prev := block.Prev; prev.Block > 0 {
			before, err := a.Block(t.Context(), c.Number, prev)
			if err != nil || before.Next != ref {
				t.Fatalf("block %+v is followed by %+v, %v, want %+v", prev, before.Next, err, ref)
			}
		}
		ref = block.Prev
	}
	for ref, want := range named {
		block, err := a.Block(t.Context(), c.Number, ref)
		want = slices.DeleteFunc(slices.Clone(want), func(seq int64) bool { return gone[seq] })
		if err != nil || !slices.Equal(block.Seqs, want) {
			t.Fatalf("block %+v has %d, %v, and had %d", ref, block.Seqs, err, want)
		}
	}
	slices.Sort(got)
	var all []int64
	for _, r := range slices.Backward(search(t, a, feed.Filter{Feed: news, Limit: math.MaxInt})) {
		all = append(all, r.Seq)
	}
	if !slices.Equal(slices.Compact(got), all) {
		t.Fatalf("the latest and all blocks have %d, want %d", got, all)
	}
}
