package node_test

import (
	"errors"
	"fmt"
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

// asksFor returns b's answer to a query of a for these words, or why it refuses.
func (a *testHost) asksFor(b *testHost, id string, words ...string) (protocol.Answer, *protocol.Fault) {
	r := b.hears(a, protocol.QueryFeed{Query: protocol.Query{ID: id, Filter: feed.Filter{Words: words}}})
	answer, _ := r.Reply.(protocol.Answer)
	return answer, r.Fault
}

// Paper §3.6: "Third, and most important, we can put this query relaying under the incentive mechanism".
func TestQueriesRunIntoTheBound(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	b.holds(oldEntry(news, 1))
	deficit := func() incentive.Credit {
		account := b.node.Account(a.id)
		return account.Deficit
	}
	b.inside(func(n *node.Node) { n.AskedAll(a.id); n.Got(a.id, incentive.Entry) })
	before := deficit()
	if a.asksFor(b, "nothing", "dodo"); deficit()-before != query.MessagePrice {
		t.Errorf("an empty answer cost %v, want %v", deficit()-before, query.MessagePrice)
	}
	w.run(time.Minute)
	before = deficit()
	if a.asksFor(b, "one", "walrus"); deficit()-before != query.MessagePrice+query.RelayPrice {
		t.Errorf("an answer cost %v, want %v", deficit()-before, query.MessagePrice+query.RelayPrice)
	}
	for i := range 20 {
		w.run(10 * time.Second)
		_, fault := a.asksFor(b, fmt.Sprint("q", i), "walrus")
		if i < 18 && fault != nil || i >= 18 && (fault == nil || fault.Code != protocol.AtBound) {
			t.Fatalf("answer %d: %v; who gave an entry may ask until one entry's worth is left", i+2, fault)
		}
	}
}

// Two nodes that know nobody else, and ask each other about the past before either has anything to give, give each
// other the first entry that comes out.
func TestQuestionsLeaveRoomForTheFirstEntry(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, bound(), news)
	for i, a := range hosts {
		b := hosts[1-i]
		b.holds(oldEntry(news, i))
		for q := range 10 {
			a.asksFor(b, fmt.Sprint("q", i, q), "walrus")
		}
		a.hears(b, protocol.GetEntries{Wanted: []protocol.Wanted{{ID: new(oldEntry(news, i)).EntryID()}}})
	}
	id := w.publish(news)
	hosts[0].poll(news)
	w.run(10 * time.Second)
	if !hosts[1].has(id) {
		t.Errorf("it waits: the other owes %v", hosts[0].account(hosts[1]).Deficit)
	}
}

// An answer that lists news is as good as its delivery: it is paid in full, out of half of what is left.
func TestNewsInAnswersIsPaidFor(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	b.inside(func(n *node.Node) { n.AskedAll(a.id); n.Got(a.id, 9*incentive.Entry) })
	before := b.node.Account(a.id)
	var records []archive.Record
	for i := range 30 {
		e := oldEntry(news, i)
		// the first 12 are younger than two days when they are asked for
		e.Published = w.Now().Add(-time.Duration(i) * 4 * time.Hour)
		records = append(records, archive.NewRecord(e, w.Now(), protocol.NodeID{}))
	}
	b.store.Keep(records)
	w.run(time.Minute)
	room := b.node.Allowance(a.id)
	answer, _ := a.asksFor(b, "q", "walrus")
	after := b.node.Account(a.id)
	paid := after.Given - before.Given
	told, affordable := int((paid-query.RelayPrice)/incentive.Entry),
		int((room/2-query.RelayPrice-query.MessagePrice)/incentive.Entry)
	if told != affordable || len(answer.Found) != 18+told || answer.Cut&protocol.CutRefused == 0 {
		t.Errorf("%d entries listed, cut %v, for %v of %v", len(answer.Found), answer.Cut.Reasons(), paid, room)
	}
	b.inside(func(n *node.Node) { n.Hear(a.id, protocol.Subset{{Feed: news}}) })
	answer, _ = a.asksFor(b, "q2", "walrus")
	last := b.node.Account(a.id)
	if len(answer.Found) != 30 || last.Given-after.Given != query.MessagePrice+query.RelayPrice {
		t.Errorf("%d entries of a feed that the asker gets anyway were listed for %v", len(answer.Found),
			last.Given-after.Given)
	}
}

// The work that a query causes others costs its asker, whatever comes of it: Paper §3.6, "we can put this query
// relaying under the incentive mechanism".
func TestMessagesArePaidFor(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(5, node.Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3},
		[2]int{3, 4})
	asker, relay := hosts[0], hosts[1]
	relay.inside(func(n *node.Node) { n.AskedAll(asker.id); n.Got(asker.id, incentive.Entry) })
	ask := func(id string, budget int) (protocol.Answer, incentive.Credit) {
		before := relay.node.Account(asker.id)
		r := relay.hears(asker, protocol.QueryFeed{Query: protocol.Query{
			ID: id, Hops: 3, Budget: budget, Filter: feed.Filter{Words: []string{"dodo " + id}},
		}})
		after := relay.node.Account(asker.id)
		return r.Reply.(protocol.Answer), after.Given - before.Given
	}
	if a, paid := ask("near", 0); a.Left != 0 || paid != query.MessagePrice {
		t.Errorf("a query that goes no further cost %v, %d left", paid, a.Left)
	}
	if a, paid := ask("far", 20); a.Left != 17 || paid != 4*query.MessagePrice {
		t.Errorf("a query that takes three more calls cost %v, %d left", paid, a.Left)
	}
	// Half of what is left goes into one query at most; what it may not spend is left.
	relay.inside(func(n *node.Node) {
		n.Gave(asker.id, n.Allowance(asker.id)-incentive.Entry-query.RelayPrice)
	})
	if a, paid := ask("poor", 200); a.Left != 197 || paid != 4*query.MessagePrice {
		t.Errorf("with a tenth of an entry left for queries one cost %v, %d left", paid, a.Left)
	}
	relay.inside(func(n *node.Node) {
		n.Gave(asker.id, n.Allowance(asker.id)-query.RelayPrice)
	})
	if got := relay.node.Affordable(asker.id, 200); got > int(query.RelayPrice/2/query.MessagePrice) {
		t.Errorf("with less than a tenth left a query may cause %d messages", got)
	}
}

// Neighbors that ask much leave what a minute allows to the others.
func TestANeighborMayCauseSoManyMessages(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{1, 2})
	n, flooder, other := hosts[1].node, hosts[0].id, hosts[2].id
	if got := n.Affordable(flooder, 50); got != 50 {
		t.Errorf("%d of 50", got)
	}
	if got := n.Affordable(flooder, 50); got != search.MessagesPerMinute-50 {
		t.Errorf("%d of 50 more", got)
	}
	if n.SpareMessages(flooder, 10); n.Affordable(flooder, 50) != 10 {
		t.Error("what was not sent is not there for the next")
	}
	if got := n.Affordable(other, 256); got != search.MessagesPerMinute {
		t.Errorf("another has %d", got)
	}
	w.run(time.Minute)
	hosts[1].step(node.Wake{})
	if got := n.Affordable(flooder, 50); got != 50 {
		t.Errorf("%d of 50 a minute later", got)
	}
}

// Queries that take long to answer are answered less often.
func TestANeighborHasSoMuchSearch(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	n, l := hosts[1].node, hosts[1].node.LinkTo(hosts[0].id)
	ask := func(now time.Time) node.Effect {
		for _, e := range n.Step(nil, now,
			node.Asked{From: l.ID(), Session: l.Session, Call: protocol.QueryFeed{Query: protocol.Query{
				Filter: feed.Filter{Words: []string{now.String()}}, // no two are the same
			}}}) {
			switch e.(type) {
			case node.Search, node.Respond:
				return e
			}
		}
		return nil
	}
	now := w.Now().Truncate(time.Minute).Add(time.Minute)
	for range 2 {
		s, ok := ask(now).(node.Search)
		if !ok {
			t.Fatal("a query within the limits is not answered")
		}
		now = now.Add(time.Second)
		n.Step(nil, now, node.Searched{ID: s.ID, Took: core.SearchAMinute/2 + 1})
	}
	if r, _ := ask(now).(node.Respond); r.Fault == nil || r.Fault.Code != protocol.Busy {
		t.Errorf("after %v of search it answers %+v", core.SearchAMinute, r)
	}
	if _, ok := ask(now.Add(time.Minute)).(node.Search); !ok {
		t.Error("a minute later a query is not answered")
	}
}

// The owner can ask though others have us pass on as much as they may.
func TestRelayedQueriesLeaveRoomForTheOwners(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{1, 2})
	hosts[2].holds(oldEntry(news, 1))
	for i := range 10 {
		hosts[1].hears(hosts[0], protocol.QueryFeed{Query: protocol.Query{
			ID: fmt.Sprint(i), Hops: 2, Budget: 4, Filter: feed.Filter{Words: []string{fmt.Sprint("word", i)}},
		}})
	}
	if n := count(hosts[1].calls, "query_feed"); n != search.PerMinute-search.OwnPerMinute {
		t.Errorf("%d queries were passed on", n)
	}
	found, _ := hosts[1].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
	if len(found.Hits) != 1 {
		t.Errorf("the owner found %d", len(found.Hits))
	}
}

// A flood of queries is refused with its reason, and reaches nobody else.
func TestAFloodOfQueriesIsHeldBack(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(4, node.Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3})
	answered, busy := 0, 0
	marks := func() int {
		account := hosts[1].node.Account(hosts[0].id)
		return len(account.Standing.Marks)
	}
	for i := range 100 {
		r := hosts[1].hears(hosts[0], protocol.QueryFeed{Query: protocol.Query{
			ID: fmt.Sprint(i), Hops: 5, Budget: 256, Filter: feed.Filter{Words: []string{fmt.Sprint("word", i)}},
		}})
		if i < 29 && marks() > 0 {
			t.Errorf("%d queries cost standing", i+1)
		}
		switch {
		case r.Fault == nil:
			answered++
		case r.Fault.Code == protocol.Busy:
			busy++
		}
	}
	if answered != 10 || busy != 90 {
		t.Errorf("%d were answered and %d refused as too many, want 10 and 90", answered, busy)
	}
	if marks() != 1 {
		t.Errorf("a minute's flood left %d marks", marks())
	}
	if calls := w.queriesMade(); calls > 2*8 {
		t.Errorf("the flood made %d more calls", calls)
	}
}

func TestTheSettingKeepsQueriesHere(t *testing.T) {
	const private, discreet = feed.URL("https://intern.example.com/feed"), feed.URL("https://discreet.example.com/feed")
	for _, c := range []struct {
		setting  node.QueryNetwork
		feed     feed.URL
		explicit bool
		want     error
	}{
		{node.AskNetwork, news, true, nil},
		{node.AlwaysNetwork, news, false, nil},
		{node.NeverNetwork, news, true, node.ErrNeverNetwork},
		{node.AskNetwork, private, true, node.ErrPrivateFeed},
		{node.AskNetwork, "https://user:password@example.com/feed", true, node.ErrPrivateFeed},
		{node.AskNetwork, "http://192.168.1.1/feed", true, node.ErrPrivateFeed},
		{node.AlwaysNetwork, discreet, false, node.ErrPrivateFeed},
		{node.AlwaysNetwork, discreet, true, nil},
	} {
		w := newNetwork(t)
		hosts := w.graph(2, node.Config{QueryNetwork: c.setting, PrivateHosts: []string{"intern.example.com"}},
			[2]int{0, 1})
		hosts[0].step(node.Subscribe{Feeds: []feed.URL{discreet}, Discreet: new(true)})
		hosts[0].step(node.OwnerQuery{Tag: 7, Query: protocol.Query{Filter: feed.Filter{Feed: c.feed}},
			Explicit: c.explicit})
		w.run(time.Minute)
		last := hosts[0].results[len(hosts[0].results)-1]
		if calls := w.queriesMade(); !last.Done || !errors.Is(last.Err, c.want) || calls > 0 != (c.want == nil) {
			t.Errorf("%s, %s: %d calls, %+v; want %v", c.setting, c.feed, calls, last, c.want)
		}
	}
}

// Nobody passes on a query that names a feed of which nothing must leave.
func TestQueriesForPrivateFeedsGoNoFurther(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(3, node.Config{}, [2]int{0, 1}, [2]int{1, 2})
	const secret = feed.URL("https://example.com/feed?token=9f86d081884c7d659a2feaa0c55ad015")
	hosts[1].holds(oldEntry(secret, 1))
	r := hosts[1].hears(hosts[0],
		protocol.QueryFeed{Query: protocol.Query{ID: "q", Hops: 3, Budget: 64, Filter: feed.Filter{Feed: secret}}})
	if a := r.Reply.(protocol.Answer); len(a.Found) > 0 || w.queriesMade() > 0 {
		t.Errorf("answered %+v after %d calls", a, w.queriesMade())
	}
}

// Nobody waits any more: nothing comes.
func TestAQueryCanBeEnded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, node.Config{}, [2]int{0, 1})
	hosts[0].step(node.OwnerQuery{Tag: 1, Explicit: true})
	hosts[0].step(node.EndQuery{Tag: 1})
	hosts[0].step(node.EndQuery{Tag: 2})
	w.run(time.Minute)
	if len(hosts[0].results) > 0 || hosts[0].node.OwnQueries() > 0 {
		t.Errorf("came %+v", hosts[0].results)
	}
}

func TestTheOwnersQueriesAreBounded(t *testing.T) {
	w := newNetwork(t)
	var star [][2]int
	for i := range 40 {
		star = append(star, [2]int{0, i + 1})
	}
	hosts := w.graph(41, node.Config{}, star...)
	for tag := range uint64(query.MaxOwnQueries + 1) {
		hosts[0].step(node.OwnerQuery{Tag: tag, Explicit: true})
	}
	if last := hosts[0].results[len(hosts[0].results)-1]; !errors.Is(last.Err, node.ErrTooManyQueries) {
		t.Errorf("one too many: %+v", last)
	}
}

// Neighbors that invent answers to each other's queries earn no more than they pay, whether the asker can pay for what
// they tell or not, and make themselves no better neighbors.
func TestInventedAnswersEarnNoMoreThanIsPaid(t *testing.T) {
	for name, age := range map[string]time.Duration{"news": 0, "old": 72 * time.Hour} {
		w := newNetwork(t)
		hosts := w.graph(5, node.Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1}, [2]int{1, 2},
			[2]int{1, 3},
			[2]int{1, 4})
		asker, relay := hosts[0], hosts[1]
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			q, is := c.(protocol.QueryFeed)
			if !is || to == relay {
				return nil, false
			}
			e := feed.Entry{Feed: news, ID: q.Query.ID + to.id.String(), Title: "walrus", Published: w.Now().Add(-age)}
			return protocol.Answer{Found: []protocol.Found{{
				ID: e.EntryID(), Digest: e.Digest(), Feed: news, Title: e.Title, Published: e.Published, Seen: w.Now(),
				Holders: []protocol.NodeID{{}},
			}}}, true
		}
		relay.inside(func(n *node.Node) {
			n.Own(news)
			n.AskedAll(asker.id)
			n.Got(asker.id, incentive.Entry/2)
			for _, h := range hosts[2:] {
				n.Hear(h.id, protocol.Subset{{Feed: news}})
			}
		})
		account := func(h *testHost) incentive.Account {
			a := relay.node.Account(h.id)
			return a
		}
		listed := 0
		for i := range 100 {
			w.run(10 * time.Second)
			if r, ok := relay.hears(asker, protocol.QueryFeed{Query: protocol.Query{
				ID: fmt.Sprint(i), Hops: 1, Budget: 4, Filter: feed.Filter{Words: []string{"walrus"}, Limit: 10 + i},
			}}).Reply.(protocol.Answer); ok {
				listed += len(r.Found)
			}
		}
		var earned incentive.Credit
		for _, h := range hosts[2:] {
			earned += account(h).Got
			if useful := relay.status(h).Observed; useful != 0 {
				t.Errorf("%s: one that invents answers is observed to be worth %v", name, useful)
			}
		}
		if paid := account(asker).Given; paid == 0 || earned > paid || (listed > 0) != (age > 0) ||
			(earned > 0) != (age > 0) {
			t.Errorf("%s: %v was paid and %v earned for %d entries", name, paid, earned, listed)
		}
	}
}
