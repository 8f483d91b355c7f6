package lab

import (
	"net/netip"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// The first message of each method comes out of the codec as another value, and so does one of sampleEvery after it.
func TestMessagesPassThroughTheCodec(t *testing.T) {
	w := network(t, Config{}, 0, 0)
	h, err := w.Join(MemberConfig{})
	if err != nil {
		t.Fatal(err)
	}
	u := feed.URL("https://example.com/feed.xml")
	bundle := protocol.NewBundle(u, []feed.Entry{{Feed: u, ID: "1", Title: "It passed"}})
	nodes := protocol.NodeList{h.ID}
	var c codec
	for i := range 2*sampleEvery + 1 {
		put := openTo(h, protocol.PutEntries{Bundle: bundle})
		c.call(w, &put)
		got := put.made.Call.(protocol.PutEntries).Bundle
		if through := got != bundle; through != (i%sampleEvery == 0) || got.DID != bundle.DID {
			t.Fatalf("put_entries number %d went through the codec: %t, with %v", i, through, got)
		}
		get := openTo(h, protocol.GetNeighbors{})
		c.call(w, &get)
		answer := c.reply(w, &get, node.Respond{Reply: nodes}).(protocol.NodeList)
		if through := &answer[0] != &nodes[0]; through != (i%sampleEvery == 0) || answer[0] != h.ID {
			t.Fatalf("answer number %d went through the codec: %t, with %v", i, through, answer)
		}
	}
}

// A check_did that is too long for a packet goes without its hint, as transport has it.
func TestLongHintsAreLeftOut(t *testing.T) {
	w := network(t, Config{}, 0, 0)
	h, err := w.Join(MemberConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var c codec
	bytes := func(u feed.URL) (int64, protocol.CheckDID) {
		open := openTo(h, protocol.CheckDID{DID: protocol.DID{1}, Feed: u})
		c.call(w, &open)
		return open.bytes, open.made.Call.(protocol.CheckDID)
	}
	without, _ := bytes("")
	short, kept := bytes("https://example.com/feed.xml")
	long, left := bytes("https://example.com/" + feed.URL(strings.Repeat("x", protocol.MaxCheckBytes)))
	if kept.Feed == "" || short <= without {
		t.Errorf("a short hint is sent as %+v in %d bytes, where there are %d without", kept, short, without)
	}
	if left.DID != (protocol.DID{1}) || left.Feed != "" || long > short {
		t.Errorf("a long hint is sent as %+v in %d bytes, a short one in %d", left, long, short)
	}
}

// The Host header is as long as what a call is sent to.
func TestHostBytes(t *testing.T) {
	w := network(t, Config{}, 0, 0)
	h, err := w.Join(MemberConfig{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(to node.Target, want string) {
		t.Helper()
		if got := hostBytes(to, h); got != len(want) {
			t.Errorf("a call to %s has a Host header of %d bytes, want that of %s", to, got, want)
		}
	}
	check(node.Target{Node: h.ID}, h.ID.String())
	check(node.Target{Host: "node.example.net:7788"}, "node.example.net:7788")
	check(node.Target{Tracker: TrackerURL}, "tracker.example.net:7788")
	h.Stop()
	if err := h.Move(protocol.NewNodeID(netip.MustParseAddr("198.51.100.200"), 17788)); err != nil {
		t.Fatal(err)
	}
	check(node.Target{Node: h.ID}, "198.51.100.200:17788")
}

// openTo is a call of the host to itself.
func openTo(h *Host, c protocol.Call) inFlightCall {
	return inFlightCall{from: h, to: h, made: node.Call{To: node.Target{Node: h.ID}, Call: c}}
}
