package node_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/query"
	"feedex/protocol"
	"feedex/search"
)

// wishesOf are the wishes for what a query found.
func wishesOf(r node.QueryResults) (wishes []search.Wish) {
	for _, h := range r.Hits {
		wishes = append(wishes, search.Wish{Wanted: protocol.Wanted{ID: h.ID, Digest: h.Digest},
			Feed: h.Feed, Holders: h.Holders})
	}
	return wishes
}

// wishFor is the wish for an entry that these nodes have.
func wishFor(e feed.Entry, holders ...*testHost) search.Wish {
	w := search.Wish{Wanted: protocol.Wanted{ID: e.EntryID(), Digest: e.Digest()}, Feed: e.Feed}
	for _, h := range holders {
		w.Holders = append(w.Holders, h.id)
	}
	return w
}

// pulls has the owner of the node download entries, and returns all that came of it as one.
func (h *testHost) pulls(wishes ...search.Wish) (all node.Pulled) {
	h.net.t.Helper()
	h.pulled = nil
	h.step(node.Pull{Tag: 7, Wishes: wishes})
	for range 100_000 {
		if n := len(h.pulled); n > 0 && h.pulled[n-1].Done {
			all = h.pulled[n-1]
			for _, r := range h.pulled[:n-1] {
				all.Stored = append(all.Stored, r.Stored...)
				all.Refused = append(all.Refused, r.Refused...)
			}
			return all
		}
		if h.net.Next().IsZero() {
			break
		}
		h.net.next()
	}
	h.net.t.Fatal("the download never ended")
	return all
}

func TestAnEntryIsFetchedFromTheOnlyHolderThreeHopsAway(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(12, node.Config{}, twelve...)
	e := oldEntry(news, 1)
	hosts[9].holds(e)
	found, _ := hosts[0].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
	got := hosts[0].pulls(wishesOf(found)...)
	if got.Err != nil || !slices.Equal(got.Stored, []feed.EntryID{e.EntryID()}) ||
		len(got.Missing)+len(got.Refused) != 0 {
		t.Fatalf("got %+v", got)
	}
	r := hosts[0].record(e.EntryID())
	if r.ID != e.EntryID() || !r.Entry.Equal(&e) || r.Seq >= 0 || r.Confirmed || r.Source != hosts[9].id ||
		!r.Seen.Equal(epoch.AddDate(-2, 0, 0)) {
		t.Errorf("stored is %+v", r)
	}
	w.run(time.Hour)
	for _, h := range w.list {
		if count(h.calls, "check_did")+count(h.calls, "put_entries") > 0 {
			t.Error("what is of the past was forwarded")
		}
	}
	if hosts[1].has(e.EntryID()) || len(hosts[0].arrived) > 0 {
		t.Error("what is of the past was news")
	}
	if again := hosts[0].pulls(wishesOf(found)...); len(again.Stored)+len(again.Missing) != 0 ||
		count(hosts[0].calls, "get_entries") != 1 {
		t.Errorf("what is here was downloaded again: %+v", again)
	}
}

// Who tells of an entry in other words, and does not have it, keeps nobody from asking those who have it.
func TestOtherWordsHideNoHolder(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{0, 2})
	e := oldEntry(news, 1)
	hosts[1].holds(e)
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		switch c.(type) {
		case protocol.QueryFeed:
			return protocol.Answer{Found: []protocol.Found{{ID: e.EntryID(), Digest: e.Digest(), Feed: news,
				Title: "a walrus that is newer", Published: w.Now(), Seen: w.Now()}}}, to == hosts[2]
		case protocol.GetEntries:
			return protocol.Batch{}, to == hosts[2]
		}
		return nil, false
	}
	found, _ := hosts[0].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
	if got := hosts[0].pulls(wishesOf(found)...); len(found.Hits) != 2 || len(got.Stored) != 1 || len(got.Missing) > 0 {
		t.Errorf("of %d hits %d is stored and %d missing", len(found.Hits), len(got.Stored), len(got.Missing))
	}
}

// An own poll that shows the entry confirms it.
func TestAFetchedEntryIsUnconfirmedUntilAPollShowsIt(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	w.publish(news)
	e := w.feeds[news].entries[0]
	hosts[1].holds(e)
	hosts[0].pulls(wishFor(e, hosts[1]))
	if r := hosts[0].record(e.EntryID()); r.ID != e.EntryID() || r.Confirmed {
		t.Fatalf("fetched is %+v", r)
	}
	hosts[0].step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(time.Hour)
	if r := hosts[0].record(e.EntryID()); r.ID != e.EntryID() || !r.Confirmed || r.Source != hosts[1].id {
		t.Errorf("after a poll it is %+v", r)
	}
}

// A holder that sends anything but what was asked for is refused with all that it sends, reported, and not asked again;
// another that has the entry is.
func TestAForgingHolderIsRefused(t *testing.T) {
	e, other, third := oldEntry(news, 1), oldEntry(news, 2), oldEntry(news, 3)
	forged := e
	forged.Summary = "not a walrus"
	unclean := e
	unclean.Title += "\x00"
	for name, sent := range map[string]protocol.Batch{
		"another version":       {Entries: []protocol.Archived{{Entry: other}, {Entry: forged}}},
		"another entry":         {Entries: []protocol.Archived{{Entry: third}}},
		"the same twice":        {Entries: []protocol.Archived{{Entry: e}, {Entry: e}}},
		"more left than wanted": {Left: 3},
		"what may not travel":   {Entries: []protocol.Archived{{Entry: unclean}}},
	} {
		w := newNetwork(t)
		hosts := w.graph(12, node.Config{}, twelve...)
		asker, forger, honest := hosts[0], hosts[9], hosts[11]
		forger.holds(e, other)
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			if _, is := c.(protocol.GetEntries); is && to == forger {
				return sent, true
			}
			return nil, false
		}
		found, _ := asker.seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
		got := asker.pulls(wishesOf(found)...)
		if len(got.Stored) != 0 || len(got.Missing) != 2 || asker.has(e.EntryID()) || asker.has(other.EntryID()) ||
			asker.has(third.EntryID()) {
			t.Errorf("%s: got %+v", name, got)
		}
		if len(got.Refused) != 1 || got.Refused[0].Holder != forger.id || !got.Refused[0].Lied ||
			asker.suspects(forger.id) != 1 {
			t.Errorf("%s: reported is %+v", name, got.Refused)
		}
		honest.holds(e)
		if got = asker.pulls(wishFor(e, forger, honest)); len(got.Stored) != 1 ||
			asker.record(e.EntryID()).Source != honest.id {
			t.Errorf("%s: the next holder gave %+v", name, got)
		}
		if n := count(asker.calls, "get_entries"); n != 2 {
			t.Errorf("%s: %d calls, want one of each holder", name, n)
		}
		w.run(query.ShunLiar)
		if got = asker.pulls(wishFor(other, forger)); len(got.Refused) != 1 {
			t.Errorf("%s: a day later the holder is asked %d times", name, len(got.Refused))
		}
	}
}

// Entries that may not travel are not taken, even where the answers told of them.
func TestWhatMayNotTravelIsNotTaken(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	e := oldEntry(news, 1)
	e.Title += "\x00"
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, is := c.(protocol.GetEntries)
		return protocol.Batch{Entries: []protocol.Archived{{Entry: e}}}, is
	}
	if got := hosts[0].pulls(wishFor(e, hosts[1])); len(got.Stored) != 0 || len(got.Refused) != 1 ||
		!got.Refused[0].Lied {
		t.Errorf("got %+v", got)
	}
}

func TestALyingNeighborLosesStanding(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	e, forged := oldEntry(news, 1), oldEntry(news, 1)
	forged.Summary = "forged"
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, is := c.(protocol.GetEntries)
		return protocol.Batch{Entries: []protocol.Archived{{Entry: forged}}}, is
	}
	hosts[0].pulls(wishFor(e, hosts[1]))
	if marks := hosts[0].account(hosts[1]).Standing.Marks; len(marks) != 1 || marks[0].Offence != incentive.BadAnswer {
		t.Errorf("marks are %+v", marks)
	}
}

// A holder that stalls costs its time and no more, and is left in peace for a while.
func TestAStallingHolderIsSkipped(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(12, node.Config{}, twelve...)
	asker, stalled, honest := hosts[0], hosts[9], hosts[11]
	w.hang[stalled.id] = true
	first, second := oldEntry(news, 1), oldEntry(news, 2)
	honest.holds(first, second)
	begun := w.Now()
	got := asker.pulls(wishFor(first, stalled, honest))
	if took := w.Now().Sub(begun); len(got.Stored) != 1 || len(got.Refused) != 1 || got.Refused[0].Lied ||
		took > core.PullTimeout+time.Second {
		t.Errorf("after %v got %+v", took, got)
	}
	begun = w.Now()
	if got = asker.pulls(wishFor(second, stalled, honest)); len(got.Stored) != 1 || w.Now().Sub(begun) > time.Second {
		t.Errorf("the second time, after %v, got %+v", w.Now().Sub(begun), got)
	}
}

// A node that others name as a holder is not asked where that would have us call ourselves, or a private network.
func TestHoldersAreChecked(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	asker := hosts[0]
	asker.inside(func(n *node.Node) { n.SetSelf(hosts[0].id) })
	e := oldEntry(news, 1)
	wish := wishFor(e, asker)
	for _, text := range []string{"127.0.0.1:7790", "10.0.0.7:7790", "[::1]:7790", "169.254.169.254:8080",
		"8.8.8.8:80"} {
		id, err := protocol.ParseNodeID(text)
		if err != nil {
			t.Fatal(err)
		}
		wish.Holders = append(wish.Holders, id)
	}
	wish.Holders = append(wish.Holders, protocol.NodeID{})
	if got := asker.pulls(wish); len(got.Missing) != 1 || count(asker.calls, "get_entries") != 0 {
		t.Errorf("%d calls, %+v", count(asker.calls, "get_entries"), got)
	}
	secret := oldEntry("https://user:word@example.com/feed", 1)
	if got := asker.pulls(wishFor(secret, hosts[1])); len(got.Missing) != 1 || count(asker.calls, "get_entries") != 0 {
		t.Errorf("a private feed was asked for: %+v", got)
	}
	asker.node.Config().QueryNetwork = node.NeverNetwork
	if got := asker.pulls(wishFor(e, hosts[1])); got.Err != node.ErrNeverNetwork {
		t.Errorf("switched off it ends with %v", got.Err)
	}
}

// Entries that do not fit into one answer come with the next.
func TestALargeDownloadComesInParts(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	var wishes []search.Wish
	for i := range 250 {
		e := oldEntry(news, i)
		e.Content = strings.Repeat("a walrus ", 6000) // 54 kB
		hosts[1].holds(e)
		wishes = append(wishes, wishFor(e, hosts[1]))
	}
	w.watch = func(_ *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if r, ok := e.(node.Respond); ok && r.Fault == nil {
				if n := len(protocol.EncodeReply(nil, r.Reply)); n > 4<<20 {
					t.Errorf("an answer is %d bytes", n)
				}
			}
		}
	}
	got := hosts[0].pulls(wishes...)
	if len(got.Stored) != 250 || len(got.Missing) != 0 {
		t.Errorf("%d stored, %d missing, %+v", len(got.Stored), len(got.Missing), got.Refused)
	}
	if n := count(hosts[0].calls, "get_entries"); n != 4 {
		t.Errorf("took %d calls, want 4 of at most 77 entries", n)
	}
}

// A holder on a slow machine is asked for less at a time, and one that is busy with little for no more.
func TestABusyHolderIsAskedForLess(t *testing.T) {
	for _, tt := range []struct{ slow, stored, calls int }{
		{100, 250, 3},
		{99, 250, 11}, // 100, then 25 at a time
		{10, 250, 44}, // 100, 25, then 6 at a time
		{3, 0, 4},     // 100, 25, 6, 4
	} {
		w := newLargeNetwork(t)
		hosts := w.graph(2, node.Config{}, [2]int{0, 1})
		hosts[1].slow = tt.slow
		var wishes []search.Wish
		for i := range 250 {
			e := oldEntry(news, i)
			hosts[1].holds(e)
			wishes = append(wishes, wishFor(e, hosts[1]))
		}
		got := hosts[0].pulls(wishes...)
		if len(got.Stored) != tt.stored || len(got.Missing) != 250-tt.stored ||
			(len(got.Refused) > 0) != (tt.stored == 0) {
			t.Errorf("%d in time: %d stored, %d missing, %+v", tt.slow, len(got.Stored), len(got.Missing), got.Refused)
		}
		if n := count(hosts[0].calls, "get_entries"); n != tt.calls {
			t.Errorf("%d in time: %d calls, want %d", tt.slow, n, tt.calls)
		}
	}
}

func TestShunnedHoldersAreForgotten(t *testing.T) {
	var s query.Shunned
	for i := range 2 * query.MaxShunned {
		s.Add(epoch.Add(time.Duration(i)*time.Second), stranger(i), time.Hour)
	}
	if len(s) != query.MaxShunned || s.Has(epoch.Add(time.Hour), stranger(0)) ||
		!s.Has(epoch.Add(time.Hour), stranger(2*query.MaxShunned-1)) {
		t.Errorf("%d are remembered", len(s))
	}
	s.Add(epoch.Add(time.Hour), stranger(300), time.Minute)
	if !s.Has(epoch.Add(time.Hour+5*time.Minute-time.Second), stranger(300)) {
		t.Error("a short stay away made a longer one shorter")
	}
	if s.Has(epoch.Add(3*time.Hour), stranger(300)) {
		t.Error("a holder is shunned for ever")
	}
}

// Entries of a gap that come from the network, or from the publisher's archive, count against it.
func TestDownloadsFillGaps(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	asker := hosts[0]
	asker.step(node.Subscribe{Feeds: []feed.URL{news}})
	one, two, outside := oldEntry(news, 10), oldEntry(news, 11), oldEntry(news, 40)
	asker.inside(func(n *node.Node) {
		n.Subscription(news).Gap = archive.Gap{After: epoch.AddDate(-2, 0, -20), Before: epoch.AddDate(-2, 0, 0),
			Missing: 2}
	})
	hosts[1].holds(one, outside)
	asker.pulls(wishFor(one, hosts[1]), wishFor(outside, hosts[1]))
	if gap := asker.stored(news).Gap; gap.Filled != 1 || !gap.Open() {
		t.Errorf("after one of two the gap is %+v", gap)
	}
	asker.step(node.Recovered{Feed: news, Records: []archive.Record{archive.NewRecord(two, w.Now(),
		protocol.NodeID{})}})
	if gap := asker.stored(news).Gap; gap != (archive.Gap{}) {
		t.Errorf("after both it is %+v", gap)
	}
}
