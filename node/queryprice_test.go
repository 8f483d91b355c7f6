package node

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

// asksFor is what b answers to a query of a for these words, or why it refuses.
func (a *testHost) asksFor(b *testHost, id string, words ...string) (protocol.Answer, *protocol.Fault) {
	r := b.hears(a, protocol.QueryFeed{Query: protocol.Query{ID: id, Filter: feed.Filter{Words: words}}})
	answer, _ := r.Reply.(protocol.Answer)
	return answer, r.Fault
}

// Paper §3.6: "Third, and most important, we can put this query relaying under the incentive mechanism".
func TestQueriesRunIntoTheBound(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	b.holds(oldEntry(news, 1))
	deficit := func() incentive.Credit {
		account, _ := b.node.dues.ledger.Account(b.node.links[a.id].holder)
		return account.Deficit
	}
	if a.asksFor(b, "nothing", "dodo"); deficit() != 0 {
		t.Errorf("an empty answer cost %v", deficit())
	}
	w.run(time.Minute)
	if a.asksFor(b, "one", "walrus"); deficit() != relayPrice {
		t.Errorf("an answer cost %v, want %v", deficit(), relayPrice)
	}
	for i := range 20 {
		w.run(10 * time.Second)
		_, fault := a.asksFor(b, fmt.Sprint("q", i), "walrus")
		if i < 9 && fault != nil || i >= 9 && (fault == nil || fault.Code != protocol.AtBound) {
			t.Fatalf("answer %d: %v; an address never seen before has a bound of one entry", i+2, fault)
		}
	}
}

// An answer that lists news is as good as its delivery: it is paid in full, out of half of what is left.
func TestNewsInAnswersIsPaidFor(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, Config{Incentive: incentive.Config{Bound: 10}}, [2]int{0, 1})
	a, b := hosts[0], hosts[1]
	l := b.node.links[a.id]
	b.inside(func(n *Node) { n.dues.ledger.Got(n.now, l.holder, 9*incentive.Entry) })
	before, _ := b.node.dues.ledger.Account(l.holder)
	var records []archive.Record
	for i := range 30 {
		e := oldEntry(news, i)
		e.Published = w.now.Add(-time.Duration(i) * 4 * time.Hour) // the first 12 are younger than two days when they are asked for
		records = append(records, archive.NewRecord(e, w.now, protocol.NodeID{}))
	}
	b.store.Keep(records)
	w.run(time.Minute)
	room := b.node.dues.ledger.Allowance(l.holder)
	answer, _ := a.asksFor(b, "q", "walrus")
	after, _ := b.node.dues.ledger.Account(l.holder)
	paid := after.Given - before.Given
	if news := int((paid - relayPrice) / incentive.Entry); news != int((room/2-relayPrice)/incentive.Entry) || len(answer.Found) != 18+news || answer.Cut&protocol.CutRefused == 0 {
		t.Errorf("%d entries listed, cut %v, for %v of %v", len(answer.Found), answer.Cut.Reasons(), paid, room)
	}
	b.inside(func(n *Node) { n.table.Hear(l.peer, protocol.Subset{{Feed: news}}) })
	answer, _ = a.asksFor(b, "q2", "walrus")
	last, _ := b.node.dues.ledger.Account(l.holder)
	if len(answer.Found) != 30 || last.Given-after.Given != relayPrice {
		t.Errorf("%d entries of a feed that the asker gets anyway were listed for %v", len(answer.Found), last.Given-after.Given)
	}
}

// A flood of queries is refused with its reason, and reaches nobody else.
func TestAFloodOfQueriesIsHeldBack(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(4, Config{}, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3})
	answered, busy := 0, 0
	for i := range 100 {
		r := hosts[1].hears(hosts[0], protocol.QueryFeed{Query: protocol.Query{
			ID: fmt.Sprint(i), Hops: 5, Budget: 256, Filter: feed.Filter{Words: []string{fmt.Sprint("word", i)}},
		}})
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
	if calls := w.queriesMade(); calls > 20 {
		t.Errorf("the flood made %d more calls", calls)
	}
}

func TestTheSettingKeepsQueriesHere(t *testing.T) {
	const private, discreet = feed.URL("https://intern.example.com/feed"), feed.URL("https://discreet.example.com/feed")
	for _, c := range []struct {
		setting  QueryNetwork
		feed     feed.URL
		explicit bool
		want     error
	}{
		{AskNetwork, news, true, nil},
		{AlwaysNetwork, news, false, nil},
		{NeverNetwork, news, true, ErrNeverNetwork},
		{AskNetwork, private, true, ErrPrivateFeed},
		{AskNetwork, "https://user:password@example.com/feed", true, ErrPrivateFeed},
		{AskNetwork, "http://192.168.1.1/feed", true, ErrPrivateFeed},
		{AlwaysNetwork, discreet, false, ErrPrivateFeed},
		{AlwaysNetwork, discreet, true, nil},
	} {
		w := newNetwork(t)
		hosts := w.graph(2, Config{QueryNetwork: c.setting, PrivateHosts: []string{"intern.example.com"}}, [2]int{0, 1})
		hosts[0].step(Subscribe{Feeds: []feed.URL{discreet}, Discreet: new(true)})
		hosts[0].step(Query{Tag: 7, Query: protocol.Query{Filter: feed.Filter{Feed: c.feed}}, Explicit: c.explicit})
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
	hosts := w.graph(3, Config{}, [2]int{0, 1}, [2]int{1, 2})
	const secret = feed.URL("https://example.com/feed?token=9f86d081884c7d659a2feaa0c55ad015")
	hosts[1].holds(oldEntry(secret, 1))
	r := hosts[1].hears(hosts[0], protocol.QueryFeed{Query: protocol.Query{ID: "q", Hops: 3, Budget: 64, Filter: feed.Filter{Feed: secret}}})
	if a := r.Reply.(protocol.Answer); len(a.Found) > 0 || w.queriesMade() > 0 {
		t.Errorf("answered %+v after %d calls", a, w.queriesMade())
	}
}

// Nobody waits any more: nothing comes.
func TestAQueryCanBeEnded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.graph(2, Config{}, [2]int{0, 1})
	hosts[0].step(Query{Tag: 1, Explicit: true})
	hosts[0].step(EndQuery{Tag: 1})
	hosts[0].step(EndQuery{Tag: 2})
	w.run(time.Minute)
	if len(hosts[0].results) > 0 || len(hosts[0].node.queries.own) > 0 {
		t.Errorf("came %+v", hosts[0].results)
	}
}

func TestTheOwnersQueriesAreBounded(t *testing.T) {
	w := newNetwork(t)
	var star [][2]int
	for i := range 40 {
		star = append(star, [2]int{0, i + 1})
	}
	hosts := w.graph(41, Config{}, star...)
	for tag := range uint64(maxOwnQueries + 1) {
		hosts[0].step(Query{Tag: tag, Explicit: true})
	}
	if last := hosts[0].results[len(hosts[0].results)-1]; !errors.Is(last.Err, ErrTooManyQueries) {
		t.Errorf("one too many: %+v", last)
	}
}
