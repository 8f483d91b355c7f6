package archivetest

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/protocol"
)

func testFeeds(t *testing.T, a Archive) {
	if got := a.LoadFeeds(); len(got) != 0 {
		t.Fatalf("LoadFeeds of an empty archive = %+v", got)
	}
	full := archive.Feed{
		URL: news, Title: "News", Link: "https://news.example.org/", Icon: "https://news.example.org/i.png",
		About: "What is new", Language: "en-GB", Format: "RSS 2.0",
		Subscribed: true, Private: true, Since: base,
		Weight: 7, Discreet: true, Barred: true, Sharing: archive.SharesLabels, Leads: true, Shared: true,
		Volunteering: archive.Volunteering{Volunteered: base, Tried: base.Add(-time.Hour), Patrons: "192.0.2.1:7790",
			Rests: base.Add(time.Hour), Refused: base.Add(-time.Minute)},
		Lands: "feeds.example.net", Policy: "auto:15m", Helped: 0.3125, Listed: 20,
		Volume: archive.Volume{Daily: 12, Text: 3400}, Gap: archive.Gap{After: base, Before: base.Add(time.Hour),
			Missing: 4, Filled: 1},
		Past: archive.Past{Stage: archive.PastPublisher, Since: base.Add(-time.Hour), Page: "https://example.com/2025",
			Steps: 3, Back: base, Filled: 7,
			Lack: "time hops", Left: base.Add(time.Minute), Tries: 2, Again: base.Add(time.Hour)},
		ETag: `W/"a b"`, LastModified: "Sun, 01 Mar 2026 12:00:00 GMT", Interval: 90*time.Second + 1,
		NextPoll: base.Add(1500 * time.Millisecond), LastPoll: base.Add(time.Second), LastSuccess: base.Add(-time.Hour),
		Errors: 3, LastError: "no answer", Withheld: true, Ended: true,
		Page: "https://example.com/", Names: `[{"url":"https://example.com/a"}]`,
		Body: feed.Digest{1, 2, 3}, Unread: true, Unconditional: base.Add(2 * time.Second),
		Move: courtesy.Move{
			Alias: "https://example.com/there", Moved: "https://example.com/further", MovedSeen: 2,
			MovedSince: base.Add(3 * time.Second),
		},
		Terms: courtesy.Terms{
			Lifetime: time.Hour + 1, NotBefore: base.Add(2 * time.Hour),
			Pace: feed.PollingHints{Every: time.Minute, SkipHours: 1<<24 - 1, SkipDays: 1 << 6},
		},
	}
	bare := archive.Feed{URL: blog}
	a.KeepFeed(full)
	a.KeepFeed(bare)
	// An entry of a feed makes it no feed of the node's.
	a.Keep([]archive.Record{record("https://a.example.com/", 1, "", "")})
	want := []archive.Feed{bare, full} // by URL
	if got := a.LoadFeeds(); !slices.Equal(got, want) {
		t.Errorf("LoadFeeds before Commit = %+v, want %+v", got, want)
	}
	for u, want := range map[feed.URL]archive.Feed{news: full, blog: bare, "https://a.example.com/": {},
		"https://b.example.com/": {}} {
		if got := a.LoadFeed(u); got != want {
			t.Errorf("LoadFeed of %s = %+v, want %+v", u, got, want)
		}
	}
	Commit(t, a)

	full.Subscribed, full.ETag, full.LastError, full.Since = false, "", "", time.Time{}
	full.Weight, full.Discreet, full.Barred, full.Leads, full.Shared = 0, false, false, false, false
	full.Sharing = archive.SharesNothing
	full.Volunteering = archive.Volunteering{}
	full.Lands, full.Policy, full.Helped, full.Listed, full.Volume, full.Gap, full.Past = "", "", 0, 0,
		archive.Volume{}, archive.Gap{}, archive.Past{}
	full.Page, full.Names = "", ""
	full.Withheld, full.Ended, full.Body, full.Unread, full.Alias, full.Pace = false, false, feed.Digest{}, false,
		"", feed.PollingHints{}
	a.KeepFeed(full)
	local := full
	local.NextPoll = full.NextPoll.In(time.FixedZone("", 3600)).Add(999 * time.Microsecond)
	a.KeepFeed(local)
	Commit(t, a)
	want[1] = full
	if got := a.LoadFeeds(); !slices.Equal(got, want) {
		t.Errorf("LoadFeeds = %+v, want %+v", got, want)
	}

	// Nobody subscribes any more; the entries stay.
	a.Keep([]archive.Record{record(news, 2, "", "")})
	Commit(t, a)
	full.LastPoll = base.Add(time.Minute)
	a.KeepFeed(full)
	Commit(t, a)
	if got := search(t, a, feed.Filter{Feed: news}); len(got) != 1 {
		t.Errorf("found %d entries of a feed left, want 1", len(got))
	}
}

func testDIDs(t *testing.T, open func(testing.TB) Archive) {
	did := func(n int) (d protocol.DID) {
		binary.BigEndian.PutUint64(d[3:], uint64(n)*0x9E3779B97F4A7C15)
		return d
	}
	t.Run("latest last", func(t *testing.T) {
		a := open(t)
		if a.HasDID(did(1)) || len(a.LatestDIDs(5)) != 0 {
			t.Error("an empty archive has dids")
		}
		for _, n := range []int{3, 1, 2, 3} { // the second 3 changes nothing
			a.KeepDID(did(n))
		}
		if !a.HasDID(did(1)) || a.HasDID(did(4)) {
			t.Error("HasDID before Commit is wrong")
		}
		Commit(t, a)
		a.KeepDID(did(4))
		Commit(t, a)
		for n, want := range map[int][]protocol.DID{
			-1: nil, 0: nil, 1: {did(4)}, 3: {did(1), did(2), did(4)}, 9: {did(3), did(1), did(2), did(4)},
		} {
			if got := a.LatestDIDs(n); !slices.Equal(got, want) {
				t.Errorf("LatestDIDs(%d) = %v, want %v", n, got, want)
			}
		}
	})
	t.Run("bounded", func(t *testing.T) {
		if testing.Short() {
			t.Skip("keeps 120,000 dids")
		}
		a := open(t)
		const total = archive.KeptDIDs + archive.KeptDIDs/5
		for n := range total {
			a.KeepDID(did(n))
			if n%5000 == 0 {
				Commit(t, a)
			}
		}
		Commit(t, a)
		for n := total - archive.KeptDIDs; n < total; n += 997 {
			if !a.HasDID(did(n)) {
				t.Fatalf("did %d of %d is gone", n, total)
			}
		}
		latest := a.LatestDIDs(total)
		if len(latest) < archive.KeptDIDs || len(latest) > archive.KeptDIDs*11/10 {
			t.Errorf("%d dids are kept of %d, want about %d", len(latest), total, archive.KeptDIDs)
		}
		if latest[len(latest)-1] != did(total-1) {
			t.Error("the latest did is not the last")
		}
		if a.HasDID(did(0)) {
			t.Error("the oldest did is still kept")
		}
	})
}

func testPeers(t *testing.T, a Archive) {
	if got := a.LoadPeers(); len(got) != 0 {
		t.Fatalf("LoadPeers of an empty archive = %+v", got)
	}
	peer := func(id string) protocol.FormerNeighbor {
		return protocol.FormerNeighbor{ID: NodeID(t, id), FirstMet: base, LastMet: base.Add(time.Millisecond),
			Together: time.Hour + 1, Failures: 2}
	}
	ordered := []protocol.FormerNeighbor{
		peer("9.9.9.9:7790"), peer("10.0.0.1:80"), peer("10.0.0.1:7790"), {ID: NodeID(t, "[2001:db8::1]:7790")},
	}
	for _, i := range []int{2, 3, 0, 1} {
		a.KeepPeer(ordered[i])
	}
	a.DropPeer(NodeID(t, "10.9.9.9:1")) // was never there
	Commit(t, a)
	if got := a.LoadPeers(); !slices.Equal(got, ordered) {
		t.Errorf("LoadPeers = %+v, want %+v", got, ordered)
	}

	a.DropPeer(ordered[0].ID)
	ordered = ordered[1:]
	ordered[0].Failures, ordered[0].LastMet = 0, time.Time{}
	a.KeepPeer(ordered[0])
	if got := a.LoadPeers(); !slices.Equal(got, ordered) {
		t.Errorf("LoadPeers before Commit = %+v, want %+v", got, ordered)
	}
	Commit(t, a)
	if got := a.LoadPeers(); !slices.Equal(got, ordered) {
		t.Errorf("LoadPeers = %+v, want %+v", got, ordered)
	}
}
