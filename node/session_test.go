package node_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/neighbors"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Which caller may speak for an address and port.

// stranger is a node id on a network of its own.
func stranger(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{30, byte(i / 250), byte(i % 250), 1}), 7790)
}

// silent takes calls and never answers.
func silent(*testHost, node.Call) protocol.Reply { return nil }

func wantsNews() protocol.Connect { return protocol.Connect{Subset: protocol.Subset{{Feed: news}}} }

// A second process on a neighbor's address states the neighbor's port. It has every token that it can get
// hold of: none, guesses, and those that nodes sent to itself with calls that it leaves open.
func TestNobodySpeaksForAnothersPort(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	a, victim := hosts[0], hosts[1]
	tokens := []string{"", "guess", strings.Repeat("f", protocol.MaxSessionBytes),
		victim.node.SessionOf(a.id)}
	thief := w.play(protocol.NewNodeID(victim.id.Addr(), 9000), func(_ *testHost, c node.Call) protocol.Reply {
		tokens = append(tokens, c.Session)
		return nil
	})
	for _, h := range hosts {
		h.inside(func(n *node.Node) { n.Connect(thief.id, func(error) {}) })
	}
	w.run(time.Second)
	if len(tokens) != 6 {
		t.Fatalf("the thief holds %d tokens, want those of two connects beside the other four", len(tokens))
	}
	account := func() any {
		s := a.node.Neighbors()[0]
		return []any{s.ID, s.Since, s.Feeds, s.Delivered, s.Forwarded, s.LastError, a.store.LoadAccounts(),
			a.suspects(victim.id)}
	}
	before := account()
	b := bundleOf(1)
	for _, session := range tokens {
		for _, c := range []protocol.Call{
			protocol.PutEntries{Bundle: b}, protocol.CheckDID{DID: b.DID},
			protocol.CheckDIDs{DIDs: []protocol.DID{b.DID}},
			protocol.UpdateSubset{Changes: protocol.Subset{{Feed: news, Hops: protocol.Withdrawn}}},
			protocol.QueryFeed{}, protocol.Disconnect{}, protocol.GetNeighbors{},
			wantsNews(), // the node itself is asked
		} {
			if r := a.answerTo(victim.id, session, c); r.Fault == nil || r.Fault.Code != protocol.NotVouched {
				t.Errorf("%s with session %q was answered %+v, %v", c.Method(), session, r.Reply, r.Fault)
			}
		}
	}
	if !linked(a, victim) {
		t.Error("the link was lost")
	}
	if after := account(); !reflect.DeepEqual(after, before) {
		t.Errorf("the victim's account was %v, it is %v", before, after)
	}
	if a.has(b.Entries[0].EntryID()) || a.node.Promises() != 0 {
		t.Error("something was stored, or promised, in the victim's name")
	}
}

// The token that came with a connect is shown to a third node, which asks the one that it belongs to.
func TestATokenIsGoodForOnePeer(t *testing.T) {
	w := newNetwork(t)
	third, victim := w.add(node.Config{}, news), w.add(node.Config{}, news)
	var stolen string
	thief := w.play(protocol.NewNodeID(victim.id.Addr(), 9000), func(_ *testHost, c node.Call) protocol.Reply {
		stolen = c.Session
		return nil
	})
	w.run(time.Minute)
	victim.inside(func(n *node.Node) { n.Connect(thief.id, func(error) {}) })
	w.run(time.Second)
	if r := third.answerTo(victim.id, stolen, wantsNews()); r.Fault == nil || r.Fault.Code != protocol.NotVouched {
		t.Errorf("a connect with a stolen token was answered %+v, %v", r.Reply, r.Fault)
	}
	if third.node.Status().Neighbors != 0 {
		t.Error("linked on the word of a thief")
	}
	if stolen == victim.node.Token(third.id) || stolen == "" {
		t.Errorf("the thief was sent the token %q", stolen)
	}
}

// The answer to a call back vouches for the caller of a connect, or does not.
func TestVouching(t *testing.T) {
	fault := func(code protocol.Code) error { return &protocol.RemoteError{Code: code, Text: "no"} }
	for _, c := range []struct {
		name    string
		session string
		answer  protocol.Reply // nil for none
		linked  bool           // it is believed; otherwise refused with want
		want    protocol.Code
	}{
		{"it stands by the call", "token", protocol.Vouched(true), true, 0},
		{"a plain node does not know the method", "", fault(protocol.UnknownMethod), true, 0},
		{"a plain node has numbers of its own", "", fault(1), true, 0},
		{"it knows nothing of the call", "token", protocol.Vouched(false), false, protocol.NotVouched},
		{"a plain node sends no token", "token", fault(protocol.UnknownMethod), false, protocol.NotVouched},
		{"it is busy", "", fault(protocol.Busy), false, protocol.NotVouched},
		{"it is busy, a token came", "token", fault(protocol.Busy), false, protocol.NotVouched},
		{"it cannot store at present", "", fault(protocol.Unavailable), false, protocol.NotVouched},
		{"it has a failure", "", fault(protocol.Internal), false, protocol.NotVouched},
		{"it does not know us", "", fault(protocol.UnknownNeighbor), false, protocol.NotVouched},
		{"it wants nothing of us", "", fault(protocol.Dropped), false, protocol.NotVouched},
		{"it answers something else", "token", protocol.OK{}, false, protocol.NotVouched},
		{"it answers what is no answer", "", protocol.ErrReply, false, protocol.NotVouched},
		{"nobody listens", "token", errors.New("connection refused"), false, protocol.Unreachable},
		{"it never answers", "token", nil, false, protocol.Unreachable},
	} {
		w, a := newAlone(t, node.Config{}, news)
		w.run(time.Minute)
		caller := w.play(stranger(1), func(*testHost, node.Call) protocol.Reply { return c.answer })
		r := a.answerTo(caller.id, c.session, wantsNews())
		if c.linked {
			if subset, _ := r.Reply.(protocol.Subset); len(subset) == 0 || !a.neighborOf(caller.id) {
				t.Errorf("%s: answered %+v, %v", c.name, r.Reply, r.Fault)
			}
			continue
		}
		if r.Fault == nil || r.Fault.Code != c.want || a.neighborOf(caller.id) {
			t.Errorf("%s: answered %+v, %v; want %v", c.name, r.Reply, r.Fault, c.want)
		}
	}
}

// A neighbor of our own kind does not turn into a plain one: a caller that says so wants its link.
func TestANeighborWithATokenKeepsIt(t *testing.T) {
	w, a, victim := newPair(t, node.Config{}, news)
	link := a.node.LinkTo(victim.id)
	for _, answer := range []protocol.Reply{
		&protocol.RemoteError{Code: protocol.UnknownMethod, Text: "an older version"}, protocol.Vouched(true),
	} {
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			_, vouch := c.(protocol.Vouch)
			return answer, vouch && to == victim
		}
		if r := a.answerTo(victim.id, "", wantsNews()); r.Fault == nil || r.Fault.Code != protocol.NotVouched {
			t.Errorf("to %v it is answered %+v, %v", answer, r.Reply, r.Fault)
		}
		if a.node.LinkTo(victim.id) != link {
			t.Error("the link was replaced")
		}
	}
}

// However many callers wait to be called back, and from wherever, one more is called back at once where they have more
// of the places, and else once they have not vouched for some seconds. Callers that wait are bounded, and are told.
func TestCallBacksAreShared(t *testing.T) {
	large := make(protocol.Subset, 10*neighbors.MaxIntroduction)
	for i := range large {
		large[i] = protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://%d.example.com/", i))}
	}
	for _, c := range []struct {
		name    string
		id      func(i int) protocol.NodeID
		subset  protocol.Subset
		waiting int
		spread  bool // no network has more than another one
	}{
		{"of one address", func(i int) protocol.NodeID {
			return protocol.NewNodeID(stranger(0).Addr(),
				uint16(2000+i))
		}, wantsNews().Subset, membership.MaxVouching, false},
		{"of one network", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{50, 1, 1, byte(i)}), 7790)
		}, wantsNews().Subset, membership.MaxVouching, false},
		{"of twenty networks", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{50, byte(i % 20), 1, byte(i)}), 7790)
		}, wantsNews().Subset, membership.MaxVouching, false},
		{"of one /32 of IPv6", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom16([16]byte{0x2a, 0, 0, 0, 0, byte(i), 15: 1}), 7790)
		}, wantsNews().Subset, membership.MaxVouching, false},
		{"of everywhere", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{50, byte(i), 1, 1}), 7790)
		}, wantsNews().Subset, membership.MaxVouching, true},
		{"with large sets", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{50, byte(i % 20), 1, byte(i)}), 7790)
		}, large, membership.MaxVouching / 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, a := newAlone(t, node.Config{}, news)
			w.run(time.Minute)
			busy, late := 0, 0
			for i := range 200 {
				w.play(c.id(i), silent)
				a.ask(c.id(i), "", protocol.Connect{Subset: c.subset}, func(r node.Respond) {
					if r.Fault != nil && r.Fault.Code == protocol.Busy {
						busy++
					} else {
						late++
					}
				})
			}
			if n := a.node.Vouching(); n != c.waiting || busy != 200-c.waiting {
				t.Errorf("%d callers are called back, %d told to wait; want %d and %d", n, busy, c.waiting,
					200-c.waiting)
			}
			if c.spread {
				w.run(membership.VouchPatience)
			}
			honest := w.play(stranger(99), vouches)
			if r := a.answerTo(honest.id, "token", wantsNews()); r.Fault != nil {
				t.Errorf("a caller from elsewhere is refused: %v", r.Fault)
			}
			w.run(core.CallTimeout + time.Second)
			if busy+late != 200 || a.node.Vouching() != 0 {
				t.Errorf("%d were refused and %d called back in vain, of 200; %d still wait", busy, late,
					a.node.Vouching())
			}
		})
	}
}

// Callers of everywhere, each in a place, keep no node from being called back that was a neighbor before this one was
// started anew. Callers that say to be that node have its place alone.
func TestWhoIsRememberedIsCalledBackAtOnce(t *testing.T) {
	w := newNetwork(t)
	a, known := w.add(node.Config{}, news), w.play(stranger(99), vouches)
	w.run(time.Minute)
	if r := a.answerTo(known.id, "token", wantsNews()); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	a.kill()
	a.start()
	w.run(time.Second)
	refused := 0
	for i := range 2 * membership.MaxVouching {
		id := protocol.NewNodeID(netip.AddrFrom4([4]byte{50, byte(i), 1, 1}), 7790)
		w.play(id, silent)
		a.ask(id, "", wantsNews(), func(r node.Respond) { refused++ })
	}
	if refused != membership.MaxVouching {
		t.Fatalf("%d are refused", refused)
	}
	if r := a.answerTo(known.id, "token", wantsNews()); r.Fault != nil {
		t.Errorf("a node that was a neighbor is refused: %v", r.Fault)
	}
	if beside := protocol.NewNodeID(known.id.Addr(), 7791); a.answerTo(beside, "token", wantsNews()).Fault == nil {
		t.Error("a node beside it has a place that is kept")
	}
}

// A plain node, which knows XML-RPC and the paper's methods alone, is a full neighbor.
func TestPlainNodeIsBelievedAfterACallBack(t *testing.T) {
	w, a := newAlone(t, node.Config{}, news)
	delivered := 0
	plain := w.play(protocol.NewNodeID(netip.MustParseAddr("20.9.9.9"), 8000),
		func(_ *testHost, c node.Call) protocol.Reply {
			switch c.Call.(type) {
			case protocol.CheckDID:
				return protocol.Seen(false)
			case protocol.PutEntries:
				delivered++
				return protocol.OK{}
			}
			return &protocol.RemoteError{Code: 1, Text: "method is not supported"}
		})
	w.run(time.Second) // the first poll ends
	r := a.answerTo(plain.id, "", wantsNews())
	if subset, _ := r.Reply.(protocol.Subset); len(subset) == 0 {
		t.Fatalf("connect was answered %+v, %v", r.Reply, r.Fault)
	}
	w.publish(news)
	w.run(2 * time.Hour)
	if delivered != 1 {
		t.Errorf("%d deliveries to the plain node, want 1", delivered)
	}
	if n := count(a.calls, "check_dids"); n != 0 {
		t.Errorf("%d calls of a method that the plain node lacks", n)
	}
	if r := a.answerTo(plain.id, "", protocol.PutEntries{Bundle: bundleOf(1)}); r.Fault != nil {
		t.Errorf("its delivery was refused: %v", r.Fault)
	}
}

// A process that shares a neighbor's address connects again and again: the neighbor does not suffer for it.
func TestAStormThrowsOutNobodyElse(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, victim := hosts[0], hosts[1]
	for i := range 50 {
		a.answerTo(protocol.NewNodeID(victim.id.Addr(), uint16(9000+i%2)), "guess", wantsNews())
		w.run(time.Second)
		if !a.neighborOf(victim.id) {
			t.Fatalf("after %d connects of another process the victim is no neighbor any more", i+1)
		}
	}
}
