package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/neighbors"
	"feedex/node"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// Subscription sets that make no sense, and adverts from strangers.

// nonsense is a set as it stands on the wire: blog at one hop and comic at two, among elements of which none counts.
func nonsense() xmlrpc.Array {
	return xmlrpc.Array{
		xmlrpc.Array{string(blog), int64(1)},
		xmlrpc.Array{"not a URL", int64(0)}, xmlrpc.Array{"ftp://example.com/", int64(0)},
		xmlrpc.Array{"HTTPS://Example.com/", int64(0)},
		xmlrpc.Array{"https://example.com/" + strings.Repeat("x", feed.MaxURLBytes), int64(0)},
		xmlrpc.Array{"", int64(0)},
		xmlrpc.Array{"https://example.com/below", int64(-7)}, xmlrpc.Array{"https://example.com/above", int64(17)},
		xmlrpc.Array{"https://example.com/absurd", int64(1) << 40}, xmlrpc.Array{"https://example.com/text", "1"},
		xmlrpc.Array{string(blog), int64(0)}, xmlrpc.Array{string(blog), int64(1)}, // duplicates: the first counts
		xmlrpc.Array{string(news)}, "https://example.com/", int64(3), xmlrpc.Array{},
		xmlrpc.Array{string(comic), int64(2)},
	}
}

// A caller with nothing to offer is told so, and no link comes about.
func TestAnEmptySetIsRefused(t *testing.T) {
	w := newNetwork(t)
	a := w.full(1, node.Config{}, news)[0]
	w.run(time.Minute)
	p := a.hearer(stranger(1))
	r := a.answerTo(p.id, "token of "+p.id.String(), protocol.Connect{})
	if r.Fault == nil || r.Fault.Code != protocol.BadSubset || a.neighborOf(p.id) {
		t.Errorf("an empty set was answered %v, %v", r.Reply, r.Fault)
	}
}

// The sensible part of a set is used, and the rest counts against its sender: in a connect, in an advert, and in the
// answer to our own connect.
func TestTheSensiblePartOfASetIsUsed(t *testing.T) {
	decode := func(method string) protocol.Call {
		_, call, err := protocol.DecodeCall(xmlrpc.Call{Method: method,
			Params: []xmlrpc.Value{int64(7790), nonsense()}})
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	for name, send := range map[string]func(a *testHost, p *hearer){
		"a connect": func(a *testHost, p *hearer) {
			a.answerTo(p.id, "token of "+p.id.String(), decode("connect"))
		},
		"an advert": func(a *testHost, p *hearer) {
			p.connect(protocol.Subset{{Feed: "https://example.com/old"}})
			a.hears(p.testHost,
				protocol.UpdateSubset{Changes: protocol.Subset{{Feed: "https://example.com/old",
					Hops: protocol.Withdrawn}}})
			a.hears(p.testHost, decode("update_subset"))
		},
		"an answer": func(a *testHost, p *hearer) {
			reply, err := protocol.DecodeReply(protocol.Connect{}, nonsense())
			if err != nil {
				t.Fatal(err)
			}
			p.script = func(*testHost, node.Call) protocol.Reply { return reply }
			a.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
			a.net.run(200 * time.Millisecond)
		},
	} {
		w := newNetwork(t)
		a := w.full(1, node.Config{}, news)[0]
		p := a.hearer(stranger(1))
		send(a, p)
		l := a.node.LinkTo(p.id)
		if l == nil {
			t.Errorf("%s: no link came about, or it ended", name)
			continue
		}
		one, okOne := l.Peer.Hops(blog)
		two, okTwo := l.Peer.Hops(comic)
		if !okOne || one != 1 || !okTwo || two != 2 || l.Peer.Feeds() != 2 {
			t.Errorf("%s: %d feeds are known, blog at %d, comic at %d", name, l.Peer.Feeds(), one, two)
		}
		if s := a.status(p.testHost).Standing; s != 99 {
			t.Errorf("%s: leaves a standing of %d", name, s)
		}
	}
}

// A neighbor lost its memory. The advert to it is answered with the fault *unknown neighbor*, the caller connects anew,
// and with that the other knows the whole set.
func TestWhoIsUnknownConnectsAnew(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.feed(blog)
	b.kill()
	b.config.Trackers = nil
	b.loseArchive()
	b.step(node.Subscribe{Feeds: []feed.URL{news}})
	faults := 0
	w.watch = func(_ *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if r, ok := e.(node.Respond); ok && r.Fault != nil && r.Fault.Code == protocol.UnknownNeighbor {
				faults++
			}
		}
	}
	a.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(30 * time.Second)
	if faults != 1 || !linked(a, b) {
		t.Fatalf("told %d times that it is unknown; linked %v", faults, linked(a, b))
	}
	for _, u := range []feed.URL{news, blog} {
		if hops, ok := b.node.HopsOf(a.id, u); !ok || hops != 0 {
			t.Errorf("after it connected anew the other knows of %s: %v", u, ok)
		}
	}
}

// The last of many floods answers a connect that did not carry the whole set: there is no link any more to say the rest
// on.
func TestAFloodAnswersAnIntroduction(t *testing.T) {
	w := newNetwork(t)
	a := w.full(1, node.Config{}, news)[0]
	a.inside(func(n *node.Node) {
		for i := range neighbors.MaxIntroduction {
			n.Own(feed.URL(fmt.Sprintf("https://example.com/%d", i)))
		}
	})
	p := w.play(stranger(1), func(_ *testHost, c node.Call) protocol.Reply {
		if _, ok := c.Call.(protocol.Connect); ok {
			return protocol.FlawedSubset{Subset: protocol.Subset{{Feed: news}}, Ignored: protocol.MaxSubset}
		}
		return protocol.OK{}
	})
	for floods := 0; !a.node.Refused(p.id); floods++ {
		if floods > 100 {
			t.Fatal("floods cost nothing")
		}
		a.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
		w.run(200 * time.Millisecond)
	}
	if a.neighborOf(p.id) {
		t.Error("a refused node is a neighbor")
	}
}
