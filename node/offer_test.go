package node_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/polling"
	"feedex/protocol"
)

// How bundles get to a neighbor that wants them.

// a traffic is the offers and deliveries that reached a host, in order.
type traffic struct {
	offers [][]protocol.DID // one list a call
	puts   []protocol.DID
}

// trafficTo watches what is offered and delivered to h.
func (w *network) trafficTo(h *testHost) *traffic {
	seen := &traffic{}
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if to != h {
			return nil, false
		}
		switch c := c.(type) {
		case protocol.CheckDID:
			seen.offers = append(seen.offers, []protocol.DID{c.DID})
		case protocol.CheckDIDs:
			if len(c.DIDs) > 0 { // otherwise it asks whether somebody is there
				seen.offers = append(seen.offers, c.DIDs)
			}
		case protocol.PutEntries:
			seen.puts = append(seen.puts, c.Bundle.DID)
		}
		return nil, false
	}
	return seen
}

// bundles is as many bundles of an entry each.
func bundles(n int) (list []*protocol.Bundle) {
	for i := range n {
		list = append(list, one(fmt.Sprint("bundle ", i)))
	}
	return list
}

func didsOf(list []*protocol.Bundle) (dids []protocol.DID) {
	for _, b := range list {
		dids = append(dids, b.DID)
	}
	return dids
}

// Bundles that wait while an offer is under way go out as one, and only what the neighbor lacks is delivered.
func TestWaitingBundlesAreOfferedTogether(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	list := bundles(12)
	for _, has := range list[4:8] {
		b.node.See(has.DID)
	}
	got := w.trafficTo(b)
	for _, bundle := range append(list, list[6:]...) { // some are queued twice
		a.inside(func(n *node.Node) { n.Offer(b.id, bundle) })
	}
	w.run(time.Minute)
	dids := didsOf(list)
	if len(got.offers) != 2 || !slices.Equal(got.offers[0], dids[:1]) || !slices.Equal(got.offers[1], dids[1:]) {
		t.Errorf("offered %v, want the first at once and the rest together", got.offers)
	}
	if want := append(dids[:4:4], dids[8:]...); !slices.Equal(got.puts, want) {
		t.Errorf("delivered %v, want %v", got.puts, want)
	}
	if c := a.node.Status().Counters; c.ChecksSent != 12 || c.ChecksSeen != 4 || c.PutsSent != 8 || c.Forwarded != 8 {
		t.Errorf("counted %d offers, %d of them seen, %d deliveries; want 12, 4, 8", c.ChecksSent,
			c.ChecksSeen, c.PutsSent)
	}
}

// A neighbor is asked for no more at a time than it can be given before it takes us for one that breaks
// promises.
func TestOffersKeepPaceWithDeliveries(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.roundTrip(time.Second)
	got := w.trafficTo(b)
	list := bundles(90)
	for _, bundle := range list {
		a.offerAll(bundle)
	}
	for range 600 {
		w.run(time.Second)
		if n := b.node.Owed(a.id); n > exchange.MaxAsked {
			t.Fatalf("%d bundles are owed at a time", n)
		}
	}
	if !slices.Equal(got.puts, didsOf(list)) {
		t.Errorf("%d deliveries, want each of %d bundles once and in order", len(got.puts), len(list))
	}
	if n := b.node.Status().Counters.Broken; n != 0 {
		t.Errorf("an honest neighbor on a slow line broke %d promises", n)
	}
}

// Three neighbors are offered a bundle at once, and the rest together within two seconds, but for those that offered
// it themselves meanwhile.
func TestTheRestIsOfferedABundleTogether(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(10, node.Config{MaxNeighbors: 20, MinNeighbors: 9}, news)
	a, b := hosts[0], one("news")
	began, offers := w.Now(), map[time.Duration]int{}
	w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		if c, ok := c.(protocol.CheckDID); ok && c.DID == b.DID && from == a {
			offers[w.Now().Sub(began)]++
			return protocol.Seen(true), true
		}
		return nil, false
	}
	a.inside(func(n *node.Node) {
		n.Spread(b)
		n.NoteOffered(n.Unasked()[0], b.DID)
	})
	w.run(3 * time.Second)
	if len(offers) != 2 {
		t.Fatalf("offered at %v, want at two moments", offers)
	}
	for at, n := range offers {
		if first := at <= w.rtt; first && n != 3 || !first && n != 5 || at > exchange.LaterOffers+w.rtt {
			t.Errorf("%d offers after %v", n, at)
		}
	}
}

// A neighbor that lacks check_dids is offered one bundle a call.
func TestPlainNeighborsAreOfferedOneByOne(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	a.node.LinkTo(b.id).Batches = false
	got := w.trafficTo(b)
	list := bundles(10)
	for _, bundle := range list {
		a.offerAll(bundle)
	}
	w.run(time.Minute)
	if len(got.offers) != 10 || len(got.puts) != 10 {
		t.Errorf("%d offers and %d deliveries, want 10 of each", len(got.offers), len(got.puts))
	}
}

// One lost connection, or a moment with too much to do, costs nobody an entry.
func TestWhatFailedForTheMomentIsRepeated(t *testing.T) {
	refusal := func(code protocol.Code) error { return &protocol.RemoteError{Code: code, Text: "not now"} }
	for _, method := range []string{"check_did", "check_dids", "put_entries"} {
		for _, failure := range []error{errors.New("connection reset by peer"), refusal(protocol.Busy),
			refusal(protocol.Unavailable), nil} {
			w, a, b := newPair(t, node.Config{}, news)
			got := w.trafficTo(b)
			watch, failed := w.intercept, 0
			w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				if to == b && c.Method() == method && failed < 2 {
					failed++
					return failure, true
				}
				return watch(from, to, c)
			}
			list := bundles(5)
			for _, bundle := range list {
				a.offerAll(bundle)
			}
			w.run(5 * time.Minute)
			if failed == 0 || !linked(a, b) {
				t.Fatalf("%s, %v: failed %d times, linked %v", method, failure, failed, linked(a, b))
			}
			for i, bundle := range list {
				if !b.has(bundle.Entries[0].EntryID()) {
					t.Errorf("%s, %v: the neighbor never gets bundle %d", method, failure, i)
				}
			}
			if len(got.puts) != len(list) {
				t.Errorf("%s, %v: %d deliveries of %d bundles", method, failure, len(got.puts), len(list))
			}
		}
	}
}

// Bundles behind an offer that came too much do not wait on where the neighbor has that bundle by then.
func TestNothingWaitsBehindWhatIsNotOfferedAgain(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	first, second := one("first"), one("second")
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		check, is := c.(protocol.CheckDID)
		return &protocol.RemoteError{Code: protocol.Busy, Text: "not now"}, is && to == b && check.DID == first.DID
	}
	a.offerAll(first)
	a.offerAll(second)
	w.run(w.rtt)
	a.node.NoteOffered(b.id, first.DID)
	w.run(3 * time.Second)
	if !b.has(second.Entries[0].EntryID()) {
		t.Error("the neighbor was not offered what waited")
	}
}

// Bundles that are refused for good are not offered again.
func TestWhatIsRefusedForGoodIsDropped(t *testing.T) {
	for _, method := range []string{"check_did", "put_entries"} {
		for _, code := range []protocol.Code{protocol.InvalidParams, protocol.UnwantedFeed, protocol.BadBundle,
			protocol.BadDID, protocol.TooLong} {
			w, a, b := newPair(t, node.Config{}, news)
			calls := 0
			w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				if to != b || c.Method() != method {
					return nil, false
				}
				calls++
				return &protocol.RemoteError{Code: code, Text: "no"}, true
			}
			a.offerAll(one("refused"))
			w.run(10 * time.Minute)
			if calls != 1 || !linked(a, b) {
				t.Errorf("%s refused with %q was called %d times, linked %v", method, code, calls, linked(a, b))
			}
		}
	}
}

// Answers that make no sense hold nothing up.
func TestSenselessAnswersToOffers(t *testing.T) {
	for name, reply := range map[string]protocol.Reply{
		"too few": protocol.SeenList{false}, "too many": make(protocol.SeenList, 50), "something else": protocol.OK{},
	} {
		w, a, b := newPair(t, node.Config{}, news)
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			_, offer := c.(protocol.CheckDIDs)
			return reply, offer && to == b
		}
		for _, bundle := range bundles(5) {
			a.offerAll(bundle)
		}
		w.run(time.Minute)
		w.intercept = nil
		last := one("last")
		a.offerAll(last)
		w.run(time.Minute)
		if !b.has(last.Entries[0].EntryID()) {
			t.Errorf("%s: nothing more is delivered", name)
		}
	}
}

// A neighbor asks for everything and takes nothing; what it answers otherwise does not excuse it.
func TestANeighborThatTakesNoDeliveriesIsGivenUp(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, feeder, stuck := hosts[0], hosts[1], hosts[2]
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, put := c.(protocol.PutEntries)
		return nil, put && to == stuck
	}
	link := a.node.LinkTo(stuck.id)
	for i := range 360 {
		a.put(feeder, one(fmt.Sprint("e", i)))
		w.run(time.Second)
	}
	if a.node.LinkTo(stuck.id) == link {
		t.Errorf("after six minutes it is still a neighbor, %d bundles wait to be delivered",
			a.node.Offers(stuck.id))
	}
}

// Bundles that went round within the last hour reach neighbors that come later, and nothing older.
func TestNewNeighborsCatchUp(t *testing.T) {
	w, a, feeder := newPair(t, node.Config{}, news)
	old := one("of an hour ago")
	a.put(feeder, old)
	w.run(core.RecentFor)
	list := bundles(exchange.MaxWaiting)
	for _, b := range list {
		a.put(feeder, b)
	}
	feeder.kill()
	late := w.add(node.Config{Peers: []string{a.id.String()}}, news)
	late.blocked[news] = true
	got := w.trafficTo(late)
	w.run(5 * time.Minute)
	for i, b := range list {
		if !late.has(b.Entries[0].EntryID()) {
			t.Fatalf("the new neighbor lacks bundle %d of %d", i, len(list))
		}
	}
	if late.has(old.Entries[0].EntryID()) {
		t.Error("a bundle of more than an hour ago was offered")
	}
	if len(got.puts) != len(list) {
		t.Errorf("%d deliveries of %d bundles", len(got.puts), len(list))
	}
}

// After an hour in which nothing went round a newcomer is offered nothing.
func TestNewNeighborsAreNotOfferedWhatIsOld(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	hosts[0].put(hosts[1], one("old"))
	w.run(core.RecentFor + time.Second)
	late := w.add(node.Config{Peers: []string{hosts[0].id.String()}}, news)
	got := w.trafficTo(late)
	w.run(5 * time.Minute)
	if !linked(hosts[0], late) || len(got.offers) != 0 {
		t.Errorf("linked %v, offered %v", linked(hosts[0], late), got.offers)
	}
}

// A neighbor that connects while a bundle goes round gets it by two ways, and takes it once.
func TestABundleIsDeliveredOnceThoughItConnectsAnew(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, feeder, newcomer := hosts[0], hosts[1], hosts[2]
	w.roundTrip(900 * time.Millisecond)
	got := w.trafficTo(newcomer)
	for i := range 20 {
		newcomer.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
		w.run(time.Duration(200*i) * time.Millisecond)
		before := len(got.puts)
		a.put(feeder, one(fmt.Sprint("e", i)))
		w.run(10 * time.Second)
		if n := len(got.puts) - before; n != 1 {
			t.Errorf("%v after a connect a bundle is delivered %d times", time.Duration(200*i)*time.Millisecond, n)
		}
	}
}

// However much is escaped and however many small strings there are, what is kept for newcomers and what
// waits for a neighbor is bounded in bytes.
func TestQueuesAreBoundedInBytes(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, unlimited(), news)
	a, feeder, slow := hosts[0], hosts[1], hosts[2]
	w.hang[slow.id] = true
	for k := range 8 {
		var entries []feed.Entry
		for i := range protocol.MaxBundleEntries {
			e := feed.Entry{Feed: news, ID: fmt.Sprint(k, "-", i), Summary: strings.Repeat("&", 3000)}
			for c := range 60 {
				e.Categories = append(e.Categories, fmt.Sprintf("%d-%d-%d", k, i, c))
			}
			entries = append(entries, e)
		}
		if r := a.put(feeder, bundleWith(entries...)); r.Fault != nil {
			t.Fatal(r.Fault)
		}
	}
	wire := func(list []*protocol.Bundle) (bytes int) {
		for _, b := range list {
			bytes += len(protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: b}))
		}
		return bytes
	}
	kept := a.node.Recent()
	if bytes := wire(kept); bytes > exchange.RecentBytes || len(kept) == 0 {
		t.Errorf("%d bundles, %d bytes are kept for newcomers; the limit is %d", len(kept), bytes, exchange.RecentBytes)
	}
	if waiting := a.node.Waiting(slow.id); wire(waiting) > exchange.MaxWaitingBytes ||
		len(waiting) == 0 {
		t.Errorf("%d bundles, %d bytes wait for a neighbor; the limit is %d", len(waiting), wire(waiting),
			exchange.MaxWaitingBytes)
	}
}

// What waits for a neighbor is that of all who brought some: one that brings more than there is room for, in many small
// bundles or a few long ones, pushes out none of others.
func TestNobodyPushesOutWhatOthersBrought(t *testing.T) {
	for name, flood := range map[string]struct{ bundles, bytes int }{
		"many": {2 * exchange.MaxWaiting, 10}, "long": {exchange.MaxWaiting / 2, exchange.MaxWaitingBytes / 20},
	} {
		w := newNetwork(t)
		hosts := w.full(4, unlimited(), news)
		a, flooder, other, slow := hosts[0], hosts[1], hosts[2], hosts[3]
		w.hang[slow.id] = true
		for k := range flood.bundles {
			if k == exchange.MaxAsked {
				a.take(other, one("theirs"))
			}
			a.take(flooder, heavy(w, news, fmt.Sprint("flood ", k, "-"), 1, flood.bytes))
		}
		waiting := a.node.Waiting(slow.id)
		if !slices.ContainsFunc(waiting, func(b *protocol.Bundle) bool { return b.DID == one("theirs").DID }) {
			t.Errorf("%s: what another brought is not among the %d that wait", name, len(waiting))
		}
		if n := len(waiting); n < 10 || n > exchange.MaxWaiting {
			t.Errorf("%s: %d wait", name, n)
		}
	}
}

// A delivery that got lost twice is made again before the promise of it is broken, and costs nothing.
func TestADeliveryThatGotLostIsMadeAgainInTime(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.run(time.Minute)
	lost := 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, is := c.(protocol.PutEntries); is && to == b && lost < 2 {
			lost++
			return nil, true
		}
		return nil, false
	}
	bundle := one("news from a bad line")
	a.offerAll(bundle)
	w.run(protocol.PromiseTimeout)
	if lost != 2 || !b.has(bundle.Entries[0].EntryID()) {
		t.Errorf("after %d lost deliveries the neighbor has it: %v", lost, b.has(bundle.Entries[0].EntryID()))
	}
	w.run(time.Hour)
	if blamed := w.blamed(a); len(blamed) > 0 {
		t.Errorf("blamed for %v", blamed)
	}
}

func TestTimeToPut(t *testing.T) {
	text := func(bytes int) *protocol.Bundle {
		return protocol.NewBundle(news, []feed.Entry{{Feed: news, ID: "text", Content: strings.Repeat("x", bytes)}})
	}
	small, large, huge := text(100), text(512<<10), text(4<<20)
	if d := exchange.TimeToPut(small); d < core.CallTimeout || d > core.CallTimeout+time.Second {
		t.Errorf("a small bundle has %v", d)
	}
	if d := exchange.TimeToPut(large); d < 2*core.CallTimeout || d >= exchange.MaxPutTimeout {
		t.Errorf("half a megabyte has %v", d)
	}
	if d := exchange.TimeToPut(huge); d != exchange.MaxPutTimeout {
		t.Errorf("four megabytes have %v", d)
	}
}

// A few long bundles of one neighbor push out of what newcomers are offered none that others brought.
func TestLongBundlesPushOutNoOthers(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, unlimited(), news)
	a, honest, flooder := hosts[0], hosts[1], hosts[2]
	brought := one("brought")
	a.put(honest, brought)
	long, text := 0, strings.Repeat("x", 1<<20)
	for i := range 8 {
		a.put(flooder, bundleWith(feed.Entry{Feed: news, ID: fmt.Sprint("long ", i), Summary: text, Content: text}))
	}
	kept := false
	for _, b := range a.node.Recent() {
		if kept = kept || b.DID == brought.DID; b.DID != brought.DID {
			long++
		}
	}
	if !kept || long == 0 {
		t.Errorf("what another brought is kept is %v, and so are %d long ones", kept, long)
	}
}

// What waits for a neighbor goes along with an offer that it is made anyway, as far as a packet has room, and the rest
// with the delivery.
func TestNoticesGoAlong(t *testing.T) {
	const other = feed.URL("https://example.com/other")
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 24 * time.Hour}}, news, other)
	w.run(time.Minute)
	a, b := eager(h, 0, nil), h.befriend(friendID(1), news, other)
	h.hears(a, protocol.UpdateSubset{Changes: protocol.Subset{{Feed: other}}})
	var calls []string
	b.script = func(_ *testHost, c node.Call) protocol.Reply {
		if told := noticesOf(c.Call); len(told) > 0 {
			calls = append(calls, fmt.Sprintf("%s of %d", c.Call.Method(), len(told)))
		}
		switch c.Call.(type) {
		case protocol.ListMethods:
			return protocol.Methods{protocol.Notify{}.Method()}
		case protocol.WhoAmI:
			return h.id
		case protocol.CheckDID:
			return protocol.Seen(false)
		}
		return protocol.OK{}
	}
	w.run(13 * time.Hour)
	calls = nil
	for _, u := range []feed.URL{news, other} {
		n := protocol.Notice{Feed: u}
		n.Sign(keyFrom(a.id), w.Now())
		h.hears(a, protocol.Notify{Notices: []protocol.Notice{n}})
	}
	h.inside(func(n *node.Node) { n.Offer(b.id, one("bundle")) })
	w.run(10 * time.Minute)
	if got := strings.Join(calls, ", "); got != "check_did of 1, put_entries of 1" {
		t.Errorf("the neighbor is told by %s", got)
	}
}
