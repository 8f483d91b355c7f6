package experiment

import (
	"maps"
	"testing"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

const (
	secret feed.URL = "https://secret.example.com/feed.xml"
	public feed.URL = "https://public.example.com/feed.xml"
)

// Messages that name the secret are found in calls and in answers; faults are nobody's words about feeds.
func TestLeaksAreFound(t *testing.T) {
	set := func(u feed.URL) protocol.Subset { return protocol.Subset{{Feed: u}} }
	by := publicAddress(1)
	for _, c := range []struct {
		name         string
		effect       node.Effect
		calls, found int
	}{
		{"a call without it", node.Call{Call: protocol.Connect{Subset: set(public)}}, 1, 0},
		{"a call with it", node.Call{Call: protocol.Connect{Subset: set(secret)}}, 1, 1},
		{"an offer of it", node.Call{Call: protocol.CheckDID{Feed: secret}}, 1, 1},
		{"an answer without it", node.Respond{Reply: set(public)}, 0, 0},
		{"an answer with it", node.Respond{Reply: set(secret)}, 0, 1},
		{"a fault", node.Respond{Fault: protocol.Faultf(protocol.UnknownMethod, "no")}, 0, 0},
		{"a poll of it", node.Fetch{Feed: secret}, 0, 0},
	} {
		l := leak{url: []byte(secret)}
		if l.look(by, []node.Effect{c.effect}); l.calls != c.calls || l.found != c.found {
			t.Errorf("%s: %d calls, %d leaks; want %d, %d", c.name, l.calls, l.found, c.calls, c.found)
		}
	}
}

// An advert is heard whole, or as what changed in it.
func TestAdvertsAreHeard(t *testing.T) {
	a, me, other := make(adverts), publicAddress(1), publicAddress(2)
	for _, c := range []struct {
		name string
		ev   node.Event
		want map[feed.URL]int
	}{
		{"a connect", node.Asked{From: other, Call: protocol.Connect{Subset: protocol.Subset{{Feed: secret}}}},
			map[feed.URL]int{secret: 0}},
		{"a change", node.Asked{From: other,
			Call: protocol.UpdateSubset{Changes: protocol.Subset{{Feed: public, Hops: 1}}}},
			map[feed.URL]int{secret: 0, public: 1}},
		{"another call", node.Asked{From: other, Call: protocol.CheckDID{Feed: "https://example.com/"}},
			map[feed.URL]int{secret: 0, public: 1}},
		{"an answer that declines", node.Answered{Peer: other, Reply: protocol.Subset{}},
			map[feed.URL]int{secret: 0, public: 1}},
		{"an answer to a connect", node.Answered{Peer: other, Reply: protocol.Subset{{Feed: public}}},
			map[feed.URL]int{public: 0}},
	} {
		if a.hear(me, c.ev); !maps.Equal(a[pair{me, other}], c.want) {
			t.Errorf("after %s it has heard %v, want %v", c.name, a[pair{me, other}], c.want)
		}
	}
}
