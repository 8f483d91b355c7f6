package trust

import (
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

func TestApart(t *testing.T) {
	v6 := func(s string) []protocol.NodeID {
		return []protocol.NodeID{protocol.NewNodeID(netip.MustParseAddr(s), 7790)}
	}
	home := protocol.HostedID(id(1).Addr(), protocol.NodeKey{1})
	for _, c := range []struct {
		a, b []protocol.NodeID
		want bool
	}{
		{way(1), way(2), true},
		{way(1), way(1), false},
		{way(1, 2), way(3, 1), false},
		{way(1, 2), way(3, 4), true},
		{nil, way(1), true},
		{[]protocol.NodeID{beside(1)}, way(1), false},
		{[]protocol.NodeID{id(3), beside(1)}, way(1, 2), false},
		{v6("2a00::1"), v6("2a00:0:0:1::1"), false}, // one /48
		{v6("2a00::1"), v6("2a00:0:1::1"), true},
		{[]protocol.NodeID{protocol.NewNodeID(id(1).Addr(), 1)}, way(1), false}, // another port
		{[]protocol.NodeID{home}, []protocol.NodeID{home.Name(), id(2)}, false}, // itself, and a relay of it
		{v6("127.0.0.1"), []protocol.NodeID{protocol.NewNodeID(netip.MustParseAddr("127.0.0.1"), 7791)}, true},
	} {
		if apart(c.a, c.b) != c.want || apart(c.b, c.a) != c.want {
			t.Errorf("Apart(%v, %v) = %v", c.a, c.b, !c.want)
		}
	}
}

// A network has a voice for a week or two after own polls showed what it brought.
func TestAVoiceIsEarnedAndFades(t *testing.T) {
	w := new(Witnesses)
	if w.counts(now, id(1).Network()) {
		t.Error("a stranger has a voice")
	}
	w.Earned(now, id(1))
	for _, node := range []protocol.NodeID{id(1), beside(1)} {
		if !w.counts(now.Add(week-time.Second), node.Network()) {
			t.Errorf("%s has none", node)
		}
	}
	if w.counts(now, id(2).Network()) {
		t.Error("another network has one")
	}
	if w.counts(now.Add(2*week), id(1).Network()) {
		t.Error("it has one for ever")
	}
	w = new(Witnesses)
	for i := range 3 {
		w.Earned(now.Add(time.Duration(i)*week), id(1))
	}
	if got := w.earnedBy(now.Add(2*week), id(1).Network()); got != 2 {
		t.Errorf("it earned %d within two weeks", got)
	}
}

func TestNetworksAreBounded(t *testing.T) {
	w := new(Witnesses)
	for i := range maxNetworks + 1 {
		w.Earned(now, id(i))
	}
	if len(w.earned) != maxNetworks || w.counts(now, id(0).Network()) || !w.counts(now, id(maxNetworks).Network()) {
		t.Errorf("%d are remembered", len(w.earned))
	}
}
