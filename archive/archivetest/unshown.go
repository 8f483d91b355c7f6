package archivetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// sums adds shares up by source and feed.
func sums(shares []archive.Share) (list []archive.Share) {
	slices.SortStableFunc(shares,
		func(a, b archive.Share) int { return cmp.Or(a.Source.Compare(b.Source), cmp.Compare(a.Feed, b.Feed)) })
	for _, x := range shares {
		if last := len(list) - 1; last >= 0 && list[last].Source == x.Source && list[last].Feed == x.Feed {
			list[last].Entries += x.Entries
			list[last].Room += x.Room
			continue
		}
		x.At = time.Time{}
		list = append(list, x)
	}
	return list
}

// sameShares reports whether an archive counts what a Memory counts, and no more room for it.
func sameShares(got, memory []archive.Share) bool {
	return slices.EqualFunc(sums(got), sums(memory), func(a, b archive.Share) bool {
		return a.Source == b.Source && a.Feed == b.Feed && a.Entries == b.Entries && a.Room <= b.Room &&
			a.Room >= a.Entries*archive.EntryRoom
	})
}

// testUnshown has neighbors bring entries, of which own polls list some: those are theirs no more.
func testUnshown(t *testing.T, a Archive) {
	one, two := NodeID(t, "192.0.2.7:7790"), NodeID(t, "198.51.100.9:7791")
	brought := func(by protocol.NodeID, u feed.URL, n int) archive.Record {
		r := record(u, n, "title", "some text")
		r.Source, r.Confirmed = by, false
		return r
	}
	records := []archive.Record{brought(one, news, 1), brought(one, news, 2), brought(one, blog, 3),
		brought(two, news, 4), record(news, 5, "own", "")}
	a.Keep(records)
	a.Fill(base, []archive.Record{brought(two, news, 6)}) // was no news
	Commit(t, a)
	room := archive.Room(archive.TextBytes(&records[0].Entry))
	want := func(since time.Time, shares ...archive.Share) {
		t.Helper()
		if got := a.Unshown(since); !slices.Equal(sums(got), shares) {
			t.Errorf("Unshown = %+v, want %+v", got, shares)
		}
	}
	share := func(by protocol.NodeID, u feed.URL, n int64) archive.Share {
		return archive.Share{Source: by, Feed: u, Entries: n, Room: n * room}
	}
	extra := share(one, blog, 1)
	extra.Room = archive.Room(archive.TextBytes(&records[2].Entry))
	want(base, extra, share(one, news, 2), share(two, news, 1))
	want(records[1].Seen, extra, share(one, news, 1), share(two, news, 1))
	want(base.Add(99 * time.Hour))
	for _, x := range a.Unshown(base) {
		if at := x.At; at.Before(base) || at.After(base.Add(4*time.Hour)) {
			t.Errorf("a share is of %v", at)
		}
	}

	a.Confirm(base, []feed.EntryID{records[0].ID, records[3].ID}) // others have them as well
	want(base, extra, share(one, news, 2), share(two, news, 1))
	for i, shares := range [][]archive.Share{{share(one, news, 1)}, nil} {
		got := a.MarkPolled(base.Add(5*time.Hour), []feed.EntryID{records[0].ID, {9}, records[4].ID})
		if i == 0 && (len(got) != 1 || !got[0].At.Equal(records[0].Seen)) {
			t.Errorf("MarkPolled = %+v, want the one that neighbors brought at %v", got, records[0].Seen)
		}
		if !slices.Equal(sums(got), shares) {
			t.Errorf("MarkPolled = %+v, want %+v", got, shares)
		}
	}
	Commit(t, a)
	want(base, extra, share(one, news, 1), share(two, news, 1))
	a.Purge(base, []feed.EntryID{records[3].ID})
	Commit(t, a)
	want(base, extra, share(one, news, 1))
}
