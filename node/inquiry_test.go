package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/query"
	"feedex/protocol"
)

// tie makes two nodes neighbors of each other, without a word between them.
func (w *network) tie(a, b *testHost) {
	ofA, ofB := a.node.Offering(b.id), b.node.Offering(a.id)
	a.inside(func(n *node.Node) { n.Tie(b.id, true, ofB, ofA) })
	b.inside(func(n *node.Node) { n.Tie(a.id, false, ofA, ofB) })
}

// graph starts so many nodes that seek no neighbors, and ties those of each pair.
func (w *network) graph(nodes int, c node.Config, pairs ...[2]int) []*testHost {
	c.MinNeighbors, c.MaxNeighbors = 1, 64
	for range nodes {
		w.add(c)
	}
	for _, p := range pairs {
		w.tie(w.list[p[0]], w.list[p[1]])
	}
	w.run(2 * time.Second) // by then they have asked their neighbors what these can
	for _, h := range w.list {
		h.calls = nil
	}
	return w.list
}

// twelve are the pairs of a tree in which node 9 is three hops from node 0.
var twelve = [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 6}, {2, 7}, {3, 8}, {4, 9}, {5, 10}, {6, 11}}

// oldEntry is an entry of long ago.
func oldEntry(u feed.URL, i int) feed.Entry {
	return feed.Entry{
		Feed: u, ID: fmt.Sprintf("%s#old%d", u, i), Title: fmt.Sprintf("Old entry %d", i),
		Link:      "https://example.com/old",
		Published: epoch.AddDate(-2, 0, -i), Summary: "a walrus",
	}
}

// holds puts entries into the node's archive, as if they had always been there.
func (h *testHost) holds(entries ...feed.Entry) {
	records := make([]archive.Record, len(entries))
	for i, e := range entries {
		records[i] = archive.NewRecord(e, epoch.AddDate(-2, 0, 0), protocol.NodeID{})
	}
	h.store.Keep(records)
}

// seeks has the owner of the node search the network, and returns what came of it in the end, and when.
func (h *testHost) seeks(q protocol.Query) (node.QueryResults, time.Duration) {
	h.net.t.Helper()
	begun := h.net.Now()
	h.results = nil
	h.step(node.OwnerQuery{Tag: 1, Query: q, Explicit: true})
	for range 100_000 {
		if n := len(h.results); n > 0 && h.results[n-1].Done {
			return h.results[n-1], h.net.Now().Sub(begun)
		}
		if h.net.Next().IsZero() {
			break
		}
		h.net.next()
	}
	h.net.t.Fatal("the query never ended")
	return node.QueryResults{}, 0
}

// queriesMade counts the query_feed calls that all nodes made.
func (w *network) queriesMade() (calls int) {
	for _, h := range w.list {
		calls += count(h.calls, "query_feed")
	}
	return calls
}

func TestAQueryReachesTheOnlyHolderThreeHopsAway(t *testing.T) {
	for name, f := range map[string]feed.Filter{
		"by words":  {Words: []string{"walrus"}},
		"by a feed": {Feed: news, Until: epoch.AddDate(-1, 0, 0)},
		"by its id": {IDs: []feed.EntryID{new(oldEntry(news, 1)).EntryID()}},
	} {
		w := newNetwork(t)
		hosts := w.graph(12, node.Config{}, twelve...)
		e := oldEntry(news, 1)
		hosts[9].holds(e)
		if hops2, _ := hosts[0].seeks(protocol.Query{Filter: f, Hops: 2}); len(hops2.Hits) != 0 {
			t.Errorf("%s: found within two hops: %+v", name, hops2.Hits)
		}
		got, took := hosts[0].seeks(protocol.Query{Filter: f})
		if len(got.Hits) != 1 || got.Hits[0].ID != e.EntryID() || got.Hits[0].Digest != e.Digest() {
			t.Fatalf("%s: found %+v", name, got.Hits)
		}
		if h := got.Hits[0].Holders; !slices.Equal(h, []protocol.NodeID{hosts[9].id}) {
			t.Errorf("%s: holders are %v, want %s", name, h, hosts[9].id)
		}
		if got.Cut != 0 || got.Asked != 3 || took > time.Second {
			t.Errorf("%s: cut %v, %d asked, took %v", name, got.Cut.Reasons(), got.Asked, took)
		}
		if first := hosts[0].results[0]; first.Tag != 1 {
			t.Errorf("%s: results belong to %d", name, first.Tag)
		}
	}
}

// What the asker keeps in another version, or beyond the limit of the search, is here: others alone have the rest.
func TestWhatIsHereIsAskedOfTheWholeArchive(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	beyond, edited, foreign := oldEntry(news, 1), oldEntry(news, 2), oldEntry(news, 3)
	hosts[1].holds(beyond, edited, foreign)
	edited.Summary = "a seal"
	hosts[0].holds(beyond, edited)

	hosts[0].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}, Limit: 3}})
	want := map[string]bool{beyond.Title: true, edited.Title: true, foreign.Title: false}
	for _, told := range hosts[0].results {
		for _, h := range told.Hits {
			if here, ok := want[h.Title]; !ok || h.Here != here {
				t.Errorf("%s is here: %v, want %v", h.Title, h.Here, here)
			}
		}
		if len(told.Hits) != len(want) {
			t.Errorf("told of %d, want %d", len(told.Hits), len(want))
		}
	}
}

// The queries of a relay say nothing of the node that it asks for: neither by an address nor by what differs from asker
// to asker.
func TestNobodyLearnsWhoAskedFirst(t *testing.T) {
	passedOn := func(asker int) (bytes string) {
		w := newNetwork(t)
		hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3})
		w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			if q, ok := c.(protocol.QueryFeed); ok && from == hosts[1] && to == hosts[2] {
				for _, h := range hosts {
					if bytes = string(protocol.EncodeCall(nil, 7790, q)); strings.Contains(bytes,
						h.id.Addr().String()) {
						t.Errorf("a query that is passed on names %s: %s", h.id, bytes)
					}
				}
			}
			return nil, false
		}
		r := hosts[1].hears(hosts[asker], protocol.QueryFeed{Query: protocol.Query{
			ID: "q", Hops: 3, Budget: 20, Filter: feed.Filter{Words: []string{"walrus"}},
		}})
		if r.Fault != nil || bytes == "" {
			t.Fatalf("the query of %d is not passed on: %v", asker, r.Fault)
		}
		return bytes
	}
	if one, other := passedOn(0), passedOn(3); one != other {
		t.Errorf("for one asker it passes on\n%s\nand for the other\n%s", one, other)
	}
}

func TestAStalledHalfCostsItsShare(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(12, node.Config{}, twelve...)
	for i := 1; i < 12; i += 2 {
		w.hang[hosts[i].id] = true
	}
	near, far := oldEntry(news, 1), oldEntry(news, 2)
	hosts[6].holds(near)
	hosts[9].holds(far)
	const wait = 3 * time.Second
	got, took := hosts[0].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}, Wait: wait})
	if took > wait || got.Cut&protocol.CutTime == 0 {
		t.Errorf("took %v of %v, cut %v", took, wait, got.Cut.Reasons())
	}
	if len(got.Hits) != 1 || got.Hits[0].ID != near.EntryID() {
		t.Errorf("found %+v, want what the nodes have that answer", got.Hits)
	}
	if first := hosts[0].results[0]; first.Done || len(first.Hits) != 1 {
		t.Errorf("first came %+v, want the entry before the end", first)
	}
	w.run(time.Minute)
	if !linked(hosts[0], hosts[2]) {
		t.Error("a neighbor that answered in time was lost")
	}
}

// A relay answers at the deadline that its asker named, whichever neighbors it waits for itself.
func TestARelayAnswersInTime(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{1, 2})
	w.hang[hosts[2].id] = true
	begun := w.Now()
	r := hosts[1].hears(hosts[0],
		protocol.QueryFeed{Query: protocol.Query{ID: "q", Hops: 2, Budget: 9, Wait: 700 * time.Millisecond}})
	if took := w.Now().Sub(begun); took > 700*time.Millisecond || r.Reply.(protocol.Answer).Cut != protocol.CutTime {
		t.Errorf("took %v, answered %+v", took, r)
	}
}

func TestAnIDIsAnsweredOnce(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{1, 2})
	hosts[1].holds(oldEntry(news, 1))
	ask := func(from *testHost, words string) int {
		r := hosts[1].hears(from,
			protocol.QueryFeed{Query: protocol.Query{ID: "q", Filter: feed.Filter{Words: []string{words}}}})
		return len(r.Reply.(protocol.Answer).Found)
	}
	if ask(hosts[0], "walrus") != 1 || ask(hosts[2], "walrus") != 0 || ask(hosts[0], "old") != 0 {
		t.Error("an id was answered twice, or never")
	}
	w.run(11 * time.Minute)
	if ask(hosts[0], "walrus") != 1 {
		t.Error("the id is not forgotten after ten minutes")
	}
}

func TestPopularAnswersComeFromTheCache(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3})
	hosts[3].holds(oldEntry(news, 1))
	q := protocol.Query{Filter: feed.Filter{Words: []string{"Walrus"}}, Hops: 3, Budget: 20}
	ask := func(id, words string) int {
		q.ID, q.Filter.Words = id, []string{words}
		return len(hosts[1].hears(hosts[0], protocol.QueryFeed{Query: q}).Reply.(protocol.Answer).Found)
	}
	if ask("a", "Walrus") != 1 {
		t.Fatal("not found")
	}
	before := w.queriesMade()
	if ask("b", "walrus") != 1 || w.queriesMade() != before {
		t.Errorf("the same question made %d more calls", w.queriesMade()-before)
	}
	hosts[1].inside(func(n *node.Node) { n.Config().PrivateHosts = []string{news.Host()} })
	if ask("c", "walrus") != 0 {
		t.Error("what became private meanwhile came from the cache")
	}
	w.run(2 * time.Minute)
	if ask("d", "walrus"); w.queriesMade() == before {
		t.Error("the answer is never forgotten")
	}
}

// Answers of others are held against what was asked.
func TestBadAnswersAreOffences(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	good := query.FoundHere(new(archive.NewRecord(oldEntry(news, 1), epoch, protocol.NodeID{})))
	other := good
	other.Feed = blog
	for name, c := range map[string]struct {
		found   []protocol.Found
		offence bool
	}{
		"good":           {[]protocol.Found{good}, false},
		"larger":         {slices.Repeat([]protocol.Found{good}, 3), true},
		"never asked":    {[]protocol.Found{other}, true},
		"too young":      {[]protocol.Found{{ID: good.ID, Digest: good.Digest, Feed: news, Seen: epoch}}, true},
		"nothing at all": {nil, false},
	} {
		w.intercept = func(_, _ *testHost, call protocol.Call) (protocol.Reply, bool) {
			_, is := call.(protocol.QueryFeed)
			return protocol.Answer{Found: c.found}, is
		}
		before := a.suspects(b.id)
		got, _ := a.seeks(protocol.Query{Filter: feed.Filter{Feed: news, Until: epoch.AddDate(-1, 0, 0), Limit: 2}})
		if offended := a.suspects(b.id) > before; offended != c.offence || offended &&
			(len(got.Hits) > 0 || got.Cut != protocol.CutRefused) {
			t.Errorf("%s: offence %v, %d hits, cut %v", name, offended, len(got.Hits), got.Cut.Reasons())
		}
		w.run(time.Minute)
	}
}

// Holders that cannot be asked for anything are left out.
func TestHoldersThatMakeNoSenseAreLeftOut(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	a.inside(func(n *node.Node) { n.SetSelf(a.id) })
	honest := protocol.NewNodeID(b.id.Addr().Next(), 7790)
	f := query.FoundHere(new(archive.NewRecord(oldEntry(news, 1), epoch, protocol.NodeID{})))
	f.Holders = []protocol.NodeID{a.id, mustID("127.0.0.1:7790"), mustID("10.0.0.1:7790"),
		mustID("169.254.169.254:7790"), mustID("[::1]:7790"), mustID("20.1.1.1:80"), honest, honest}
	nobody := query.FoundHere(new(archive.NewRecord(oldEntry(news, 2), epoch, protocol.NodeID{})))
	nobody.Holders = []protocol.NodeID{a.id}
	w.intercept = func(_, _ *testHost, call protocol.Call) (protocol.Reply, bool) {
		_, is := call.(protocol.QueryFeed)
		return protocol.Answer{Found: []protocol.Found{f, nobody}}, is
	}
	got, _ := a.seeks(protocol.Query{})
	if len(got.Hits) != 1 || !slices.Equal(got.Hits[0].Holders, []protocol.NodeID{honest}) {
		t.Errorf("found %+v", got.Hits)
	}
}

func mustID(text string) protocol.NodeID {
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// The rules of queries hold in every small network: no query makes more calls than its budget, nobody answers an
// id twice, and nothing of a private feed is in any answer.
func TestQueriesKeepTheirRules(t *testing.T) {
	const secret = feed.URL("https://user:password@example.com/feed")
	rapid.Check(t, func(rt *rapid.T) {
		w := newLargeNetwork(t)
		nodes := rapid.IntRange(2, 24).Draw(rt, "nodes")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "links"), 1))
		pairs := [][2]int{}
		for i := 1; i < nodes; i++ {
			pairs = append(pairs, [2]int{rng.IntN(i), i})
		}
		for range rapid.IntRange(0, 4*nodes).Draw(rt, "more links") {
			if a, b := rng.IntN(nodes), rng.IntN(nodes); a != b {
				pairs = append(pairs, [2]int{a, b})
			}
		}
		hosts := w.graph(nodes, node.Config{}, pairs...)
		for i, h := range hosts {
			h.holds(oldEntry(news, i%5), oldEntry(blog, i), oldEntry(secret, i), oldEntry("http://10.0.0.1/feed", i))
			if i > 0 && rng.IntN(6) == 0 {
				w.hang[h.id] = true
			}
		}
		answered := make(map[string]int) // lists by node and id
		asked := make(map[uint64]string) // the same by node and tag, of queries that were not answered
		w.watch = func(h *testHost, ev node.Event, effects []node.Effect) {
			if q, is := ev.(node.Asked); is {
				if c, is := q.Call.(protocol.QueryFeed); is {
					asked[q.Tag<<8|uint64(slices.Index(hosts, h))] = h.id.String() + " " + c.Query.ID
				}
			}
			for _, e := range effects {
				r, is := e.(node.Respond)
				a, isAnswer := r.Reply.(protocol.Answer)
				if !is || !isAnswer {
					continue
				}
				if len(a.Found) > 0 {
					answered[asked[r.Tag<<8|uint64(slices.Index(hosts, h))]]++
				}
				for _, f := range a.Found {
					if f.Feed != news && f.Feed != blog {
						rt.Errorf("%s answered with %s", h.id, f.Feed)
					}
				}
			}
		}
		q := protocol.Query{
			Hops:   rapid.IntRange(1, protocol.MaxQueryHops).Draw(rt, "hops"),
			Budget: rapid.IntRange(0, protocol.MaxBudget).Draw(rt, "budget"),
			Filter: feed.Filter{Feed: rapid.SampledFrom([]feed.URL{"", news, blog}).Draw(rt, "feed")},
		}
		got, took := hosts[0].seeks(q)
		w.run(time.Minute)
		budget := q.Budget
		if budget == 0 {
			budget = protocol.DefaultBudget
		}
		if calls := w.queriesMade(); calls > budget {
			rt.Errorf("%d calls on a budget of %d", calls, budget)
		}
		if took > protocol.DefaultWait {
			rt.Errorf("took %v", took)
		}
		for which, lists := range answered {
			if lists > 1 {
				rt.Errorf("%s was answered %d times", which, lists)
			}
		}
		if len(got.Hits) > feed.DefaultLimit {
			rt.Errorf("%d hits", len(got.Hits))
		}
	})
}

// Versions of an entry stand side by side, each with those that have it.
func TestHoldersAreCounted(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3})
	e := oldEntry(news, 1)
	edited := e
	edited.Summary = "a walrus, edited"
	hosts[1].holds(e)
	hosts[2].holds(e)
	hosts[3].holds(edited)
	got, _ := hosts[0].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
	told := map[feed.Digest]int{}
	for _, h := range got.Hits {
		told[h.Digest] = h.Told()
	}
	if len(told) != 2 || told[e.Digest()] != 2 || told[edited.Digest()] != 1 {
		t.Errorf("versions were told by %v", told)
	}
}

// The part of its share that one neighbor does not spend goes to the next.
func TestWhatIsLeftOfTheBudgetIsSpentOnOthers(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(5, node.Config{}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3}, [2]int{0, 4})
	hosts[4].holds(oldEntry(news, 1))
	got, _ := hosts[0].seeks(protocol.Query{Budget: 4})
	if got.Asked != 4 || len(got.Hits) != 1 || got.Cut != 0 || w.queriesMade() != 4 {
		t.Errorf("%d were asked with %d calls, %d hits, cut %v", got.Asked, w.queriesMade(), len(got.Hits),
			got.Cut.Reasons())
	}
	got, _ = hosts[0].seeks(protocol.Query{Budget: 3})
	if got.Asked != 3 || got.Cut != protocol.CutBudget {
		t.Errorf("on a budget of 3, %d were asked, cut %v", got.Asked, got.Cut.Reasons())
	}
}

// A neighbor that is late with an answer has others to ask: it counts as no failure, or slow neighbors would be lost.
func TestBeingLateIsNoFailure(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, is := c.(protocol.QueryFeed)
		return nil, is
	}
	for range 5 {
		if got, _ := hosts[0].seeks(protocol.Query{Wait: 300 * time.Millisecond}); got.Cut != protocol.CutTime {
			t.Fatalf("cut %v", got.Cut.Reasons())
		}
		w.run(time.Second)
	}
	if !linked(hosts[0], hosts[1]) || hosts[0].status(hosts[1]).LastError != "" {
		t.Errorf("the neighbor failed: %+v", hosts[0].status(hosts[1]))
	}
}

// Results that one neighbor makes up, as many and as long as an answer may hold, leave those of others in it.
func TestNobodyCrowdsAnAnswer(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3})
	asker, relay, liar, honest := hosts[0], hosts[1], hosts[2], hosts[3]
	for i := range 60 {
		honest.holds(oldEntry(news, i))
	}
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		q, is := c.(protocol.QueryFeed)
		if !is || to != liar {
			return nil, false
		}
		var a protocol.Answer
		for i := range q.Query.Filter.Limit {
			a.Found = append(a.Found, protocol.Found{
				ID: feed.EntryID{1, byte(i)}, Feed: news, Title: strings.Repeat("walrus", protocol.MaxTitleBytes/6),
				Published: w.Now(), Seen: w.Now(),
			})
		}
		return a, true
	}
	r := relay.hears(asker, protocol.QueryFeed{Query: protocol.Query{
		ID: "q", Hops: 1, Budget: 10, Filter: feed.Filter{Words: []string{"walrus"}, Limit: protocol.MaxAnswerEntries},
	}})
	a := r.Reply.(protocol.Answer)
	true, made := 0, 0
	for _, f := range a.Found {
		if f.Published.Equal(w.Now()) || len(f.Title) > 100 {
			made++
		} else {
			true++
		}
	}
	if true != 60 || made == 0 || a.Cut&protocol.CutLimit == 0 || len(protocol.EncodeReply(nil, a)) > 512<<10 {
		t.Errorf("%d true and %d made up entries in %d bytes, cut %v", true, made, len(protocol.EncodeReply(nil, a)),
			a.Cut.Reasons())
	}
}
