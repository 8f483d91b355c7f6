package search_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

var (
	now  = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	here protocol.NodeID
)

const news = feed.URL("https://example.com/feed")

func node(i int) protocol.NodeID {
	id, err := protocol.ParseNodeID(fmt.Sprintf("192.0.2.%d:7790", i))
	if err != nil {
		panic(err)
	}
	return id
}

func found(i int, holders ...protocol.NodeID) protocol.Found {
	return protocol.Found{
		ID: feed.EntryID{byte(i)}, Digest: feed.Digest{1}, Feed: news, Title: fmt.Sprint("Entry ", i),
		Published: now.Add(-time.Duration(i) * time.Hour), Seen: now, Holders: holders,
	}
}

// Whatever the network looks like, a budget is never exceeded: each share is asked of a neighbor, and splits it
// further.
func TestSplitsKeepToTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages func(budget, hops int) int
		messages = func(budget, hops int) int {
			fits := rapid.SliceOfN(rapid.IntRange(search.Unfit, 5), 0, 12).Draw(t, "fits")
			slices.Sort(fits)
			sum := 0
			for _, share := range search.Split(budget, hops, fits) {
				if share < 0 {
					t.Fatalf("a share is %d", share)
				}
				sum += 1 + messages(share, hops-1)
			}
			return sum
		}
		budget := rapid.IntRange(0, protocol.MaxBudget).Draw(t, "budget")
		hops := rapid.IntRange(0, 4).Draw(t, "hops")
		if got := messages(budget, hops); got > budget {
			t.Fatalf("%d messages on a budget of %d", got, budget)
		}
	})
}

func TestSplits(t *testing.T) {
	const u = search.Unfit
	for _, c := range []struct {
		budget, hops int
		fits, want   []int
	}{
		{64, 3, []int{u, u, u, u, u, u, u, u, u, u}, []int{15, 15, 15, 15}},
		{15, 2, []int{u, u, u, u, u, u}, []int{3, 3, 3, 2}},
		{6, 2, []int{u, u, u, u, u, u}, []int{2, 2}}, // two, and two of each, use it up
		{3, 1, []int{u, u, u, u, u}, []int{0, 0, 0}},
		{64, 3, []int{0, 0, 1, 2, u}, []int{22, 22, 11, 5}},
		{64, 3, []int{0, u}, []int{56, 6}},
		{64, 0, []int{0, 0}, nil},
		{0, 3, []int{0, 0}, nil},
		{1, 3, []int{0, 0}, []int{0}},
		{64, 3, nil, nil},
	} {
		got := search.Split(c.budget, c.hops, c.fits)
		if !slices.Equal(got, c.want) {
			t.Errorf("Split(%d, %d, %v) = %v, want %v", c.budget, c.hops, c.fits, got, c.want)
		}
	}
}

func TestTheBestFitIsAskedFirst(t *testing.T) {
	fits := []int{search.Unfit, 2, 0, search.Unfit, 1, 0}
	firsts := map[int]bool{}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		order := search.Order(fits, rng)
		var ordered []int
		for _, i := range order {
			ordered = append(ordered, fits[i])
		}
		if !slices.Equal(ordered, []int{0, 0, 1, 2, search.Unfit, search.Unfit}) {
			t.Fatalf("order is %v", ordered)
		}
		firsts[order[0]] = true
	}
	if len(firsts) != 2 {
		t.Errorf("among equals always the same goes first: %v", firsts)
	}
}

func TestWaitsShrink(t *testing.T) {
	left, rtt := protocol.DefaultWait, 50*time.Millisecond
	for _, want := range []time.Duration{2370 * time.Millisecond, 1392 * time.Millisecond, 805200 * time.Microsecond} {
		got, ok := search.ChildWait(left, rtt)
		if !ok || got != want {
			t.Errorf("of %v a neighbor gets %v, %v; want %v", left, got, ok, want)
		}
		left = got
	}
	if got, ok := search.ChildWait(250*time.Millisecond, rtt); !ok || got != search.MinWait {
		t.Errorf("of 250ms a neighbor gets %v, %v", got, ok)
	}
	if _, ok := search.ChildWait(249*time.Millisecond, rtt); ok {
		t.Error("a neighbor is asked for which there is no time")
	}
}

func TestQueryLimit(t *testing.T) {
	var p search.QueryLimit
	for i := range search.PerMinute {
		if !p.Take(now.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("query %d was refused", i)
		}
	}
	if p.Take(now.Add(59 * time.Second)) {
		t.Error("an eleventh within a minute was let through")
	}
	if p.Free(now.Add(time.Minute), 1) || !p.Free(now.Add(61*time.Second), 1) {
		t.Error("with one kept, there is room as soon as two were a minute ago")
	}
	if !p.Take(now.Add(time.Minute)) || p.Take(now.Add(time.Minute)) {
		t.Error("after a minute there is room for one, and no more")
	}
}

func TestIDsAreForgotten(t *testing.T) {
	var s search.IDs
	if !s.Add(now, "a") || s.Add(now.Add(9*time.Minute), "a") || !s.Add(now.Add(10*time.Minute), "a") {
		t.Error("an id is to be known for ten minutes")
	}
	for i := range 20_000 {
		s.Add(now.Add(11*time.Minute), fmt.Sprint(i))
	}
	if s.Add(now.Add(11*time.Minute), "19999") || !s.Add(now.Add(11*time.Minute), "a") {
		t.Error("a flood must push out the oldest, and nothing else")
	}
	var full search.IDs
	const all = 164 * search.PerMinute * 10 // that so many neighbors may ask for in ten minutes
	for i := range all - 1 {
		full.Add(now, fmt.Sprint(i))
	}
	if full.Add(now, "0") || !full.Add(now, fmt.Sprint(all-1)) || !full.Add(now, "0") {
		t.Errorf("the oldest of %d is to go when another comes, and not before", all)
	}
}

func TestAnswersAreMerged(t *testing.T) {
	r := search.NewResults(10, false)
	r.Add(here, found(2, here), 0)
	edited := found(2)
	edited.Digest = feed.Digest{2}
	r.Add(node(1), found(2, node(9)), 0)
	r.Add(node(2), found(2), 0)
	r.Add(node(2), found(2, node(9)), 0)
	r.Add(node(2), edited, 0)
	r.Add(node(1), found(1), 0)
	hits, cut := r.Hits(now)
	if len(hits) != 3 || cut {
		t.Fatalf("%d hits, cut %v", len(hits), cut)
	}
	if hits[0].ID != found(1).ID {
		t.Error("the newest is not first")
	}
	if h := hits[1]; h.Told() != 3 || !slices.Equal(h.Holders, []protocol.NodeID{here, node(9), node(2)}) {
		t.Errorf("told by %d, held by %v", h.Told(), h.Holders)
	}
	if hits[2].Digest != edited.Digest {
		t.Error("of two versions, that of more neighbors is to go first")
	}
}

// Who answers first with a true id and digest has others neither speak for its words nor lose their own.
func TestNobodyPutsWordsIntoOthersMouths(t *testing.T) {
	for name, lie := range map[string]func(*protocol.Found){
		"title":     func(f *protocol.Found) { f.Title = "Buy this" },
		"link":      func(f *protocol.Found) { f.Link = "https://liar.example/" },
		"feed":      func(f *protocol.Found) { f.Feed = "https://liar.example/feed" },
		"published": func(f *protocol.Found) { f.Published = f.Published.Add(time.Second) },
		"updated":   func(f *protocol.Found) { f.Updated = f.Published },
	} {
		r, lied := search.NewResults(10, false), found(2)
		lie(&lied)
		r.Add(node(9), lied, 0)
		r.Add(node(1), found(2), 0)
		r.Add(node(2), found(2), 0)
		hits, _ := r.Hits(now)
		told := map[string]int{}
		for _, h := range hits {
			told[fmt.Sprint(h.Feed, h.Title, h.Link, h.Published, h.Updated)] = h.Told()
		}
		if f := found(2); len(hits) != 2 || told[fmt.Sprint(f.Feed, f.Title, f.Link, f.Published, f.Updated)] != 2 {
			t.Errorf("another %s: told by %v", name, told)
		}
	}
}

// One neighbor that makes up as many entries as an answer lists, all of them the newest, leaves the others their
// shares, in whatever order the answers come.
func TestNobodyCrowdsOthersOut(t *testing.T) {
	const limit, honest = 40, 20
	lie := func(i int) protocol.Found {
		f := found(0)
		f.ID, f.Title, f.Published = feed.EntryID{255, byte(i)}, "Entry", now
		return f
	}
	for name, order := range map[string][]int{"first": {9, 0, 1, 2}, "last": {0, 1, 2, 9}, "between": {0, 9, 1, 2}} {
		r := search.NewResults(limit, false)
		for _, from := range order {
			for i := range limit {
				switch {
				case from == 9:
					r.Add(node(9), lie(i), 0)
				case from == 0 && i < honest/2:
					r.Add(here, found(i+1), 0)
				case from > 0 && i < honest:
					r.Add(node(from), found(i+1), 0)
				}
			}
			r.Trim(now)
		}
		hits, cut := r.Hits(now)
		true, made := 0, 0
		for _, h := range hits {
			if h.ID[0] == 255 {
				made++
			} else {
				true++
			}
		}
		if true != honest || made != limit-honest || !cut {
			t.Errorf("made up entries that come %s: %d true and %d made up ones are kept, cut %v", name,
				true, made, cut)
		}
	}
}

// Whichever neighbor tells what, nobody's best are missing up to an equal share, and no more are kept than were asked
// for.
func TestEverybodyHasAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, tellers := rapid.IntRange(1, 30).Draw(t, "limit"), rapid.IntRange(1, 8).Draw(t, "tellers")
		r := search.NewResults(limit, false)
		told := make([][]byte, tellers) // by each; the smallest are the newest
		for who := range tellers {
			for _, i := range rapid.SliceOfNDistinct(rapid.ByteRange(1, 90), 0, 40, rapid.ID).Draw(t, "entries") {
				told[who] = append(told[who], i)
				r.Add(node(who+1), found(int(i)), 0)
			}
		}
		hits, _ := r.Hits(now)
		all := map[byte]bool{}
		for _, list := range told {
			for _, i := range list {
				all[i] = true
			}
		}
		if len(hits) != min(limit, len(all)) {
			t.Fatalf("%d of %d kept, limit %d", len(hits), len(all), limit)
		}
		kept := map[byte]bool{}
		for _, h := range hits {
			kept[h.ID[0]] = true
		}
		for who, list := range told {
			slices.Sort(list)
			for _, i := range list[:min(len(list), limit/tellers)] {
				if !kept[i] {
					t.Fatalf("of what %d told, %v, entry %d is missing in %v; limit %d", who, list, i, kept, limit)
				}
			}
		}
	})
}

func TestTheBestAreKept(t *testing.T) {
	for _, relevance := range []bool{false, true} {
		r := search.NewResults(3, relevance)
		for i := range 20 {
			r.Add(node(1), found(i), i%7)
			r.Trim(now)
		}
		hits, cut := r.Hits(now)
		var got []byte
		for _, h := range hits {
			got = append(got, h.ID[0])
		}
		want := []byte{0, 1, 2}
		if relevance {
			want = []byte{6, 13, 5}
		}
		if !cut || !slices.Equal(got, want) {
			t.Errorf("relevance %v: kept %v, want %v; cut %v", relevance, got, want, cut)
		}
	}
}

// Nobody stands first by a date that is yet to come.
func TestTheFutureIsNow(t *testing.T) {
	r := search.NewResults(3, false)
	future := found(9)
	future.Published, future.Seen = now.AddDate(1, 0, 0), now.AddDate(2, 0, 0)
	r.Add(node(1), future, 0)
	r.Add(node(1), found(0), 0)
	r.Add(node(2), found(0), 0)
	if hits, _ := r.Hits(now); hits[0].ID != found(0).ID {
		t.Error("an entry of the future stands first")
	}
}

func TestAnswersAreHeldAgainstTheQuestion(t *testing.T) {
	undated := found(5)
	undated.Published = time.Time{}
	f := feed.Filter{Feed: news, Since: now.Add(-10 * time.Hour), Until: now.Add(-time.Hour),
		IDs: []feed.EntryID{{2}, {3}, {5}}, Limit: 2}
	other := found(2)
	other.Feed = "https://example.org/"
	for name, c := range map[string]struct {
		found []protocol.Found
		want  error
	}{
		"what was asked for":  {[]protocol.Found{found(2), found(3)}, nil},
		"nothing":             {nil, nil},
		"more than asked for": {[]protocol.Found{found(2), found(3), found(2)}, search.ErrTooMany},
		"another feed":        {[]protocol.Found{other}, search.ErrNotAsked},
		"another id":          {[]protocol.Found{found(4)}, search.ErrNotAsked},
		"too young":           {[]protocol.Found{undated}, search.ErrNotAsked},
		"too old": {[]protocol.Found{{ID: feed.EntryID{2}, Feed: news, Seen: now.Add(-11 * time.Hour)}},
			search.ErrNotAsked},
		"of no feed": {[]protocol.Found{{ID: feed.EntryID{2}, Seen: now.Add(-2 * time.Hour)}},
			search.ErrNotAsked},
		"seen within the time": {[]protocol.Found{{ID: feed.EntryID{2}, Feed: news,
			Seen: now.Add(-2 * time.Hour)}}, nil},
	} {
		if got := search.Check(f, protocol.Answer{Found: c.found}); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Since when nothing was forgotten is a second after the latest that was, whichever neighbor told of it.
func TestResultsAreWholeSince(t *testing.T) {
	r := search.NewResults(4, false)
	for i := range 4 {
		r.Add(node(1), found(i), 0)
	}
	if _, cut := r.Hits(now); cut || !r.CompleteSince().IsZero() {
		t.Errorf("all are there, and whole is %v", r.CompleteSince())
	}
	latest := time.Time{}
	for i := range 4 {
		r.Add(node(2), found(10+i), 0)
	}
	hits, cut := r.Hits(now)
	for _, f := range []protocol.Found{found(0), found(1), found(2), found(3), found(10), found(11),
		found(12), found(13)} {
		if at := search.Time(&f); at.After(latest) &&
			!slices.ContainsFunc(hits, func(h *search.Hit) bool { return h.ID == f.ID }) {
			latest = at
		}
	}
	if want := latest.Truncate(time.Second).Add(time.Second); !cut || !r.CompleteSince().Equal(want) {
		t.Errorf("whole since %v, want %v", r.CompleteSince(), want)
	}
}
