package protocol_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// The examples of docs/PROTOCOL.md are wire vectors: this test holds the program to every byte of them,
// and testdata/wire has them without the white space that makes them readable.
var update = flag.Bool("update", false,
	"rewrite the examples in docs/PROTOCOL.md and testdata/wire; review the difference")

const (
	specPath = "../docs/PROTOCOL.md"
	wirePath = "../testdata/wire"
)

var (
	exampleEntry = feed.Entry{
		Feed: "https://example.com/feed", ID: "tag:example.com,2026:1", Title: "Hello",
		Link: "https://example.com/1", Published: time.Unix(1790000000, 0).UTC(), Content: "<p>Hi</p>",
	}
	exampleBundle = func() *protocol.Bundle {
		b := protocol.NewBundle("https://example.com/feed", []feed.Entry{exampleEntry})
		b.Path = []protocol.NodeID{mustNode("192.0.2.7:7790")}
		return b
	}()
	exampleNotice = func() protocol.Notice {
		n := protocol.Notice{Feed: "https://example.com/feed", Age: 17 * time.Second,
			Path: []protocol.NodeID{mustNode("192.0.2.9:7790"), mustNode("192.0.2.8:7790")}}
		n.Sign(callerKey, time.Unix(1790000000, 0))
		return n
	}()
	exampleMatch = func() feed.Match {
		m, err := feed.ParseMatch(`("new world" OR morn*) NOT again`)
		if err != nil {
			panic(err)
		}
		return m
	}()
	// A bundle that goes from the node that polled it to a neighbor of it, of an entry with extras.
	exampleEpisode = func() *protocol.Bundle {
		e := exampleEntry
		e.Content = ""
		e.Enclosures = []feed.Enclosure{{URL: "https://example.com/1.mp3", Type: "audio/mpeg", Length: 5000000}}
		e.Extras = feed.Extras{Duration: 754 * time.Second, Image: "https://example.com/1.jpg",
			Transcripts: []feed.Companion{{URL: "https://example.com/1.vtt", Type: "text/vtt", Language: "en"}}}
		return protocol.NewBundle(e.Feed, []feed.Entry{e})
	}()
	// The second path: an entry with every member.
	fullEntry = feed.Entry{
		Feed: "https://example.com/feed", ID: "2", Title: "Q & A <1>", Link: "https://example.com/2",
		Authors: []string{"Ada", "Bo"}, Published: time.Unix(1790000000, 0).UTC(),
		Updated: time.Unix(1790000060, 0).UTC(),
		Summary: "Short.\n", Content: "<p>Long</p>", Categories: []string{"news"},
		Enclosures: []feed.Enclosure{{URL: "https://example.com/2.mp3", Type: "audio/mpeg", Length: 5_000_000_000}},
		Rights:     []string{"© Ada", "https://creativecommons.org/licenses/by/4.0/"},
		CopiedFrom: feed.Original{ID: "tag:example.org,2026:ada", Title: "Ada's notes",
			URL: "https://example.org/ada.xml"},
		Extras: feed.Extras{Duration: time.Hour, Image: "https://example.com/2.jpg", Language: "de", Season: 2,
			Episode:  17,
			Chapters: feed.Companion{URL: "https://example.com/2/chapters", Type: "application/json+chapters"},
			Transcripts: []feed.Companion{{URL: "https://example.com/2.vtt", Type: "text/vtt", Language: "en"},
				{URL: "https://example.com/2.html"}}},
	}
	// What an archive gives of it.
	archivedEntry = func() feed.Entry {
		e := fullEntry
		e.Extras = feed.Extras{}
		return e
	}()
)

// The keys of the examples: that of RFC 8032 §7.1, TEST 1, and that of TEST 2.
var (
	callerKey = ed25519.NewKeyFromSeed(unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
	calledKey = ed25519.NewKeyFromSeed(unhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
)

// What they are to sign: 32 bytes 1 and 32 bytes 2.
const (
	callerChallenge = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
	calledChallenge = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"
)

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// examples are the calls that the specification shows, with their answers. The caller listens on 7790.
var examples = []struct {
	name  string
	call  protocol.Call
	reply protocol.Reply
}{
	{"get_neighbors", protocol.GetNeighbors{}, protocol.NodeList{mustNode("192.0.2.8:7790"),
		mustNode("[2001:db8::9]:17790")}},
	{"connect", protocol.Connect{Subset: protocol.Subset{{Feed: "https://example.com/feed"},
		{Feed: "https://example.org/rss", Hops: 1}}},
		protocol.Subset{{Feed: "https://example.com/feed"}}},
	{"update_subset", protocol.UpdateSubset{Changes: protocol.Subset{{Feed: "https://example.net/atom", Hops: 2},
		{Feed: "https://example.org/rss", Hops: protocol.Withdrawn}}}, protocol.OK{}},
	{"check_did", protocol.CheckDID{DID: exampleBundle.DID, Feed: exampleBundle.Feed},
		protocol.Seen(false)},
	{"put_entries", protocol.PutEntries{Bundle: exampleBundle}, protocol.OK{}},
	{"put_entries_extras", protocol.PutEntries{Bundle: exampleEpisode}, protocol.OK{}},
	{"query_feed", protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: "https://example.com/feed",
		Words: []string{"hello"}, Since: time.Unix(1780000000, 0).UTC(), Limit: 10},
		ID: "6f1d2c44a0b3e8975be0d1f26a9c3357", Hops: 2, Budget: 15, Wait: 2340 * time.Millisecond}},
		protocol.Answer{Cut: protocol.CutTime | protocol.CutRefused, Left: 3,
			Found: []protocol.Found{{ID: exampleEntry.EntryID(), Digest: exampleEntry.Digest(), Feed: exampleEntry.Feed,
				Title: "Hello", Link: "https://example.com/1", Published: exampleEntry.Published,
				Seen:    time.Unix(1790000300, 0).UTC(),
				Holders: []protocol.NodeID{{}, mustNode("192.0.2.9:7790")}}}}},
	{"query_feed_match", protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Words: []string{"hello"},
		Match: exampleMatch}}}, protocol.Answer{}},
	{"check_dids", protocol.CheckDIDs{DIDs: []protocol.DID{exampleBundle.DID, {0xab}}}, protocol.SeenList{true, false}},
	{"get_entries", protocol.GetEntries{Wanted: []protocol.Wanted{{ID: exampleEntry.EntryID(),
		Digest: exampleEntry.Digest()}, {ID: feed.EntryID{0xab}}}},
		protocol.Batch{Entries: []protocol.Archived{{Entry: exampleEntry,
			Seen: time.Unix(1790000300, 0).UTC()}}, Left: 1}},
	{"get_entries_exchange", protocol.GetEntries{Wanted: []protocol.Wanted{{ID: exampleEntry.EntryID()}},
		Askers: []protocol.NodeID{mustNode("192.0.2.8:7790"), mustNode("[2001:db8::9]:17790")}},
		protocol.Batch{Entries: []protocol.Archived{{Entry: exampleEntry, Seen: time.Unix(1790000300, 0).UTC()}},
			Owed: 1, For: mustNode("192.0.2.8:7790")}},
	{"get_bundle", protocol.GetBundle{DID: exampleBundle.DID}, exampleBundle},
	{"whoami", protocol.WhoAmI{}, mustNode("192.0.2.7:7790")},
	{"vouch", protocol.Vouch{Session: "9f86d081884c7d659a2feaa0c55ad015"}, protocol.Vouched(true)},
	{"connect_key", protocol.Connect{Subset: protocol.Subset{{Feed: "https://example.com/feed"}},
		Key: protocol.NodeKeyOf(callerKey), Challenge: callerChallenge}, protocol.Subset{}},
	{"vouch_key", protocol.Vouch{Session: "9f86d081884c7d659a2feaa0c55ad015", Key: protocol.NodeKeyOf(calledKey),
		Challenge: calledChallenge,
		Proof: protocol.ProveKey(calledKey, protocol.ProvesLink, protocol.NodeKeyOf(callerKey), callerChallenge,
			mustNode("192.0.2.7:7790"))},
		protocol.ProveKey(callerKey, protocol.ProvesLink, protocol.NodeKeyOf(calledKey), calledChallenge,
			mustNode("192.0.2.8:7790"))},
	{"account", protocol.StateAccount{Account: protocol.Statement{Given: 12_500, Got: 4_000, Deficit: 8_500,
		Bound: 10_000, Waiting: 3}},
		protocol.Statement{Given: 4_000, Got: 12_500, Deficit: -8_500, Bound: -1}},
	{"polled", protocol.Notify{Notices: []protocol.Notice{exampleNotice,
		{Feed: "https://example.org/rss", New: protocol.Refused}}},
		protocol.Notices{{Feed: "https://example.org/rss", Age: time.Minute}}},
	{"check_did_polled", protocol.CheckDID{DID: exampleBundle.DID, Feed: exampleBundle.Feed,
		Notices: []protocol.Notice{exampleNotice}}, protocol.Seen(true)},
	{"starred", protocol.TellStars{Stars: protocol.Stars{Feeds: []protocol.FeedStars{
		{Feed: exampleEntry.Feed, Entries: []feed.EntryID{exampleEntry.EntryID()},
			Labels: []protocol.FeedLabel{{Name: "for work", Entries: []feed.EntryID{exampleEntry.EntryID()}}}},
		{Feed: "https://example.org/rss"}}}.Sign(callerKey)},
		protocol.Stars{Feeds: []protocol.FeedStars{{Feed: exampleEntry.Feed}}}.Sign(calledKey)},
	{"disconnect", protocol.Disconnect{Reason: "the node stops"}, protocol.OK{}},
}

func mustNode(text string) protocol.NodeID {
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		panic(err)
	}
	return id
}

func TestSpecificationExamples(t *testing.T) {
	spec := readFile(t, specPath)
	for _, ex := range examples {
		call := protocol.EncodeCall(nil, 7790, ex.call)
		reply := protocol.EncodeReply(nil, ex.reply)
		spec = checkExample(t, spec, ex.name, call, reply)

		blocks := blocksOf(spec, ex.name)
		if len(blocks) != 2 {
			t.Errorf("%s: specification shows %d messages, want a call and its answer", ex.name, len(blocks))
			continue
		}
		// As it stands in the specification, white space and all, it means the same.
		decoded, err := xmlrpc.DecodeCall([]byte(blocks[0]), protocol.CallLimits(ex.call.Method()))
		if err != nil {
			t.Fatalf("%s: decode example: %v", ex.name, err)
		}
		nid, got, err := protocol.DecodeCall(decoded)
		if put, ok := got.(protocol.PutEntries); ok {
			put.Bundle.Identities() // which the example has computed, too
		}
		if err != nil || nid != 7790 || !reflect.DeepEqual(got, ex.call) {
			t.Errorf("%s: example decodes to %d, %+v, %v\nwant %+v", ex.name, nid, got, err, ex.call)
		}
		value, err := xmlrpc.DecodeResponse([]byte(blocks[1]), protocol.AnswerLimits(ex.call.Method()))
		if err != nil {
			t.Fatalf("%s: decode example's answer: %v", ex.name, err)
		}
		answer, err := protocol.DecodeReply(ex.call, value)
		if b, ok := answer.(*protocol.Bundle); ok {
			b.Identities()
		}
		if err != nil || !reflect.DeepEqual(answer, ex.reply) {
			t.Errorf("%s: example's answer decodes to %+v, %v\nwant %+v", ex.name, answer, err, ex.reply)
		}
	}
	fault := protocol.EncodeFault(nil, protocol.Faultf(protocol.UnknownNeighbor,
		"192.0.2.7:7790 is not linked with this node; connect first"))
	spec = checkExample(t, spec, "fault", fault)
	spec = checkText(t, spec, "digests", fmt.Sprintf(
		"EntryID      %s\ndigest       %s\ndid          %s\nfingerprint  %s\n",
		exampleEntry.EntryID(), exampleEntry.Digest(), exampleBundle.DID, exampleEntry.Fingerprint()))
	spec = checkText(t, spec, "reverse", exampleReverse())
	if *update {
		if err := os.WriteFile(specPath, []byte(spec), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkExample compares messages with the blocks of the example in the specification and with the files
// in testdata/wire, or rewrites both.
func checkExample(t *testing.T, spec, name string, messages ...[]byte) string {
	t.Helper()
	if *update {
		spec = replaceBlocks(spec, name, messages)
	}
	blocks := blocksOf(spec, name)
	kinds := []string{"call", "answer"}
	for i, message := range messages {
		file := filepath.Join(wirePath, name+"-"+kinds[i]+".xml")
		if len(messages) == 1 {
			file = filepath.Join(wirePath, name+".xml")
		}
		if *update {
			if err := os.WriteFile(file, message, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := readFile(t, file); string(message) != want {
			t.Errorf("%s: message is\n%s\nwant, as in %s,\n%s", name, message, file, want)
		}
		if i >= len(blocks) || compact(blocks[i]) != string(message) {
			t.Errorf("%s: message %d of the specification differs from what is sent:\n%s", name, i, message)
		}
	}
	return spec
}

// exampleReverse is how a reverse link begins, up to the first call.
func exampleReverse() string {
	caller, called, dialled := protocol.NodeKeyOf(callerKey), protocol.NodeKeyOf(calledKey), mustNode("192.0.2.8:7790")
	proof := protocol.ProveKey(callerKey, protocol.ProvesReverse, called, calledChallenge, dialled)
	return fmt.Sprintf(`> POST /RPC2 HTTP/1.1
> Host: %[1]s
> Connection: Upgrade
> Upgrade: feedex-reverse/1
> Feedex-Key: %[2]s
>
< HTTP/1.1 101 Switching Protocols
< Connection: Upgrade
< Upgrade: feedex-reverse/1
< Feedex-Key: %[3]s
< Feedex-Challenge: %[4]s
<
> %[1]s %[5]s
<
< POST /RPC2 HTTP/1.1
`, dialled, caller, called, calledChallenge, proof.Signature)
}

// checkText compares a text of the specification with what the program computes.
func checkText(t *testing.T, spec, name, text string) string {
	t.Helper()
	marker := "<!-- example " + name + " -->\n"
	i := strings.Index(spec, marker)
	if i < 0 {
		t.Fatalf("specification has no example of %s", name)
	}
	i += len(marker)
	block := "```text\n" + text + "```\n"
	if *update {
		rest := spec[i:]
		if strings.HasPrefix(rest, "```text\n") {
			rest = rest[strings.Index(rest, "\n```\n")+len("\n```\n"):]
		}
		spec = spec[:i] + block + rest
	}
	if !strings.HasPrefix(spec[i:], block) {
		t.Errorf("specification's %s differs; the program computes\n%s", name, text)
	}
	return spec
}

var block = regexp.MustCompile("(?s)```xml\n(.*?)\n```\n")

// exampleText is the part of the specification from the example's marker to the next heading.
func exampleText(spec, name string) (start, end int) {
	marker := "<!-- example " + name + " -->\n"
	start = strings.Index(spec, marker)
	if start < 0 {
		return 0, 0
	}
	start += len(marker)
	if end = strings.Index(spec[start:], "\n#"); end < 0 {
		end = len(spec) - start
	}
	return start, start + end
}

func blocksOf(spec, name string) (blocks []string) {
	start, end := exampleText(spec, name)
	for _, m := range block.FindAllStringSubmatch(spec[start:end], -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

func replaceBlocks(spec, name string, messages [][]byte) string {
	start, end := exampleText(spec, name)
	var b strings.Builder
	for _, m := range messages {
		b.WriteString("```xml\n" + indent(m) + "\n```\n")
	}
	rest := strings.TrimLeft(block.ReplaceAllString(spec[start:end], ""), "\n")
	if rest != "" {
		rest = "\n" + rest
	}
	return spec[:start] + b.String() + rest + spec[end:]
}

var between = regexp.MustCompile(`>\s+<`)

// compact takes the white space between elements away, as long as it holds no text.
func compact(s string) string { return between.ReplaceAllString(strings.TrimSpace(s), "><") }

// indent breaks the message into lines that show its structure.
func indent(message []byte) string {
	pairs := []struct{ open, close string }{
		{"<methodCall>", "</methodCall>"}, {"<methodResponse>", "</methodResponse>"}, {"<params>", "</params>"},
		{"<fault>", "</fault>"},
		{"<value><array><data>", "</data></array></value>"}, {"<value><struct>", "</struct></value>"},
	}
	var out strings.Builder
	depth := 0
	newLine := func() { out.WriteString("\n" + strings.Repeat("  ", depth)) }
	for rest := string(message); rest != ""; {
		unit, change := rest[:1], 0
		for _, p := range pairs {
			if strings.HasPrefix(rest, p.open) {
				unit, change = p.open, 1
			} else if strings.HasPrefix(rest, p.close) {
				unit, change = p.close, -1
			}
		}
		inline := strings.HasSuffix(out.String(), "<param>") || strings.HasSuffix(out.String(), "</name>")
		if change < 0 {
			depth--
		}
		switch {
		case inline || out.Len() == 0:
		case change != 0, strings.HasPrefix(rest, "<methodName>"), strings.HasPrefix(rest, "<param>"),
			strings.HasPrefix(rest, "<member>"), strings.HasPrefix(rest, "<value>"):
			newLine()
		}
		if change > 0 {
			depth++
		}
		out.WriteString(unit)
		rest = rest[len(unit):]
	}
	return out.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every member survives the wire, and the digests with it.
func TestEntrySurvivesTheWire(t *testing.T) {
	b := protocol.NewBundle(fullEntry.Feed, []feed.Entry{fullEntry, exampleEntry})
	wire := protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: b})
	raw, err := xmlrpc.DecodeCall(wire, protocol.CallLimits("put_entries"))
	if err != nil {
		t.Fatal(err)
	}
	_, call, err := protocol.DecodeCall(raw)
	if err != nil {
		t.Fatal(err)
	}
	got := call.(protocol.PutEntries).Bundle
	if !got.Entries[0].Equal(&fullEntry) {
		t.Errorf("entry came back as %+v\nwant %+v", got.Entries[0], fullEntry)
	}
	if err := got.Verify(); err != nil {
		t.Errorf("bundle came back changed: %v", err)
	}
}
