package protocol_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"feedex/protocol"
)

func TestParseNodeID(t *testing.T) {
	tests := []struct{ text, want string }{
		{"192.0.2.7:7790", "192.0.2.7:7790"},
		{"192.0.2.7:1", "192.0.2.7:1"},
		{"[2001:db8::7]:7790", "[2001:db8::7]:7790"},
		{"[2001:DB8:0::7]:7790", "[2001:db8::7]:7790"},
		{"[::ffff:192.0.2.7]:7790", "192.0.2.7:7790"},
		{"[fe80::1%eth0]:7790", ""},
		{"", ""}, {"192.0.2.7", ""}, {"192.0.2.7:", ""}, {"192.0.2.7:0", ""}, {"192.0.2.7:65536", ""},
		{"192.0.2.7:-1", ""},
		{"0.0.0.0:7790", "0.0.0.0:7790"}, {"[::]:7790", ""}, {"[::%eth0]:7790", ""}, {"[::1]:7790", "[::1]:7790"},
		{"192.0.2.007:7790", ""}, {"2001:db8::7:7790", ""}, {"example.com:7790", ""}, {":7790", ""},
		{" 192.0.2.7:7790", ""},
	}
	for _, tt := range tests {
		id, err := protocol.ParseNodeID(tt.text)
		if id.String() != tt.want || (err == nil) != (tt.want != "") || id.IsZero() != (tt.want == "") ||
			id.IsZero() != (id == protocol.NodeID{}) {
			t.Errorf("%q: got %q, %v, want %q", tt.text, id, err, tt.want)
		}
		if err != nil && !errors.Is(err, protocol.ErrNodeID) {
			t.Errorf("%q: %v is no ErrNodeID", tt.text, err)
		}
	}
}

// A path names nodes by more than addresses. What it names is carried as it is, and is no place that could be called.
func TestParsePathNode(t *testing.T) {
	key := protocol.NodeKeyOf(callerKey)
	const later = "sha3-256:0123456789abcdef"
	for _, text := range []string{"192.0.2.7:7790", "[2001:db8::7]:7790", key.String(), later,
		"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
		"x2:" + strings.Repeat("A", protocol.MaxNameBytes-3)} {
		id, err := protocol.ParsePathNode(text)
		again, _ := protocol.ParsePathNode(text)
		if err != nil || id.String() != text || id.IsZero() || id != again || id.Named() == id.Addr().IsValid() ||
			id.Named() && (id.Port() != 0 || id.Network().String() != text) {
			t.Errorf("%q reads as %q, %v", text, id, err)
		}
		var back protocol.NodeID
		if data, err := json.Marshal(id); err != nil || json.Unmarshal(data, &back) != nil || back != id {
			t.Errorf("%q becomes %q, %v", text, back, err)
		}
	}
	if id, _ := protocol.ParsePathNode(key.String()); id != protocol.NameOf(key) {
		t.Errorf("%v is named %v", key, protocol.NameOf(key))
	}
	if id := protocol.NameOf(protocol.NodeKey{}); !id.IsZero() {
		t.Errorf("no key names %v", id)
	}
	for _, text := range []string{"", "example.com:7790", "localhost:7790", "192.0.2.7:0", "ed25519:short",
		"ED25519:" + key.String()[8:], "x2:0123456789abcde", "x2:" + strings.Repeat("A", protocol.MaxNameBytes-2),
		"x:0123456789abcdef", "x2:0123456789abcde f", "x2:0123456789abcde<"} {
		if id, err := protocol.ParsePathNode(text); !errors.Is(err, protocol.ErrNodeID) || !id.IsZero() {
			t.Errorf("%q reads as %q, %v", text, id, err)
		}
	}
}

// Nobody has one id, and it is the zero one: what is written is what was read.
func TestNobodyIsAnywhere(t *testing.T) {
	for _, a := range []netip.Addr{{}, netip.IPv6Unspecified(), netip.IPv6Unspecified().WithZone("eth0")} {
		if id := protocol.NewNodeID(a, 7790); id != (protocol.NodeID{}) {
			t.Errorf("at %v is %#v", a, id)
		}
	}
}

func TestNodeIDOrder(t *testing.T) {
	name := func(text string) protocol.NodeID {
		id, err := protocol.ParsePathNode(text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	want := []protocol.NodeID{{}, mustNode("192.0.2.7:80"), mustNode("192.0.2.7:7790"), mustNode("192.0.2.10:80"),
		mustNode("[2001:db8::]:80"), name("sha:0123456789abcdee"), name("sha:0123456789abcdef")}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, protocol.NodeID.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if id := protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 80); id != want[1] ||
		id.Addr() != netip.MustParseAddr("192.0.2.7") || id.Port() != 80 {
		t.Errorf("got %v, want %v", id, want[1])
	}
}

func TestNodeIDAsText(t *testing.T) {
	for _, id := range []protocol.NodeID{{}, mustNode("192.0.2.7:7790"), mustNode("[2001:db8::7]:7790")} {
		text, err := json.Marshal(id)
		if err != nil || string(text) != `"`+id.String()+`"` {
			t.Errorf("%v is written %s, %v", id, text, err)
		}
		got := mustNode("198.51.100.1:1")
		if err := json.Unmarshal(text, &got); err != nil || got != id {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	var id protocol.NodeID
	if err := id.UnmarshalText([]byte("example.com:80")); !errors.Is(err, protocol.ErrNodeID) {
		t.Errorf("got %v, want ErrNodeID", err)
	}
}

func TestParseDID(t *testing.T) {
	for _, text := range []string{someDID, strings.ToUpper(someDID)} {
		if d, err := protocol.ParseDID(text); err != nil || d.String() != someDID {
			t.Errorf("%s: got %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", someDID[2:], someDID + "00", "0x" + someDID[2:], "g" + someDID[1:],
		strings.Repeat("é", 20)} {
		if d, err := protocol.ParseDID(text); err == nil {
			t.Errorf("%q is read as %s", text, d)
		}
	}
}
