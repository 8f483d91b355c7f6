package node_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/node/internal/poller"
	"feedex/polling"
	"feedex/protocol"
)

// Inventions of a forger are stopped by nodes that know the forger, on their way too.

// TestAKnownForgerReachesNobodyByRelays: a node that found a forger out does not take what relays bring of it. They are
// not to blame, and what others bring of the same is taken.
func TestAKnownForgerReachesNobodyByRelays(t *testing.T) {
	w := skeptics(t, 4)
	a, forger, relay, other := w.list[0], w.list[1], w.list[2], w.list[3]
	a.node.Punish(forger.id, incentive.ForgedEntry, incentive.Entry)
	before := a.account(relay)
	for i, path := range [][]protocol.NodeID{{forger.id}, {forger.id, stranger(1)}, {stranger(1), forger.id}} {
		b := w.junk(fmt.Sprint("junk ", i), path...)
		if r := a.put(relay, b); r.Fault == nil || r.Fault.Code != protocol.ForgedSource {
			t.Fatalf("what came by %v is answered with %v", path, r)
		}
		if a.has(b.Entries[0].EntryID()) || a.node.Saw(b.DID) {
			t.Error("it was kept, or counts as seen: others could not bring it")
		}
	}
	if after := a.account(relay); after.Deficit != before.Deficit || len(after.Standing.Marks) > 0 ||
		!a.neighborOf(relay.id) {
		t.Errorf("the relay was blamed: %+v", after)
	}
	b := w.junk("junk 0")
	a.take(other, b)
	if !a.has(b.Entries[0].EntryID()) {
		t.Error("what another brings was not kept")
	}
	w.run(8 * 24 * time.Hour)
	a.take(relay, w.junk("a week later", forger.id))
}

// That goes for one that cannot be dialled as well, which relays name by its key, though it earned nothing that it has
// an account for.
func TestAKnownForgerThatCannotBeDialledReachesNobody(t *testing.T) {
	w := newNetwork(t)
	w.publish(news)
	host, homes := w.street(2, news)
	w.run(50 * time.Hour)
	forger := homes[0]
	host.take(forger, bundleWith(feed.Entry{Feed: news, ID: "undated junk", Title: "T"}))
	w.run(3 * time.Hour)
	if host.neighborOf(forger.id) || host.suspects(forger.id) == 0 {
		t.Fatal("the forger is not found out, or nobody is told")
	}
	relay, b := host.befriend(stranger(1), news), w.junk("relayed", forger.id.Name())
	if r := host.put(relay, b); r.Fault == nil || r.Fault.Code != protocol.ForgedSource {
		t.Errorf("what it polled, by a relay's word, is answered %v, %v", r.Reply, r.Fault)
	}
	host.take(relay, w.junk("beside", homes[1].id.Name()))
}

// A node does not pass on what it took before it found out.
func TestWhatAForgerBroughtIsNotPassedOn(t *testing.T) {
	w := skeptics(t, 3)
	a, forger, hearer := w.list[0], w.list[1], w.list[2]
	b := w.junk("junk").Via(forger.id)
	if !a.node.Wants(hearer.id, b) {
		t.Fatal("it was not to be passed on anyhow")
	}
	a.node.Punish(forger.id, incentive.ForgedEntry, incentive.Entry)
	if a.node.Wants(hearer.id, b) {
		t.Error("it is passed on")
	}
}

// Two witnesses that refuse what we bring of a third neighbor make us hold it back, and look for ourselves: one may
// lie, and so may any number of strangers.
func TestADoubtedNeighborGoesNoFurther(t *testing.T) {
	for _, c := range []struct {
		refuse, heard int // so many refuse it, of which so many are witnesses
		earned        int // what it brought itself
		want          int // it reaches of the other four
	}{
		{0, 4, 0, 4}, {1, 4, 0, 3}, {2, 2, 0, 0}, {2, 1, 0, 2}, {2, 0, 0, 2}, {4, 1, 0, 0}, {2, 2, 1, 2},
	} {
		w := newNetwork(t)
		w.publish(news)
		w.full(6, node.Config{Incentive: incentive.Config{Bound: 10}, Policy: polling.Fixed{Every: 16 * time.Hour}},
			news)
		w.run(20 * time.Hour)
		a, doubted := w.list[0], w.list[1]
		for _, h := range w.list[2 : 2+c.refuse] {
			h.node.Punish(doubted.id, incentive.ForgedEntry,
				incentive.Entry)
		}
		for _, h := range w.list[2:] { // none is a stranger that may have one entry
			a.node.Got(h.id, incentive.Entry)
		}
		a.hasHeard(w.list[2 : 2+c.heard]...)
		for range c.earned {
			a.hasHeard(doubted)
		}
		for i := range 3 { // whatever it first says, it is refused by nodes that know better
			a.take(doubted, w.junk(fmt.Sprint("junk ", i)))
			w.run(time.Minute)
		}
		last := w.junk("last")
		a.take(doubted, last)
		w.run(time.Minute)
		reached := 0
		for _, h := range w.list[2:] {
			if h.has(last.Entries[0].EntryID()) {
				reached++
			}
		}
		if reached != c.want {
			t.Errorf("%+v: it reached %d of the others", c, reached)
		}
		holds := c.refuse > 1 && c.want == 0 && c.heard > 1
		if c.refuse > 0 && c.heard > 0 && a.node.Subscription(news).Ordinary.IsZero() {
			t.Errorf("%+v: no spot poll is to tell", c)
		}
		late := w.junk("relayed", doubted.id, w.list[5].id)
		if goes := !a.node.Doubted(late); goes == holds {
			t.Errorf("%+v: what others relay of it goes on is %v", c, goes)
		}
		if !a.neighborOf(doubted.id) || len(a.account(doubted).Standing.Marks) > 0 {
			t.Errorf("%+v: a doubt cost it its link or standing", c)
		}
	}
}

// Nor does a neighbor that cannot be dialled, of which the witnesses know the key alone.
func TestADoubtedHomeGoesNoFurther(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	offered := 0
	for i := range 3 {
		script := func(_ *testHost, c node.Call) protocol.Reply {
			switch c.Call.(type) {
			case protocol.CheckDID:
				if i == 2 { // who takes what it gets
					offered++
					return protocol.Seen(true)
				}
				return protocol.Seen(false)
			case protocol.PutEntries:
				return &protocol.RemoteError{Code: protocol.ForgedSource}
			}
			return protocol.OK{}
		}
		host.hasHeard(host.befriend(w.play(stranger(i), script).id, news))
	}
	host.take(homes[0], w.junk("first"))
	if w.run(time.Minute); offered != 1 {
		t.Fatalf("what it brings first is offered %d times", offered)
	}
	host.take(homes[0], w.junk("second"))
	if w.run(time.Minute); offered != 1 {
		t.Error("it is doubted, and what it brings goes on")
	}
}

// A slander is a node between an honest neighbor that polls, another that does not, and two liars of which it has
// heard, that refuse what the first one polled. Nobody finds anybody else.
type slander struct {
	*network
	hub, honest, other *testHost
	liars              []*testHost
}

func newSlander(t *testing.T) *slander {
	w := newNetwork(t)
	w.publish(news)
	s := &slander{network: w}
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, connect := c.(protocol.Connect)
		return protocol.Subset{}, connect
	}
	c := node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}
	c.Incentive.Rules = noQuota // more comes out than polls had shown
	s.hub, s.honest, s.other = w.add(c, news), w.add(c, news), w.add(c, news)
	link := func(a, b *testHost, i int) {
		a.befriend(b.id, news)
		l := a.node.LinkTo(b.id)
		membership.Of(l).Static, l.Token, l.Session = "kept", fmt.Sprint("token ", i), fmt.Sprint("token ", i)
	}
	for i, h := range []*testHost{s.honest, s.other} {
		link(s.hub, h, i)
		link(h, s.hub, i)
	}
	for i := range 2 {
		liar := w.play(stranger(i), func(_ *testHost, c node.Call) protocol.Reply {
			switch c := c.Call.(type) {
			case protocol.CheckDID:
				return protocol.Seen(false)
			case protocol.PutEntries:
				if slices.Equal(c.Bundle.Path, []protocol.NodeID{s.honest.id}) {
					return &protocol.RemoteError{Code: protocol.ForgedSource}
				}
			}
			return protocol.OK{}
		})
		link(s.hub, liar, 9+i)
		s.liars = append(s.liars, liar)
		s.hub.hasHeard(liar)
	}
	w.run(5 * time.Hour)
	s.other.blocked[news] = true
	return s
}

// brings has the honest node poll a new entry, and reports whether it comes to the other within a minute.
func (s *slander) brings() bool {
	s.t.Helper()
	id := s.publish(news)
	s.honest.poll(news)
	s.run(time.Minute)
	if !s.hub.has(id) {
		s.t.Fatalf("at %v the node between has not got it", s.Now())
	}
	return s.other.has(id)
}

// Two liars who have been of use for long say that an honest node forges. Their word is good for what it brings until
// the next poll, which comes soon; that passes on what was held back, and from then on all the rest. They are witnesses
// no more, and are not believed again for a week.
func TestSlanderEndsWithTheNextPoll(t *testing.T) {
	s := newSlander(t)
	if !s.brings() || s.brings() {
		t.Fatal("they are not believed, or before they have said anything")
	}
	if due := s.hub.node.Feed(news).NextPoll.Sub(s.Now()); due > poller.SpotAfter+poller.SpotAfter/10 {
		t.Errorf("the next poll is due in %v", due)
	}
	s.run(poller.SpotAfter + poller.SpotAfter/10)
	for _, e := range s.feed(news).entries {
		if !s.other.has(e.EntryID()) {
			t.Errorf("%s was held back, was polled, and is not there", e.ID)
		}
	}
	for begun := s.Now(); s.Now().Sub(begun) < 6*24*time.Hour; s.run(5 * time.Hour) {
		if !s.brings() {
			t.Fatalf("at %v it is held back again", s.Now())
		}
	}
	junk := s.junk("junk")
	s.hub.take(s.liars[0], junk)
	s.hub.take(s.liars[1], bundleWith(junk.Entries[0], feed.Entry{Feed: news, ID: "beside", Title: "T",
		Published: s.Now()}))
	if s.hub.record(junk.Entries[0].EntryID()).Confirmed {
		t.Error("liars are witnesses still")
	}
}

// A version that an own poll shows to be otherwise goes no further by way of us, also when it has shown an entry of
// that id.
func TestWhatWasAlteredIsHeldBackForGood(t *testing.T) {
	s := newSlander(t)
	s.brings()
	s.publish(news)
	published := s.feed(news).entries
	s.hub.take(s.honest, version(published[len(published)-1], "altered", 0))
	if !s.hub.shows("altered") || s.hub.node.HeldBack() == 0 {
		t.Fatal("it is not held back")
	}
	s.hub.poll(news)
	if s.run(time.Minute); s.other.shows("altered") {
		t.Error("what the poll has refuted was passed on")
	}
	if held := s.hub.node.HeldBack(); held > 0 {
		t.Errorf("%d bundles are held back for ever", held)
	}
}

// An entry that its publisher edits meanwhile holds back none of those that came with it.
func TestAnEditHoldsBackNothingElse(t *testing.T) {
	s := newSlander(t)
	s.brings()
	edited, other := s.publish(news), s.publish(news)
	s.honest.poll(news)
	if s.run(time.Minute); s.hub.node.HeldBack() != 1 {
		t.Fatalf("%d bundles are held back", s.hub.node.HeldBack())
	}
	published := s.feed(news).entries
	published[len(published)-2].Title = "edited"
	s.hub.poll(news)
	if s.run(time.Minute); !s.other.has(other) || s.other.has(edited) && !s.other.shows("edited") {
		t.Errorf("beyond there is the edited entry %v, the other %v", s.other.has(edited), s.other.has(other))
	}
}

// Where no own poll can tell, it ends by itself within hours, and the same two are not heard again for a week.
func TestSlanderEndsByItself(t *testing.T) {
	s := newSlander(t)
	s.hub.blocked[news] = true
	s.brings()
	begun, last, held, passed := s.Now(), s.Now(), 0, 0
	for ; s.Now().Sub(begun) < 6*24*time.Hour; s.run(time.Hour) {
		if s.brings() {
			passed++
		} else {
			held, last = held+1, s.Now()
		}
	}
	if took := last.Sub(begun); held < 11 || took > 12*time.Hour || passed < 5*24 {
		t.Errorf("%d bundles were held back, the last after %v, and %d were not", held, took, passed)
	}
}

// Two relays that say the same node polled what the publisher does not have are witnesses against it.
func TestRelaysAreWitnesses(t *testing.T) {
	for _, heard := range []bool{true, false} {
		w := skeptics(t, 5)
		a, named := w.list[0], stranger(7)
		if heard {
			a.hasHeard(w.list[1:4]...)
		}
		for i, relay := range w.list[1:4] {
			a.take(relay, w.junk(fmt.Sprint("junk ", i), named))
			w.run(time.Hour)
			if i == 0 {
				a.take(relay, w.junk("twice", named))
				w.run(time.Hour)
			}
			a.poll(news)
			if got := a.node.Doubted(w.junk("", named)); got != (heard && i > 0) {
				t.Errorf("after %d relays it is doubted is %v; they are witnesses: %v", i+1, got, heard)
			}
		}
	}
}

// A bundle that came by several relays is no word against the node that is said to have polled it: any of them may have
// made the path up, and one liar would have all the honest for witnesses.
func TestOnlyNeighborsOfANodeAreWitnessesAgainstIt(t *testing.T) {
	w := skeptics(t, 5)
	a, named := w.list[0], stranger(7)
	a.hasHeard(w.list[1:4]...)
	for i, relay := range w.list[1:4] {
		a.take(relay, w.junk(fmt.Sprint("junk ", i), named, stranger(8+i)))
		w.run(time.Hour)
		a.poll(news)
		if a.node.Doubted(w.junk("", named)) {
			t.Errorf("after %d honest relays it is doubted", i+1)
		}
	}
}

// An edited title is no forgery: nobody is doubted for it.
func TestAnEditCastsNoDoubt(t *testing.T) {
	w := skeptics(t, 5)
	a, named := w.list[0], stranger(7)
	a.hasHeard(w.list[1:4]...)
	for i, relay := range w.list[1:4] {
		old := w.feeds[news].entries[0]
		e := feed.Entry{Feed: news, ID: fmt.Sprint("another id ", i), Title: old.Title,
			Published: w.Now().Truncate(time.Second)}
		b := bundleWith(e)
		b.Path = []protocol.NodeID{named}
		a.take(relay, b)
	}
	w.run(time.Hour)
	a.poll(news)
	if a.node.Doubted(w.junk("", named)) {
		t.Error("it is doubted")
	}
}
