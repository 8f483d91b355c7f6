package node_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// eager is a neighbor of h that follows news and has these extensions; what it is told of polls is kept in heard.
func eager(h *testHost, i int, heard *[]protocol.Notice, extensions ...string) *testHost {
	return eagerAt(h, friendID(i), heard, extensions...)
}

func eagerAt(h *testHost, id protocol.NodeID, heard *[]protocol.Notice, extensions ...string) *testHost {
	friend := h.befriend(id, news)
	friend.script = func(_ *testHost, c node.Call) protocol.Reply {
		notices := noticesOf(c.Call)
		if heard != nil {
			*heard = append(*heard, notices...)
		}
		switch c := c.Call.(type) {
		case protocol.ListMethods:
			return protocol.Methods(extensions)
		case protocol.WhoAmI:
			return h.id
		case protocol.CheckDID:
			return protocol.Seen(true)
		case protocol.CheckDIDs:
			return make(protocol.SeenList, len(c.DIDs))
		case protocol.GetNeighbors:
			return protocol.NodeList{}
		case protocol.Notify:
			return protocol.Notices{}
		}
		return protocol.OK{}
	}
	return friend
}

func friendID(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{21, byte(i), 0, 1}), 7790)
}

// noticesOf are the notices that a call carries.
func noticesOf(c protocol.Call) []protocol.Notice {
	switch c := c.(type) {
	case protocol.Notify:
		return c.Notices
	case protocol.CheckDID:
		return c.Notices
	case protocol.CheckDIDs:
		return c.Notices
	case protocol.PutEntries:
		return c.Notices
	}
	return nil
}

// keyFrom is the key with which tests sign as the node.
func keyFrom(id protocol.NodeID) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(id.String()))
	return ed25519.NewKeyFromSeed(seed[:])
}

// notice is one of a poll of news by the first node on the path, or by from, with so many new entries.
func (h *testHost) notice(from *testHost, found int, age time.Duration, path ...protocol.NodeID) protocol.Notice {
	n := protocol.Notice{Feed: news, New: found, Age: age, Path: path}
	n.Sign(keyFrom(n.Origin(from.id)), h.net.Now().Add(-age))
	return n
}

// hearsOfPoll has the node hear from a neighbor that somebody polled news, through path.
func (h *testHost) hearsOfPoll(from *testHost, age time.Duration, path ...protocol.NodeID) {
	h.hears(from, protocol.Notify{Notices: []protocol.Notice{h.notice(from, 0, age, path...)}})
}

// untilPoll is how long it is until the node polls news, by what it has heard so far.
func (h *testHost) untilPoll() time.Duration {
	s := h.node.Subscription(news)
	return s.NextPoll.Sub(h.net.Now())
}

// Nodes that follow one feed poll it at even distances, as often as their intervals say.
func TestNeighborsPollInTurn(t *testing.T) {
	const nodes, every = 5, 4 * time.Hour
	w := newNetwork(t)
	w.full(nodes, node.Config{Policy: polling.Fixed{Every: every}}, news)
	w.run(3 * every)
	begun := len(w.feed(news).asked)
	w.run(6 * every)
	asked := w.feed(news).asked[begun:]
	if len(asked) < 6*nodes*19/20 || len(asked) > 6*nodes*21/20 {
		t.Errorf("%d polls by %d nodes in 6 intervals", len(asked), nodes)
	}
	var sum, squares float64
	for i := range asked[1:] {
		gap := asked[i+1].Sub(asked[i]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	mean := sum / float64(len(asked)-1)
	if cv := math.Sqrt(squares/float64(len(asked)-1)-mean*mean) / mean; cv > .3 {
		t.Errorf("gaps between polls deviate by %.2f of their mean", cv)
	}
}

// grown polls every hour until it has polled twice, and every ten hours then.
type grown struct{ polling.Fixed }

func (g grown) Interval(p polling.Poll) time.Duration {
	if p.Interval == 0 {
		return time.Hour
	}
	return 10 * time.Hour
}

// Nodes whose intervals become ten times as long do not go on to poll within the hour in which they did before.
func TestLongerIntervalsAreSpread(t *testing.T) {
	w := newNetwork(t)
	w.full(8, node.Config{Policy: grown{polling.Fixed{Every: 10 * time.Hour}}}, news)
	w.run(24 * time.Hour)
	asked := w.feed(news).asked
	for i := range asked[1:] {
		if gap := asked[i+1].Sub(asked[i]); gap > 6*time.Hour {
			t.Errorf("nobody polls for %v, after poll %d of %d", gap, i, len(asked))
		}
	}
}

// A node tells those that follow a feed and have the method of each poll, and passes on what it hears; nobody hears
// what it told, or what went through it.
func TestWhoHearsOfPolls(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news)
	heard := make([][]protocol.Notice, 4)
	method := protocol.Notify{}.Method()
	w.run(time.Minute)
	a, b := eager(h, 0, &heard[0], method), eager(h, 1, &heard[1], method)
	eager(h, 2, &heard[2], "check_dids")
	w.run(10 * time.Second)
	if len(heard[0]) != 1 || len(heard[1]) != 1 {
		t.Errorf("new neighbors hear %v and %v of the latest poll", heard[0], heard[1])
	}
	w.run(h.node.Subscription(news).NextPoll.Sub(w.Now()) + 90*time.Minute) // the second poll is told, and long ago
	clear(heard)
	h.hearsOfPoll(a, 7*time.Second)
	w.run(5 * time.Minute)
	if len(heard[1]) != 1 || !slices.Equal(heard[1][0].Path, []protocol.NodeID{a.id}) ||
		heard[1][0].Age < 7*time.Second {
		t.Errorf("the other follower hears %v", heard[1])
	}
	h.hearsOfPoll(b, 2*time.Minute, a.id) // by another way
	w.run(5 * time.Minute)
	if len(heard[0])+len(heard[1]) != 1 {
		t.Errorf("who told it hears %v; what is no news goes on: %v", heard[0], heard[1])
	}
	w.run(2 * time.Hour)
	h.hearsOfPoll(a, 0, friendID(9))
	answer := h.hears(b, protocol.Notify{}).Reply.(protocol.Notices) // which the other one need not wait for
	clear(heard)
	w.run(5 * time.Minute)
	if len(answer) != 1 || !slices.Equal(answer[0].Path, []protocol.NodeID{friendID(9)}) || len(heard[1]) != 0 {
		t.Errorf("the answer tells of %v, and a call later of %v", answer, heard[1])
	}
	w.run(5 * time.Hour)
	clear(heard)
	asked := len(w.feed(news).asked)
	w.run(9 * time.Hour)
	polls := len(w.feed(news).asked) - asked
	if polls < 2 || len(heard[0]) != polls || len(heard[1]) != polls || len(heard[2]) != 0 {
		t.Errorf("of %d polls those with the method hear %d and %d times, the other one %d", polls, len(heard[0]),
			len(heard[1]), len(heard[2]))
	}
}

// New neighbors hear of the latest poll, and how many entries were new to it that are in no bundle.
func TestWhatNewNeighborsHearOfAPoll(t *testing.T) {
	w := newNetwork(t)
	w.publish(news)
	w.run(time.Hour)
	h := w.add(node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news)
	w.run(time.Minute)
	var first, second []protocol.Notice
	eager(h, 0, &first, protocol.Notify{}.Method())
	w.run(10 * time.Second)
	if len(first) != 1 || first[0].New != 1 || !first[0].Verify() {
		t.Errorf("of a poll with one entry that is old the neighbor hears %+v", first)
	}
	w.publish(news)
	w.run(h.node.Subscription(news).NextPoll.Sub(w.Now()) + time.Minute)
	eager(h, 1, &second, protocol.Notify{}.Method())
	if w.run(10 * time.Second); len(second) != 1 || second[0].New != 0 || !second[0].Verify() {
		t.Errorf("of a poll that was bundled the neighbor hears %+v", second)
	}
}

// Neighbors hear of the second poll of a feed however soon it comes after the first: nodes that start together know of
// nobody until then.
func TestTheSecondPollIsTold(t *testing.T) {
	w := newNetwork(t)
	heard := make([][]protocol.Notice, 8)
	for i := range heard {
		eager(w.add(node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news), i, &heard[i],
			protocol.Notify{}.Method())
	}
	w.run(time.Minute)
	clear(heard)
	w.run(119 * time.Minute)
	polls, told := len(w.feed(news).asked)-len(heard), 0
	for i := range heard {
		told += len(heard[i])
	}
	if polls < 2 || told != polls {
		t.Errorf("of %d polls in less than half an interval after the first %d are told", polls, told)
	}
}

// Nobody hears of polls of feeds that stay at home or are followed discreetly.
func TestOfWhichPollsNobodyHears(t *testing.T) {
	for name, keep := range map[string]func(h *testHost){
		"discreet": func(h *testHost) { h.follow(true, news) },
		"private": func(h *testHost) {
			private := true
			h.step(node.Subscribe{Feeds: []feed.URL{news}, Private: &private})
		},
	} {
		w, h := newAlone(t, node.Config{}, news)
		keep(h)
		var heard []protocol.Notice
		eager(h, 1, &heard, protocol.Notify{}.Method())
		w.run(5 * time.Hour)
		if len(w.feed(news).asked) < 4 || len(heard) > 0 {
			t.Errorf("%s: of %d polls others hear %v", name, len(w.feed(news).asked), heard)
		}
	}
}

// Whatever neighbors say, a node polls no sooner than after three quarters of its interval and no later than a tenth
// after it; each origin counts once in three quarters of an interval.
func TestFalseNoticesMoveAPollALittle(t *testing.T) {
	const every = 4 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	liar := eager(h, 1, nil, protocol.Notify{}.Method())
	w.run(2 * every)
	for i := range 16 * 60 { // each minute, some invented
		h.hearsOfPoll(liar, 0)
		h.hearsOfPoll(liar, 3*time.Hour)
		h.hearsOfPoll(liar, 0, friendID(10+i%40))
		w.run(time.Minute)
	}
	asked := w.feed(news).asked
	for i := 3; i < len(asked); i++ {
		if gap := asked[i].Sub(asked[i-1]); gap < every*3/4-time.Second || gap > every*11/10+time.Second {
			t.Errorf("polled again after %v", gap)
		}
	}
	if len(asked) < 5 {
		t.Errorf("%d polls", len(asked))
	}
}

// Who says that it polled again before an honest node of the same interval would is not heard.
func TestAnOriginCountsOnceInThreeQuartersOfAnInterval(t *testing.T) {
	const every = 4 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	other := eager(h, 1, nil, protocol.Notify{}.Method())
	w.run(2 * time.Minute)
	w.run(h.untilPoll() + time.Minute)
	h.hearsOfPoll(other, 0)
	w.run(every*3/4 - 2*time.Minute)
	due := h.untilPoll()
	if h.hearsOfPoll(other, 0); h.untilPoll() != due {
		t.Errorf("a poll too soon after the last moves ours from in %v to in %v", due, h.untilPoll())
	}
	w.run(3 * time.Minute)
	due = h.untilPoll()
	if h.hearsOfPoll(other, 0); h.untilPoll() == due {
		t.Errorf("the next poll of another node is not heard: ours stays in %v", due)
	}
}

// turns has a node follow news at that interval, and hear in its first minute what known has it hear. It returns the
// node a third of an interval after a later poll of it, when those of the first minute may poll again, and whether what
// it hears then of a poll moves its next one.
func turns(t *testing.T, every time.Duration, known func(h *testHost)) (h *testHost, moves func(*testHost,
	protocol.Notice) bool) {
	w := newNetwork(t)
	h = w.add(node.Config{Policy: polling.Fixed{Every: every}}, news)
	w.run(time.Minute)
	known(h)
	w.run(every * 3 / 4)
	h.poll(news)
	w.run(every / 3)
	return h, func(from *testHost, n protocol.Notice) bool {
		due := h.untilPoll()
		h.hears(from, protocol.Notify{Notices: []protocol.Notice{n}})
		return h.untilPoll() != due
	}
}

// Nobody tells of polls in the name of another, nor keeps that from being heard: what is said by way of others counts
// as of the node that signed it, and not at all unsigned, and is passed on likewise.
func TestNobodySpeaksForAnother(t *testing.T) {
	const every = 4 * time.Hour
	method, other := protocol.Notify{}.Method(), friendID(7)
	var relay, liar *testHost
	var told []protocol.Notice
	h, moves := turns(t, every, func(h *testHost) {
		relay, liar = eager(h, 1, nil, method), eager(h, 2, nil, method)
		eager(h, 3, &told, method)
		h.hearsOfPoll(relay, 0, other)
	})
	honest, forged := h.notice(relay, 0, 0, other), h.notice(liar, 0, 0, other)
	unsigned := protocol.Notice{Feed: news, Path: honest.Path}
	forged.Feed = news + "?"
	forged.Sign(keyFrom(other), h.net.Now()) // of another feed
	forged.Feed = news
	told = nil
	if moves(liar, unsigned) || moves(liar, forged) {
		t.Error("an unsigned notice or a forged one moves a poll")
	}
	if h.net.run(10 * time.Minute); len(told) > 0 {
		t.Errorf("lies are passed on: %v", told)
	}
	impersonated := protocol.Notice{Feed: news, New: protocol.Refused, Path: honest.Path}
	impersonated.Sign(keyFrom(liar.id), h.net.Now())
	moves(liar, impersonated)
	impersonated.New = 0
	impersonated.Sign(keyFrom(liar.id), h.net.Now())
	moves(liar, impersonated)
	if h.net.run(time.Minute); !moves(relay, h.notice(relay, 0, 0, other)) {
		t.Error("after lies in its name a node is not heard")
	}
	if h.net.run(10 * time.Minute); len(told) == 0 || !told[0].Verify() {
		t.Errorf("of polls that were signed others hear %v", told)
	}
}

// Who tells what another signed as its own word gets nothing by it, be it that of the node itself, told back to it.
func TestNobodySignsForAnother(t *testing.T) {
	const every = 4 * time.Hour
	method, other := protocol.Notify{}.Method(), friendID(7)
	var relay, thief *testHost
	var told []protocol.Notice
	h, moves := turns(t, every, func(h *testHost) {
		relay, thief = eager(h, 1, &told, method), eager(h, 2, nil, method)
		h.inside(func(n *node.Node) {
			n.JoinByKey(thief.id, protocol.NodeKeyOf(keyFrom(thief.id)), false, "token", protocol.Subset{{Feed: news}})
		})
		h.hearsOfPoll(relay, 0, other)
	})
	stolen := h.notice(relay, 0, 0, other)
	for name, path := range map[string][]protocol.NodeID{
		"as its own": nil, "under its address": {thief.id}, "under the name of its key": {keyName(thief.id)},
	} {
		if stolen.Path = path; moves(thief, stolen) {
			t.Errorf("a poll that another one signed, told %s, moves a poll", name)
		}
	}
	if !moves(relay, h.notice(relay, 0, 0, other)) {
		t.Error("who was robbed is not heard")
	}
	told = nil
	h.poll(news)
	h.net.run(time.Minute)
	if len(told) != 1 || !told[0].Verify() {
		t.Fatalf("of the node's own poll others hear %v", told)
	}
	own := told[0]
	if own.Path = []protocol.NodeID{friendID(8)}; moves(relay, own) {
		t.Error("the node takes its own poll for that of another")
	}
}

// keyName names the node by the key with which tests sign as it.
func keyName(id protocol.NodeID) protocol.NodeID {
	return protocol.NameOf(protocol.NodeKeyOf(keyFrom(id)))
}

// A neighbor without a key is not spoken for by who has one.
func TestWhoHasNoKeyIsNotSpokenFor(t *testing.T) {
	const every = 4 * time.Hour
	method := protocol.Notify{}.Method()
	var plain, liar *testHost
	h, moves := turns(t, every, func(h *testHost) {
		plain, liar = eager(h, 1, nil, method), eager(h, 2, nil, method)
		h.hears(plain, protocol.Notify{Notices: []protocol.Notice{{Feed: news}}})
	})
	lie := protocol.Notice{Feed: news, Path: []protocol.NodeID{plain.id}}
	lie.Sign(keyFrom(liar.id), h.net.Now())
	moves(liar, lie)
	if h.net.run(time.Minute); !moves(plain, protocol.Notice{Feed: news}) {
		t.Error("after a lie about it a neighbor without a key is not heard")
	}
}

// Of a feed that the node only relays it passes on what was signed by who polled, and no forgery.
func TestForgedPollsAreNotRelayed(t *testing.T) {
	w := newNetwork(t)
	w.feed(lone(0))
	h := w.add(node.Config{}, lone(0))
	method, other := protocol.Notify{}.Method(), friendID(7)
	var told []protocol.Notice
	forger, relay := eager(h, 1, nil, method), eager(h, 2, nil, method)
	eager(h, 3, &told, method)
	w.run(time.Minute)
	forged := h.notice(forger, 0, 0, other)
	forged.New++
	h.hears(forger, protocol.Notify{Notices: []protocol.Notice{forged}})
	if w.run(10 * time.Minute); len(told) > 0 {
		t.Errorf("a forged notice is relayed: %v", told)
	}
	h.hearsOfPoll(relay, 0, other)
	if w.run(10 * time.Minute); len(told) != 1 || !told[0].Verify() {
		t.Errorf("a signed notice is relayed as %v", told)
	}
}

// An age that a relay overstates dates no later poll.
func TestAnOverstatedAgeIsForgotten(t *testing.T) {
	const every = 4 * time.Hour
	method, other := protocol.Notify{}.Method(), friendID(7)
	var relay *testHost
	h, moves := turns(t, every, func(h *testHost) {
		relay = eager(h, 1, nil, method)
		late := h.notice(relay, 0, 0, other)
		late.Age = 9 * time.Minute
		h.hears(relay, protocol.Notify{Notices: []protocol.Notice{late}})
	})
	moves(relay, h.notice(relay, 0, 0, other))
	heard := h.node.PollsHeard(news)
	if ago := h.net.Now().Sub(heard[len(heard)-1]); ago > time.Minute {
		t.Errorf("a poll of now is taken for one of %v ago, as the one before was said to be older than it was", ago)
	}
}

// Where a neighbor brought a forged signature, nothing that others signed is heard of it for a minute.
func TestForgedSignaturesAreNotLookedAtForLong(t *testing.T) {
	const every = 4 * time.Hour
	method, other := protocol.Notify{}.Method(), friendID(7)
	var forger *testHost
	h, moves := turns(t, every, func(h *testHost) {
		forger = eager(h, 1, nil, method)
		h.hearsOfPoll(forger, 0, other)
	})
	forged := h.notice(forger, 0, 0, other)
	forged.New++
	if moves(forger, forged) || moves(forger, h.notice(forger, 0, 0, other)) {
		t.Error("a neighbor is heard of others as it forges")
	}
	if h.net.run(time.Minute + time.Second); !moves(forger, h.notice(forger, 0, 0, other)) {
		t.Error("it is not heard of others ever after")
	}
}

// A neighbor that has no key is heard all the same, as itself; and one that has does not sign with another. What has no
// signature nobody else would hear.
func TestWhoHasNoKeyIsHeardByNeighbors(t *testing.T) {
	const every = 4 * time.Hour
	method := protocol.Notify{}.Method()
	var plain, keyed *testHost
	var told []protocol.Notice
	h, moves := turns(t, every, func(h *testHost) {
		plain, keyed = eager(h, 1, nil, method), eager(h, 2, nil, method)
		eager(h, 3, &told, method)
		h.hears(plain, protocol.Notify{Notices: []protocol.Notice{{Feed: news}}})
		h.inside(func(n *node.Node) {
			n.JoinByKey(keyed.id, protocol.NodeKeyOf(keyFrom(keyed.id)), false, "token", protocol.Subset{{Feed: news}})
		})
	})
	told = nil
	if !moves(plain, protocol.Notice{Feed: news}) {
		t.Error("a neighbor without a key is not heard")
	}
	if h.net.run(10 * time.Minute); len(told) > 0 {
		t.Errorf("what it says is passed on, which nobody would hear: %v", told)
	}
	by := protocol.Notice{Feed: news}
	if by.Sign(keyFrom(friendID(9)), h.net.Now()); moves(keyed, by) {
		t.Error("a neighbor is heard with a key that is not its own")
	}
	if !moves(keyed, h.notice(keyed, 0, 0)) {
		t.Error("a neighbor is not heard with its own key")
	}
	if h.net.run(10 * time.Minute); len(told) != 1 {
		t.Errorf("what that signs is passed on as %v", told)
	}
}

// An old poll is not told as a new one to who knows its node, whatever that has for a clock.
func TestAnOldPollIsNoNewOne(t *testing.T) {
	const every = 4 * time.Hour
	method, other := protocol.Notify{}.Method(), friendID(7)
	var relay, repeater *testHost
	signed := func(h *testHost, ago time.Duration) protocol.Notice { // with a clock that is a day late
		n := protocol.Notice{Feed: news, Path: []protocol.NodeID{other}}
		n.Sign(keyFrom(other), h.net.Now().Add(-ago-24*time.Hour))
		return n
	}
	h, moves := turns(t, every, func(h *testHost) {
		relay, repeater = eager(h, 1, nil, method), eager(h, 2, nil, method)
		h.hears(relay, protocol.Notify{Notices: []protocol.Notice{signed(h, 0)}})
	})
	if moves(repeater, signed(h, every/4+time.Minute)) {
		t.Error("a poll of more than a quarter of the interval ago is taken for one of now")
	}
	if !moves(relay, signed(h, 0)) {
		t.Error("one of now is not heard")
	}
	heard := h.node.PollsHeard(news)
	if at := heard[len(heard)-1]; h.net.Now().Sub(at) > time.Minute {
		t.Errorf("it is taken for one of %v ago", h.net.Now().Sub(at))
	}
}

// Whose polls miss what is there to be found is disregarded, with all that it names: they move no poll, are not passed
// on and do not count. Others are heard as before.
func TestWhosePollsMissEntriesIsDisregarded(t *testing.T) {
	const every = 2 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	method := protocol.Notify{}.Method()
	var told []protocol.Notice
	liar, honest := eager(h, 1, nil, method), eager(h, 2, nil, method)
	other := eager(h, 3, &told, method)
	moves := func(by *testHost, origin int) bool {
		due := h.node.Subscription(news).NextPoll
		h.hearsOfPoll(by, 0, friendID(origin))
		return !h.node.Subscription(news).NextPoll.Equal(due)
	}
	w.run(every / 2)
	if !moves(liar, 50) {
		t.Fatal("what a neighbor names first moves nothing")
	}
	for k := range 20 {
		w.publish(news)
		undated := feed.Entry{Feed: news, ID: fmt.Sprint("undated ", k), Title: "T"} // says nothing of when it came out
		w.feed(news).entries = append(w.feed(news).entries, undated)
		w.run(20 * time.Minute)
		h.hearsOfPoll(liar, 0, friendID(60+k%4)) // says that it was there
		w.run(20 * time.Minute)
		by := [...]*testHost{honest, liar, other}[k%3] // all bring what they find, so that they stay
		h.put(by, bundleWith(w.feed(news).entries...))
		h.hearsOfPoll(honest, 0, friendID(70+k%4))
		w.run(20 * time.Minute)
	}
	h.poll(news)
	w.run(every * 5 / 8)
	told = nil
	if moves(liar, 90) {
		t.Error("one that nobody knows moves a poll, by the word of a neighbor whose nodes miss entries")
	}
	if w.run(5 * time.Minute); len(told) > 0 {
		t.Errorf("it is passed on: %v", told)
	}
	if !moves(honest, 91) {
		t.Error("what another neighbor names moves nothing")
	}
	if w.run(5 * time.Minute); len(told) != 1 {
		t.Errorf("what that names is passed on as %v", told)
	}
}

// A bundle with something new tells of the poll that brought it, also where its node knows nothing of notices; what is
// known tells nothing.
func TestABundleIsANotice(t *testing.T) {
	for _, extensions := range [][]string{{"check_dids"}, {protocol.Notify{}.Method()}} {
		w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news)
		friend := eager(h, 1, nil, extensions...)
		w.run(time.Minute)
		e := feed.Entry{Feed: news, ID: fmt.Sprint(extensions), Title: "T", Published: w.Now()}
		for range 2 {
			due, known := h.node.Subscription(news).NextPoll, h.has(e.EntryID())
			h.put(friend, bundleWith(e))
			if moved := !h.node.Subscription(news).NextPoll.Equal(due); moved == known {
				t.Errorf("of a node with %v a bundle (known: %v) moves the next poll: %v", extensions, known, moved)
			}
			w.run(time.Minute)
		}
	}
}

// After a restart the next poll comes when it was due, until somebody is heard.
func TestNoticesAfterARestart(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news)
	w.run(9 * time.Hour)
	due := h.node.Subscription(news).NextPoll.Truncate(time.Millisecond) // as it is kept
	h.kill()
	h.start()
	friend := eager(h, 1, nil, protocol.Notify{}.Method())
	w.run(10 * time.Second)
	if got := h.node.Subscription(news).NextPoll; !got.Equal(due) {
		t.Errorf("after a restart the poll that was due at %v is due at %v", due, got)
	}
	h.hearsOfPoll(friend, 0)
	got := h.node.Subscription(news).NextPoll
	if got.Equal(due) || got.Before(due.Add(-time.Hour)) || got.After(due.Add(24*time.Minute)) {
		t.Errorf("what is heard moves the poll from %v to %v", due, got)
	}
}

// The owner sees how many nodes poll a feed and how often somebody does, as long as they are heard, and when others
// polled: the latest 256. To look changes nothing.
func TestTheOwnerSeesWhoPolls(t *testing.T) {
	const every = 4 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	friend := eager(h, 1, nil, protocol.Notify{}.Method())
	sees := func(pollers int, spacing time.Duration) {
		t.Helper()
		if f := h.node.Feed(news); f.Pollers != pollers || f.Spacing != spacing {
			t.Errorf("%d nodes poll it, somebody every %v; want %d, %v", f.Pollers, f.Spacing, pollers, spacing)
		}
	}
	w.run(time.Minute)
	sees(1, 0)
	if heard := h.node.PollsHeard(news); len(heard) != 0 {
		t.Errorf("polls of nobody: %v", heard)
	}
	begun := w.Now()
	for i := range 3 {
		h.hearsOfPoll(friend, 7*time.Second, friendID(10+i))
		h.hearsOfPoll(friend, 0, friendID(10+i)) // the same poll
		w.run(80 * time.Minute)
	}
	sees(4, every/4)
	heard := h.node.PollsHeard(news)
	if len(heard) != 3 || !heard[0].Equal(begun.Add(-7*time.Second)) {
		t.Errorf("others polled it at %v", heard)
	}
	w.run(every + every/8)
	sees(1, 0)
	for i := range 360 {
		h.hearsOfPoll(friend, 0, friendID(10+i%200))
		w.run(time.Minute)
	}
	due := h.untilPoll()
	if heard = h.node.PollsHeard(news); len(heard) != 256 || w.Now().Sub(heard[255]) > time.Minute {
		t.Errorf("%d polls are remembered, the latest of %v ago", len(heard), w.Now().Sub(heard[len(heard)-1]))
	}
	if h.untilPoll() != due {
		t.Errorf("a look moves the next poll from in %v to in %v", due, h.untilPoll())
	}
	h.follow(true, news)
	sees(1, 0)
}

// A poll that a publisher refuses is told as one, and asks nobody to come in its place: who hears of it waits for its
// turn anew, within the bounds of any notice, and comes no sooner. Who is not known to poll the feed is not heard.
func TestARefusalIsHeard(t *testing.T) {
	const every = 4 * time.Hour
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: every}}, news)
	var told []protocol.Notice
	method := protocol.Notify{}.Method()
	friend, other := eager(h, 1, &told, method), eager(h, 2, nil, method)
	others := []*testHost{other}
	for i := range 4 {
		others = append(others, eager(h, 3+i, nil, method))
	}
	w.run(2 * every)
	due := func() time.Time { return h.node.Subscription(news).NextPoll }
	refusedBy := func(from *testHost, age time.Duration, path ...protocol.NodeID) {
		n := h.notice(from, protocol.Refused, age, path...)
		h.hears(from, protocol.Notify{Notices: []protocol.Notice{n}})
	}
	before := due()
	refusedBy(friend, 0)
	refusedBy(friend, 0, friendID(7))
	if !due().Equal(before) {
		t.Errorf("refusals of nodes that nobody knows to poll the feed move the poll by %v", due().Sub(before))
	}
	h.hearsOfPoll(friend, 0)
	h.hearsOfPoll(friend, 0, friendID(7))
	h.poll(news)
	for i := 0; i < 200 && due().Sub(h.node.Subscription(news).Begun) <= every; i++ {
		w.run(12 * time.Minute)
		h.hearsOfPoll(others[i%len(others)], 0, friendID(20+i%19))
	}
	before = due()
	for i := range 19 { // of long ago: notices that come so late do not help
		refusedBy(other, 50*time.Minute, friendID(20+i))
	}
	if now := due(); now.Before(before) {
		t.Errorf("refusals that come late have the node poll %v sooner", before.Sub(now))
	}
	h.poll(news)
	asked, moved := len(w.feed(news).asked), false
	for range 4 * 24 { // refused all the time, and claimed to be
		before := due()
		refusedBy(friend, 0)
		refusedBy(other, time.Second, friendID(7))
		now := due()
		if now.Before(before) {
			t.Fatalf("a refusal has the node poll %v sooner", before.Sub(now))
		}
		moved = moved || now.After(before)
		w.run(10 * time.Minute)
	}
	polls := w.feed(news).asked[asked-1:]
	for i := range polls[1:] {
		if gap := polls[i+1].Sub(polls[i]); gap > every*11/10+time.Second {
			t.Errorf("polled again after %v", gap)
		}
	}
	if !moved || len(polls) < 4 {
		t.Errorf("refusals move a poll: %v; %d polls in four intervals", moved, len(polls)-1)
	}

	w.feed(news).answer = func(node.Fetch) node.Fetched { return status(429, time.Hour) }
	told = nil
	h.poll(news)
	w.run(2 * time.Minute)
	if len(told) != 1 || told[0].New != protocol.Refused {
		t.Errorf("of its own poll that is refused neighbors hear %v", told)
	}
	w.feed(news).answer = func(node.Fetch) node.Fetched { return status(500, 0) }
	told = nil
	h.poll(news)
	w.run(2 * time.Minute)
	if len(told) != 0 {
		t.Errorf("of one that fails neighbors hear %v", told)
	}
}
