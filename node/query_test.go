package node_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/search"
)

// Paper §3.6: "The requester specifies in the query what feed entries it is looking for in terms of feed
// titles, entry titles, published dates, and others."
func TestQueriesAreAnsweredFromTheArchive(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	for range 8 {
		w.publish(news)
		w.run(2 * time.Hour)
	}
	ask := func(f feed.Filter) protocol.Answer {
		t.Helper()
		r := a.answerTo(b.id, a.node.SessionOf(b.id), protocol.QueryFeed{Query: protocol.Query{Filter: f}})
		if r.Fault != nil {
			t.Fatal(r.Fault)
		}
		return r.Reply.(protocol.Answer)
	}
	for _, c := range []struct {
		name    string
		filter  feed.Filter
		found   int
		partial bool
	}{
		{"everything", feed.Filter{}, 8, false},
		{"a title", feed.Filter{Title: []string{"entry 3"}}, 1, false},
		{"a word that stands nowhere", feed.Filter{Words: []string{"nothing"}}, 0, false},
		{"another feed", feed.Filter{Feed: blog}, 0, false},
		{"a range of time", feed.Filter{Since: epoch.Add(3 * time.Hour), Until: epoch.Add(9 * time.Hour)}, 3, false},
		{"no more than asked for", feed.Filter{Limit: 3}, 3, true},
		{"just as many as there are", feed.Filter{Limit: 8}, 8, false},
	} {
		got := ask(c.filter)
		if len(got.Found) != c.found || got.Partial() != c.partial {
			t.Errorf("%s: %d found, partial %v; want %d, %v", c.name, len(got.Found), got.Partial(), c.found, c.partial)
		}
	}
	first := ask(feed.Filter{Limit: 1}).Found[0]
	entries := w.feeds[news].entries
	if e := entries[len(entries)-1]; first.ID != e.EntryID() || first.Digest != e.Digest() {
		t.Error("the newest arrival is not first, or not described by its digest")
	}
}

func TestQueriesOfANeighborAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	a, b := hosts[0].node, hosts[1]
	session := a.SessionOf(b.id)
	var effects []node.Effect
	for tag := range uint64(3) {
		effects = a.Step(effects, w.Now(), node.Asked{From: b.id, Session: session, Call: protocol.QueryFeed{},
			Tag: 100 + tag})
	}
	var searches []node.Search
	for _, e := range effects {
		switch e := e.(type) {
		case node.Search:
			searches = append(searches, e)
		case node.Respond:
			if e.Fault == nil || e.Fault.Code != protocol.Busy {
				t.Errorf("the third query was answered %v, %v", e.Reply, e.Fault)
			}
		}
	}
	if len(searches) != 2 || !searches[0].Filter.Shareable {
		t.Fatalf("%d searches, the first with %+v", len(searches), searches)
	}
	effects = a.Step(nil, w.Now(), node.Searched{ID: searches[0].ID, Err: errors.New("deadline exceeded")})
	if r, ok := effects[0].(node.Respond); !ok || r.Fault != nil || r.Reply.(protocol.Answer).Cut != protocol.CutTime {
		t.Errorf("a search that took too long was answered %+v", effects)
	}
}

// A slow machine answers as well, as long as it is not asked much.
func TestSearchesHaveTimeWhileLittleIsAsked(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	n, l := hosts[1].node, hosts[1].node.LinkTo(hosts[0].id)
	asked := uint64(0)
	search := func(wait time.Duration) node.Search {
		t.Helper()
		asked++
		for _, e := range n.Step(nil, w.Now(), node.Asked{From: l.ID(), Session: l.Session, Tag: asked,
			Call: protocol.QueryFeed{Query: protocol.Query{
				Wait: wait, Filter: feed.Filter{Words: []string{fmt.Sprint(asked)}},
			}}}) {
			if s, ok := e.(node.Search); ok {
				return s
			}
		}
		t.Fatal("the archive is not searched")
		return node.Search{}
	}
	s := search(time.Second)
	if s.Time != time.Second/2 {
		t.Errorf("for an asker that waits a second the archive may be searched for %v, want half of that", s.Time)
	}
	n.Step(nil, w.Now(), node.Searched{ID: s.ID})
	for _, want := range []time.Duration{core.SearchAMinute / 2, core.SearchAMinute / 4, core.SearchAMinute / 8} {
		s := search(20 * time.Second)
		if s.Time != want {
			t.Errorf("search %d may take %v, want %v", asked, s.Time, want)
		}
		n.Step(nil, w.Now(), node.Searched{ID: s.ID, Took: s.Time})
	}
	s = search(20 * time.Second)
	n.Step(nil, w.Now(), node.Searched{ID: s.ID, Took: core.SearchAMinute / 8})
	if s := search(20 * time.Second); s.Time != core.LeastSearch {
		t.Errorf("with nothing left the archive may be searched for %v, want %v", s.Time, core.LeastSearch)
	}
}

// A neighbor that was asked so much in this minute that the owner's query leaves it out may have what is looked for,
// whatever it advertises.
func TestTheOwnerIsToldOfNeighborsThatWereNotAskedForNow(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	hosts[1].holds(oldEntry(news, 1))
	q := protocol.Query{Filter: feed.Filter{Feed: news}, Hops: 1}
	for range search.PerMinute {
		if got, _ := hosts[0].seeks(q); got.Cut != 0 || len(got.Hits) != 1 {
			t.Fatalf("%d found, cut %v", len(got.Hits), got.Cut.Reasons())
		}
	}
	if got, _ := hosts[0].seeks(q); got.Asked != 0 || got.Cut != protocol.CutRefused {
		t.Errorf("asked %d, cut %v", got.Asked, got.Cut.Reasons())
	}
}
