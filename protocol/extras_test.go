package protocol_test

import (
	"strings"
	"testing"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// Extras go one hop, from the node that polled the entry: whoever passes a bundle on sends none and is believed none,
// and the did is the same with them and without.
func TestExtrasGoOneHop(t *testing.T) {
	first := protocol.NewBundle(fullEntry.Feed, []feed.Entry{fullEntry})
	got, err := overTheWire(t, first)
	if err != nil || !got.Entries[0].Equal(&fullEntry) {
		t.Fatalf("who polled sent %+v, %v", got, err)
	}
	passed, err := overTheWire(t, got.Via(mustNode("192.0.2.7:7790")))
	if err != nil || !passed.Entries[0].Extras.IsZero() || passed.DID != first.DID || passed.Verify() != nil {
		t.Errorf("who passes it on sends %+v, %v", passed, err)
	}
	forged := strings.Replace(string(protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: first})),
		"<name>path</name><value><array><data>",
		"<name>path</name><value><array><data><value><string>192.0.2.7:7790</string></value>", 1)
	b := decodePut(t, forged)
	if len(b.Path) != 1 || !b.Entries[0].Extras.IsZero() || b.Verify() != nil {
		t.Errorf("of a bundle with a path %+v is believed", b.Entries[0].Extras)
	}
}

// A neighbor's extras are held to their form and bounds. What is not of them is left out, and the entry stays what its
// did says: an older node, which reads none of it, takes the same bundle.
func TestExtrasAreHeldToTheirForm(t *testing.T) {
	wire := string(protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: exampleEpisode}))
	none := func(x *feed.Extras) { *x = feed.Extras{} }
	for name, tt := range map[string]struct {
		from, to string
		want     func(*feed.Extras)
	}{
		"a picture that a program runs": {"https://example.com/1.jpg", "javascript:alert(1)",
			func(x *feed.Extras) { x.Image = "" }},
		"a transcript on the own disk": {"https://example.com/1.vtt", "file:///etc/passwd",
			func(x *feed.Extras) { x.Transcripts = nil }},
		"a type that is none": {"text/vtt", "text/&quot;&gt;", func(x *feed.Extras) { x.Transcripts[0].Type = "" }},
		"a language that is none": {"<string>en<", "<string>e n<",
			func(x *feed.Extras) { x.Transcripts[0].Language = "" }},
		"a month of sound":    {"<int>754<", "<int>2678401<", none},
		"a duration in words": {"<int>754</int>", "<string>754</string>", none},
		"a picture too far away": {"https://example.com/1.jpg", "https://example.com/" + strings.Repeat("x", 2048),
			none},
		"a member of later": {"<member><name>image</name>",
			"<member><name>mood</name><value><string>good</string></value></member><member><name>image</name>",
			func(*feed.Extras) {}},
		"another name for all of it": {"<name>extras</name>", "<name>later</name>", none},
		"no struct": {"<name>extras</name><value><struct>", "<name>extras</name><value><array><data></data></array>" +
			"</value></member><member><name>more</name><value><struct>", none},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(wire, tt.from) {
				t.Fatalf("%q is not in %s", tt.from, wire)
			}
			b := decodePut(t, strings.Replace(wire, tt.from, tt.to, 1))
			want := exampleEpisode.Entries[0]
			want.Extras.Transcripts = append([]feed.Companion(nil), want.Extras.Transcripts...)
			if tt.want(&want.Extras); b.Verify() != nil || !b.Entries[0].Equal(&want) {
				t.Errorf("%v, and %+v is believed, want %+v", b.Verify(), b.Entries[0].Extras, want.Extras)
			}
		})
	}
}

// decodePut reads a call of put_entries.
func decodePut(t *testing.T, wire string) *protocol.Bundle {
	t.Helper()
	raw, err := xmlrpc.DecodeCall([]byte(wire), protocol.CallLimits("put_entries"))
	if err != nil {
		t.Fatal(err)
	}
	_, call, err := protocol.DecodeCall(raw)
	if err != nil {
		t.Fatal(err)
	}
	return call.(protocol.PutEntries).Bundle
}
