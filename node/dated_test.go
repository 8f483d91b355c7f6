package node_test

import (
	"fmt"
	"testing"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A past that is longer than an answer is listed to its end, page by page, each going on where the one before was
// whole: from neighbors and from those beyond them, in whatever order their entries arrived.
func TestALongPastIsListedPageByPage(t *testing.T) {
	const limit, count = 50, 260
	w := newNetwork(t)
	hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 3})
	for i, k := range w.rng.Perm(count) {
		e := oldEntry(news, k)
		if i%10 > 0 {
			hosts[1+k%3].holds(e)
		}
		hosts[1+i%3].holds(e)
	}
	seen := make(map[feed.EntryID]bool)
	q := protocol.Query{Hops: 2, Filter: feed.Filter{Feed: news, Limit: limit, Dated: true}}
	queries := 0
	for more := true; more && queries < 100; queries++ {
		got, _ := hosts[0].seeks(q)
		if got.Err != nil || got.Cut&^protocol.CutLimit != 0 {
			t.Fatalf("query %d: %v, %v", queries, got.Cut.Reasons(), got.Err)
		}
		for _, h := range got.Hits {
			seen[h.ID] = true
		}
		if more = got.Cut != 0; more && !got.CompleteSince.IsZero() && !got.CompleteSince.Before(q.Filter.Until) &&
			queries > 0 {
			t.Fatalf("query %d is whole since %v, and was for what came before %v", queries, got.CompleteSince,
				q.Filter.Until)
		}
		q.Filter.Until = got.CompleteSince
	}
	if least := (count + limit - 1) / limit; len(seen) != count || queries > 2*least {
		t.Errorf("%d queries listed %d of %d entries", queries, len(seen), count)
	}

	hosts[1].holds(oldEntry(blog, 1))
	for name, f := range map[string]feed.Filter{
		"in the order of arrival": {Feed: news, Limit: limit},
		"of words":                {Feed: news, Limit: limit, Dated: true, Words: []string{"walrus"}},
		"of little":               {Feed: blog, Limit: limit, Dated: true},
	} {
		if got, _ := hosts[0].seeks(protocol.Query{Hops: 2, Filter: f}); !got.CompleteSince.IsZero() ||
			len(got.Hits) == 0 {
			t.Errorf("%s: %d hits, whole since %v", name, len(got.Hits), got.CompleteSince)
		}
	}
}

// What is left out because all is too long for an answer counts as well.
func TestAnAnswerThatIsTooLongIsWholeForLess(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	for i := range 180 {
		e := oldEntry(news, i)
		if e.Title = fmt.Sprintf("Entry %d", i); i >= 100 {
			e.Title = fmt.Sprintf("%4000d", i)
		}
		hosts[0].holds(e)
	}
	r := hosts[0].hears(hosts[1],
		protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: news, Limit: 200, Dated: true}}})
	a := r.Reply.(protocol.Answer)
	listed := make(map[feed.EntryID]bool)
	for i := range a.Found {
		listed[a.Found[i].ID] = true
	}
	if len(a.Found) < 100 || len(a.Found) == 180 || a.Cut != protocol.CutLimit || a.CompleteSince.IsZero() {
		t.Fatalf("%d listed, cut %v, whole since %v", len(a.Found), a.Cut.Reasons(), a.CompleteSince)
	}
	for i := range 180 {
		if e := oldEntry(news, i); !e.Published.Before(a.CompleteSince) && !listed[e.EntryID()] {
			t.Fatalf("an entry of %v is left out, whole since %v", e.Published, a.CompleteSince)
		}
	}
}
