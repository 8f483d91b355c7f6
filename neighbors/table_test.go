package neighbors

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

var now = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func id(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 7790)
}

func url(i int) feed.URL { return feed.URL(fmt.Sprintf("https://example.com/%d", i)) }

// lookup is the neighbor with that id, or nil.
func lookup(t *RoutingTable, id protocol.NodeID) *Neighbor { return t.byID[id] }

func newTable() *RoutingTable {
	return NewRoutingTable(Config{Max: 10, MaxHops: 3, MaxRelayed: protocol.MaxSubset})
}

func TestOfferIsComputedWithoutTheAskersOwn(t *testing.T) {
	table := newTable()
	table.Own(url(0), true)
	a := table.Add(now, id(1), true, protocol.Subset{{Feed: url(1), Hops: 0},
		{Feed: url(2), Hops: 2}, {Feed: url(3), Hops: 3}}, nil)
	b := table.Add(now, id(2), true, protocol.Subset{{Feed: url(1), Hops: 1}}, nil)
	for _, c := range []struct {
		name string
		to   protocol.NodeID
		want protocol.Subset
	}{
		{"a stranger hears of everything within reach", id(9),
			protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 1}, {Feed: url(2), Hops: 3}}},
		{"a neighbor hears what others want", a.ID, protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 2}}},
		{"the nearest of the others counts", b.ID, protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 1},
			{Feed: url(2), Hops: 3}}},
	} {
		if got := table.Offer(c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestForwardingGoesToThoseWithinReach(t *testing.T) {
	table := NewRoutingTable(Config{Max: 10, MaxHops: 2, MaxRelayed: 100})
	table.Add(now, id(1), true, protocol.Subset{{Feed: url(0), Hops: 1}}, nil)
	table.Add(now, id(2), true, protocol.Subset{{Feed: url(0), Hops: 3}}, nil)
	table.Add(now, id(3), true, protocol.Subset{{Feed: url(2), Hops: 2}}, nil)
	far := table.All()[1]
	got := table.Interested(url(0))
	if len(got) != 1 || got[0].ID != id(1) {
		t.Errorf("interested: %v", got)
	}
	if last := table.Interested(url(2)); len(last) != 1 || last[0].ID != id(3) {
		t.Errorf("interested at the last hop: %v", last)
	}
	for i, want := range []bool{true, false, false} {
		if n := table.All()[i]; table.Forwards(url(0), n) != want || table.Forwards(url(2), n) != (i == 2) {
			t.Errorf("to neighbor %d something else is forwarded than to those interested", i+1)
		}
	}
	table.Private(url(2), true)
	if table.Forwards(url(2), table.All()[2]) || !table.IsPrivate(url(2)) {
		t.Error("what is private is forwarded")
	}
	if table.IsPrivate(url(0)) || table.IsPrivate(url(99)) {
		t.Error("what is not private is said to be")
	}
	if !table.Wanted(url(0), far) {
		t.Error("a feed that a neighbor within reach wants is not wanted from another")
	}
	if table.Wanted(url(0), got[0]) {
		t.Error("what one neighbor alone wants is wanted from it")
	}
	table.Own(url(0), true)
	if !table.Wanted(url(0), got[0]) || table.Wanted(url(1), far) {
		t.Error("our own interest does not count, or one that nobody has does")
	}
}

func TestAdmission(t *testing.T) {
	at := func(text string) protocol.NodeID {
		n, err := protocol.ParseNodeID(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		name  string
		local bool
		have  []string
		ask   string
		want  error
	}{
		{"an empty table takes anyone", false, nil, "20.0.0.1:7790", nil},
		{"two of a network is enough", false, []string{"20.0.0.1:7790", "20.0.0.2:7790"}, "20.0.0.3:7790", ErrCrowded},
		{"a neighbor may connect again", false, []string{"20.0.0.1:7790", "20.0.0.2:7790"}, "20.0.0.2:7790", nil},
		{"another port is another node", false, []string{"20.0.0.1:7790", "20.0.0.1:7791"},
			"20.0.0.1:7792", ErrCrowded},
		{"a /48 is one network", false, []string{"[2a00:1:2:3::1]:7790", "[2a00:1:2:4::1]:7790"},
			"[2a00:1:2:5::1]:7790", ErrCrowded},
		{"another /48 is another", false, []string{"[2a00:1:2:3::1]:7790", "[2a00:1:2:4::1]:7790"},
			"[2a00:1:3:5::1]:7790", nil},
		{"local addresses are not counted where they are allowed", true, []string{"127.0.0.1:7790", "127.0.0.1:7791"},
			"127.0.0.1:7792", nil},
		{"public ones are, even then", true, []string{"20.0.0.1:7790", "20.0.0.2:7790"}, "20.0.0.3:7790", ErrCrowded},
		{"a network with its two places gets none that is given up", false,
			[]string{"20.0.0.1:7790", "20.0.0.2:7790", "20.0.1.1:7790", "20.0.2.1:7790"}, "20.0.0.3:7790", ErrCrowded},
		{"a full table takes nobody", true, []string{"127.0.0.1:1001", "127.0.0.1:1002",
			"127.0.0.1:1003", "127.0.0.1:1004"}, "127.0.0.1:1005", ErrFull},
	} {
		table := NewRoutingTable(Config{Max: 4, MaxHops: 3, MaxRelayed: 100, AllowLocal: c.local})
		for _, h := range c.have {
			table.Add(now, at(h), true, nil, nil)
		}
		if got := table.Admit(at(c.ask), true, false); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A stranger hears of the nearest feeds, and of the others once it is a neighbor.
func TestTheNearestFeedsIntroduceUs(t *testing.T) {
	const far = 700
	table := newTable()
	var wanted protocol.Subset
	for i := range far {
		wanted = append(wanted, protocol.Interest{Feed: url(i), Hops: 2})
	}
	table.Add(now, id(1), true, wanted, nil)
	for i := range 20 {
		table.Own(url(far+i), true)
	}
	first := table.Introduction(id(2))
	if len(first) != MaxIntroduction || first[19].Hops != 0 || first[20].Hops != 3 {
		t.Fatalf("%d feeds introduce us: %v", len(first), first)
	}
	n := table.Add(now, id(2), true, nil, first)
	rest := table.Changes(n)
	if len(rest) != far+20-MaxIntroduction {
		t.Errorf("the neighbor hears of %d feeds more", len(rest))
	}
	table.Own(url(far), false)
	if again := table.Introduction(id(3)); len(again) != MaxIntroduction || again[19].Hops != 3 {
		t.Errorf("a feed of our own is gone, and introduces us still: %v", again[:20])
	}
}

// A neighbor that takes every set of changes, in whatever order things happen, knows exactly the set that Offer
// computes for it, which never depends on its own advert.
func TestChangesAddUpToTheOffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable()
		views := map[protocol.NodeID]map[feed.URL]int{} // what each neighbor believes
		t.Repeat(map[string]func(*rapid.T){
			"own": func(t *rapid.T) {
				table.Own(url(rapid.IntRange(0, 5).Draw(t, "feed")), rapid.Bool().Draw(t, "own"))
			},
			"mark": func(t *rapid.T) {
				mark := rapid.SampledFrom([]func(feed.URL, bool) bool{table.Private, table.Volunteer,
					table.Prospect}).Draw(t, "mark")
				mark(url(rapid.IntRange(0, 5).Draw(t, "feed")), rapid.Bool().Draw(t, "value"))
			},
			"join": func(t *rapid.T) {
				n := id(rapid.IntRange(1, 4).Draw(t, "neighbor"))
				offered := table.Offer(n)
				table.Add(now, n, true, drawSubset(t, 0), offered)
				views[n] = map[feed.URL]int{}
				apply(views[n], offered)
			},
			"leave": func(t *rapid.T) {
				n := id(rapid.IntRange(1, 4).Draw(t, "neighbor"))
				table.Remove(n)
				delete(views, n)
			},
			"hear": func(t *rapid.T) {
				n := lookup(table, id(rapid.IntRange(1, 4).Draw(t, "neighbor")))
				if n == nil {
					t.Skip("no such neighbor")
				}
				table.Hear(n, drawSubset(t, protocol.Withdrawn))
			},
			"advertise": func(t *rapid.T) {
				n := lookup(table, id(rapid.IntRange(1, 4).Draw(t, "neighbor")))
				if n == nil {
					t.Skip("no such neighbor")
				}
				changes := table.Changes(n)
				heard := rapid.Bool().Draw(t, "heard")
				if heard {
					apply(views[n.ID], changes)
				}
				table.Own(url(rapid.IntRange(0, 5).Draw(t, "meanwhile")), rapid.Bool().Draw(t, "own"))
				if !rapid.Bool().Draw(t, "answered") || !heard {
					table.Doubt(n, changes) // no answer came, whether it was heard or not
				} else {
					table.Advertised(n, changes)
				}
				changes = table.Changes(n)
				apply(views[n.ID], changes)
				table.Advertised(n, changes)
				if again := table.Changes(n); len(again) != 0 {
					t.Fatalf("said everything, and still has to say %v", again)
				}
				want := map[feed.URL]int{}
				apply(want, table.Offer(n.ID))
				if table.Silent(n.ID) != (len(table.Offer(n.ID)) == 0) {
					t.Fatalf("silent to %s: %v", n.ID, table.Silent(n.ID))
				}
				if fmt.Sprint(want) != fmt.Sprint(views[n.ID]) {
					t.Fatalf("%s believes %v, is to hear %v", n.ID, views[n.ID], want)
				}
				before := fmt.Sprint(table.Offer(n.ID))
				table.Hear(n, protocol.Subset{{Feed: url(0), Hops: rapid.IntRange(-1, 3).Draw(t, "hops")}})
				if after := fmt.Sprint(table.Offer(n.ID)); after != before {
					t.Fatalf("its own advert changed what it is to hear from %s to %s", before, after)
				}
			},
			"": func(t *rapid.T) {
				if table.Len() > 10 {
					t.Fatalf("%d neighbors", table.Len())
				}
				checkRoutes(t, table)
			},
		})
	})
}

func drawSubset(t *rapid.T, low int) (s protocol.Subset) {
	for i := range 6 {
		if rapid.Bool().Draw(t, "in") {
			s = append(s, protocol.Interest{Feed: url(i), Hops: rapid.IntRange(low, 3).Draw(t, "hops")})
		}
	}
	return s
}

func apply(view map[feed.URL]int, changes protocol.Subset) {
	for _, in := range changes {
		if in.Hops < 0 {
			delete(view, in.Feed)
		} else {
			view[in.Feed] = in.Hops
		}
	}
}

func TestWhatIsPrivateGoesNowhere(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, protocol.Subset{
		{Feed: "https://user:secret@example.com/feed"}, {Feed: "https://example.com/feed?token=1"},
		{Feed: "http://192.168.1.5/feed"}, {Feed: "http://nas.local/feed"}, {Feed: url(1)}, {Feed: url(2)},
	}, nil)
	if n.Feeds() != 2 {
		t.Errorf("%d feeds were taken of an advert with two that may be spoken of", n.Feeds())
	}
	table.Private(url(1), true)
	table.Own(url(1), true)
	if got := table.Offer(id(9)); len(got) != 1 || got[0].Feed != url(2) {
		t.Errorf("offered: %v", got)
	}
	if table.Wanted(url(1), n) || len(table.Interested(url(1))) != 0 {
		t.Error("a private feed is wanted, or forwarded")
	}
	table.Private(url(1), false)
	if len(table.Offer(id(9))) != 2 {
		t.Error("a feed that is private no more is not offered")
	}
}

func TestAdvertsFitAMessage(t *testing.T) {
	table := newTable()
	for i := range 9 {
		n := table.Add(now, id(i), true, nil, nil)
		var long protocol.Subset
		for j := range protocol.MaxSubset / 10 {
			long = append(long,
				protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://example.com/%d/%d/%s", i, j,
					strings.Repeat("&", 1900)))})
		}
		table.Hear(n, long)
		if n.bytes > maxHeardBytes {
			t.Fatalf("%d bytes are kept of a neighbor", n.bytes)
		}
	}
	body := protocol.EncodeCall(nil, 7790, protocol.Connect{Subset: table.Offer(id(99))})
	if limit := protocol.CallLimits("connect").Bytes; len(body) > limit {
		t.Errorf("an offer takes %d bytes, the limit is %d", len(body), limit)
	}
}

// Changes are cut likewise, and what is cut is said with the next, until all is said.
func TestChangesFitAMessage(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, nil, nil)
	const feeds = 1500
	for i := range feeds {
		table.Own(feed.URL(fmt.Sprintf("https://example.com/%d/%s", i, strings.Repeat("&", 1900))), true)
	}
	heard := map[feed.URL]int{}
	for messages := 0; ; messages++ {
		changes := table.Changes(n)
		if len(changes) == 0 {
			break
		}
		body := protocol.EncodeCall(nil, 7790, protocol.UpdateSubset{Changes: changes})
		if limit := protocol.CallLimits("update_subset").Bytes; len(body) > limit || messages > 10 {
			t.Fatalf("message %d takes %d bytes, the limit is %d", messages, len(body), limit)
		}
		apply(heard, changes)
		table.Advertised(n, changes)
	}
	if len(heard) != feeds {
		t.Errorf("%d of %d feeds were said", len(heard), feeds)
	}
}

// The offers of a neighbor, and its beliefs about ours, are counted as they stand.
func TestWhatANeighborOffersUs(t *testing.T) {
	table := newTable()
	own(table, 5)
	n := table.Add(now, id(1), true, protocol.Subset{
		{Feed: url(0)}, {Feed: url(1), Hops: 1}, {Feed: url(2), Hops: 1}, {Feed: url(3), Hops: 3},
		{Feed: url(4), Hops: 9}, {Feed: url(7)},
	}, nil)
	other := table.Add(now, id(2), true, protocol.Subset{{Feed: url(0), Hops: 2},
		{Feed: url(7), Hops: 1}, {Feed: url(8), Hops: 3}}, nil)
	if got := table.Nearest(n); got != [4]int{1, 2, 0, 1} || table.Overlap(n) != 5 || n.Feeds() != 6 {
		t.Errorf("by hop count %v, %d in common, %d in all", got, table.Overlap(n), n.Feeds())
	}
	if table.Offering(url(0)) != 2 || table.Offering(url(9)) != 0 {
		t.Errorf("%d offer the first feed, %d one that nobody has", table.Offering(url(0)), table.Offering(url(9)))
	}
	if table.Offering(url(4)) != 0 {
		t.Error("what is beyond reach counts as an offer")
	}
	for _, c := range []struct {
		feed feed.URL
		to   *Neighbor
		want int
	}{
		{url(0), n, 0}, {url(7), n, 2}, {url(7), other, 1}, {url(8), n, protocol.Withdrawn},
		{url(9), n, protocol.Withdrawn},
	} {
		if got := table.Hops(c.feed, c.to); got != c.want {
			t.Errorf("%s hears of %s at hop count %d, want %d", c.to.ID, c.feed, got, c.want)
		}
	}
	if table.Advertises(n, url(0)) {
		t.Error("a neighbor believes what it was not told")
	}
	table.Advertised(n, table.Changes(n))
	table.Own(url(1), false)
	if !table.Advertises(n, url(1)) {
		t.Error("a neighbor knows of a withdrawal that it was not told")
	}
	table.Advertised(n, table.Changes(n))
	if table.Advertises(n, url(1)) || !table.Advertises(n, url(0)) {
		t.Error("a withdrawal that was taken did not count, or another did")
	}
}

func TestASubsetFloodIsCut(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, nil, nil)
	var flood protocol.Subset
	for i := range protocol.MaxSubset + 500 {
		flood = append(flood, protocol.Interest{Feed: url(i)})
	}
	table.Hear(n, flood)
	if n.Feeds() != protocol.MaxSubset {
		t.Errorf("%d feeds are kept of a neighbor", n.Feeds())
	}
	if len(table.Offer(id(2))) != protocol.MaxSubset {
		t.Errorf("an offer of %d feeds", len(table.Offer(id(2))))
	}
}

// A neighbor that connects again begins anew: what it said before is no word of its any more, and what it was told
// before, and not again, is in doubt.
func TestConnectingAgain(t *testing.T) {
	table := newTable()
	own(table, 3)
	n := table.Add(now, id(1), true, append(feeds(5, 8, 0), feeds(0, 1, 0)...), feeds(0, 2, 0))
	if table.Add(now, id(1), true, feeds(6, 7, 1), feeds(1, 2, 0)) != n || table.Len() != 1 || n.Feeds() != 1 {
		t.Errorf("it has %d feeds, of %d neighbors", n.Feeds(), table.Len())
	}
	for i, want := range map[int]bool{0: false, 5: false, 6: true, 7: false} {
		if _, ok := n.Hops(url(i)); ok != want {
			t.Errorf("it wants feed %d: %v", i, ok)
		}
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: true} {
		if got := table.Misinformed(n, url(i)); got != want {
			t.Errorf("feed %d has to be said: %v", i, got)
		}
	}
	table.Hear(n, feeds(6, 7, protocol.Withdrawn))
	if n.Feeds() != 0 {
		t.Errorf("having withdrawn all, it has %d feeds", n.Feeds())
	}
}

// A neighbor that comes takes the column of one that went.
func TestColumnsAreUsedAgain(t *testing.T) {
	table := newTable()
	for i := range 20 {
		table.Add(now, id(i), true, feeds(0, 3, 0), nil)
		if i >= 2 {
			table.Remove(id(i - 2))
		}
	}
	if table.routes.width > 3 || len(table.slots) > 3 {
		t.Errorf("three neighbors have %d columns", table.routes.width)
	}
}

// What no node should say is not heard, be it our own feed, and nothing beyond what is kept of one neighbor.
func TestWhatIsNotHeard(t *testing.T) {
	const secret feed.URL = "https://user:password@example.com/feed"
	table := newTable()
	table.Own(secret, true)
	n := table.Add(now, id(1), true, protocol.Subset{{Feed: secret}}, nil)
	if _, ok := n.Hops(secret); ok {
		t.Error("a secret URL of ours is heard")
	}
	n.bytes = maxHeardBytes - len(url(0))
	if table.Hear(n, feeds(0, 2, 0)); n.Feeds() != 1 {
		t.Errorf("where there is room for one more %d are heard", n.Feeds())
	}
}

func BenchmarkAdvert(b *testing.B) {
	table := newTable()
	for i := range 10 {
		var s protocol.Subset
		for j := range 2000 {
			s = append(s, protocol.Interest{Feed: url(j), Hops: (i + j) % 4})
		}
		table.Add(now, id(i), true, s, nil)
	}
	n := lookup(table, id(3))
	b.Run("offer", func(b *testing.B) {
		for b.Loop() {
			table.Offer(n.ID)
		}
	})
	table.Advertised(n, table.Changes(n))
	b.Run("changes", func(b *testing.B) {
		other := lookup(table, id(4))
		for i := 0; b.Loop(); i++ {
			table.Hear(other, protocol.Subset{{Feed: url(i % 2000), Hops: i % 3}})
			table.Advertised(n, table.Changes(n))
		}
	})
}

// Both sides connect at once, so that each sent the other two sets, and our own changed between them. Whichever
// the neighbor heard last: what differs is said again.
func TestTwoConnectsAtOnceAreCleared(t *testing.T) {
	answered := protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 1}, {Feed: url(2), Hops: 2}}
	sent := protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 2}, {Feed: url(3), Hops: 1}}
	table := newTable()
	table.Own(url(0), true)
	table.Add(now, id(1), true, protocol.Subset{{Feed: url(1), Hops: 1}}, nil)
	table.Add(now, id(2), false, feeds(0, 1, 0), answered)
	n := table.Add(now, id(2), true, feeds(0, 1, 0), sent)
	want := protocol.Subset{{Feed: url(2), Hops: protocol.Withdrawn}, {Feed: url(3), Hops: protocol.Withdrawn},
		{Feed: url(1), Hops: 2}}
	if got := table.Changes(n); !slices.Equal(got, want) {
		t.Errorf("changes are %v, want %v", got, want)
	}
	table.Advertised(n, want)
	if got := table.Changes(n); len(got) != 0 {
		t.Errorf("said and taken, and yet there are changes: %v", got)
	}
}

// The neighbor that wanted a feed went away while we connected with it in our set: it is taken back.
func TestWhatVanishedWhileConnectingIsTakenBack(t *testing.T) {
	table := newTable()
	table.Own(url(0), true)
	n := table.Add(now, id(1), true, nil, protocol.Subset{{Feed: url(0)}, {Feed: url(1), Hops: 1}})
	want := protocol.Subset{{Feed: url(1), Hops: protocol.Withdrawn}}
	if got := table.Changes(n); !slices.Equal(got, want) {
		t.Errorf("changes are %v, want %v", got, want)
	}
}
