package protocol_test

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// markup draws clean text with much of what XML escapes.
func markup(most int) *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"&", "<", ">", "\"", "'", "\n", "é", "😀", "a", "]]>", "&amp;",
		"\uFFFD", "text "})
	return rapid.Map(rapid.SliceOfN(piece, 0, most), func(pieces []string) string { return strings.Join(pieces, "") })
}

// instants draws times that may travel, at both ends as well.
func instants() *rapid.Generator[time.Time] {
	return rapid.Map(rapid.OneOf(rapid.Just(int64(-62_135_596_799)), rapid.Just(int64(253_402_300_799)),
		rapid.Int64Range(0, 1<<33)),
		func(s int64) time.Time { return time.Unix(s, 0).UTC() })
}

// entriesOf draws an entry of u that may travel.
func entriesOf(u feed.URL) *rapid.Generator[feed.Entry] {
	return rapid.Custom(func(t *rapid.T) feed.Entry {
		e := feed.Entry{
			Feed: u, ID: "i" + markup(20).Draw(t, "id"), Title: markup(40).Draw(t, "title"),
			Link:      markup(20).Draw(t, "link"),
			Authors:   rapid.SliceOfN(markup(10), 0, 5).Draw(t, "authors"),
			Published: instants().Draw(t, "published"), Updated: instants().Draw(t, "updated"),
			Summary: markup(100).Draw(t, "summary"), Content: markup(300).Draw(t, "content"),
			Categories: rapid.SliceOfN(markup(10), 0, 5).Draw(t, "categories"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "enclosures") {
			e.Enclosures = append(e.Enclosures, feed.Enclosure{
				URL: markup(20).Draw(t, "url"), Type: markup(5).Draw(t, "type"),
				Length: rapid.OneOf(rapid.Just(int64(math.MaxInt64)), rapid.Int64Range(0, 1<<40)).Draw(t, "length"),
			})
		}
		if rapid.Bool().Draw(t, "extras") {
			file := rapid.Custom(func(t *rapid.T) feed.Companion {
				return feed.Companion{URL: feedURLs().Draw(t, "url"), Type: "application/json+chapters", Language: "en"}
			})
			e.Extras = feed.Extras{Duration: feed.MaxDuration, Image: feedURLs().Draw(t, "image"),
				Language: "de-CH-1996", Season: feed.MaxOrdinal, Episode: feed.MaxOrdinal,
				Chapters:    file.Draw(t, "chapters"),
				Transcripts: rapid.SliceOfN(file, 0, feed.MaxTranscripts).Draw(t, "transcripts")}
		}
		return e
	})
}

// feedURLs draws URLs of feeds in normal form, short and long, with parameters.
func feedURLs() *rapid.Generator[feed.URL] {
	return rapid.Custom(func(t *rapid.T) feed.URL {
		query := rapid.SliceOfN(rapid.SampledFrom([]string{"&", "a=1", "&b='", "é"}), 0, 60).Draw(t, "query")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			query = append(query, strings.Repeat("&", 1500))
		}
		u, err := feed.ParseURL("https://example.com/feed?" + strings.Join(query, ""))
		if err != nil {
			t.Fatal(err)
		}
		return u
	})
}

// longestNode has the longest text that a node id can have.
var longestNode = protocol.NewNodeID(netip.MustParseAddr("2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff"), 65535)

// TestWireBytesOfBundle compares the bound with what a bundle really takes.
func TestWireBytesOfBundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := feedURLs().Draw(t, "feed")
		b := protocol.NewBundle(u, rapid.SliceOfN(entriesOf(u), 0, 4).Draw(t, "entries"))
		for range rapid.IntRange(0, protocol.MaxPath).Draw(t, "path") {
			b.Path = append(b.Path, longestNode)
		}
		took := len(protocol.EncodeCall(nil, 65535, protocol.PutEntries{Bundle: b}))
		if got := b.WireBytes(); got < took || got > took*5/4+800*(1+len(b.Entries)) {
			t.Errorf("WireBytes is %d, the call takes %d", got, took)
		}
	})
}

// TestWireBytesOfInterest compares the bound with what an element really takes, in a call and an answer.
func TestWireBytesOfInterest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := protocol.Interest{
			Feed: feedURLs().Draw(t, "feed"),
			Hops: rapid.OneOf(rapid.IntRange(protocol.Withdrawn, protocol.MaxHops), rapid.Int()).Draw(t, "hops"),
		}
		call := len(protocol.EncodeCall(nil, 7790, protocol.UpdateSubset{Changes: protocol.Subset{in}})) -
			len(protocol.EncodeCall(nil, 7790, protocol.UpdateSubset{}))
		reply := len(protocol.EncodeReply(nil, protocol.Subset{in})) - len(protocol.EncodeReply(nil, protocol.Subset{}))
		if got := in.WireBytes(); got < call || got < reply || got > call*5/4+50 {
			t.Errorf("WireBytes is %d, the element takes %d in a call and %d in an answer", got, call, reply)
		}
	})
}

// TestNoticeRoomOfACheck fills a check_did with notices.
func TestNoticeRoomOfACheck(t *testing.T) {
	filled := 0
	rapid.Check(t, func(t *rapid.T) {
		c := protocol.CheckDID{DID: protocol.DID{0xff}, Feed: feedURLs().Draw(t, "feed")}
		room := c.NoticeRoom()
		for {
			n := protocol.Notice{Feed: feedURLs().Draw(t, "of"), Age: 24 * time.Hour, New: math.MaxInt32,
				Path: []protocol.NodeID{longestNode}}
			if rapid.Bool().Draw(t, "signed") {
				n.Sign(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), time.Unix(1<<36, 0))
			}
			if room -= n.WireBytes(); room < 0 {
				break
			}
			c.Notices = append(c.Notices, n)
			filled++
			if took := len(protocol.EncodeCall(nil, 65535, c)); took > protocol.MaxCheckBytes {
				t.Errorf("with %d notices the call takes %d bytes", len(c.Notices), took)
			}
		}
	})
	if filled == 0 {
		t.Error("no call had room for a notice")
	}
}

// TestSplitFitsTheWire splits entries that take all they may, and has a receiver read every bundle,
// at the end of the longest path.
func TestSplitFitsTheWire(t *testing.T) {
	longFeed, err := feed.ParseURL("https://example.com/?" + strings.Repeat("&",
		feed.MaxURLBytes-len("https://example.com/?")))
	if err != nil {
		t.Fatal(err)
	}
	repeat := func(n int, s string) (list []string) {
		for range n {
			list = append(list, s)
		}
		return list
	}
	enclosures := func(n int, enc feed.Enclosure) (list []feed.Enclosure) {
		for range n {
			list = append(list, enc)
		}
		return list
	}
	// The last second of the year 9999 takes the most digits.
	last := time.Unix(253_402_300_799, 0).UTC()
	full := feed.Entry{Published: last, Updated: last}
	with := func(change func(e *feed.Entry)) feed.Entry {
		e := full
		change(&e)
		return e
	}
	tests := []struct {
		name  string
		entry feed.Entry
		count int
		most  int // entries in the largest bundle; 0 where bytes decide
	}{
		{"as many values as there can be", with(func(e *feed.Entry) {
			e.Title, e.Link, e.Summary, e.Content = "t", "l", "s", "c"
			e.Authors, e.Categories = repeat(protocol.MaxAuthors, ""), repeat(protocol.MaxCategories, "")
			e.Rights, e.CopiedFrom.Title = repeat(protocol.MaxRights, ""), "&"
			e.Enclosures = enclosures(protocol.MaxEnclosures, feed.Enclosure{Length: math.MaxInt64})
		}), 250, protocol.MaxBundleEntries},
		{"every list full", with(func(e *feed.Entry) {
			e.Authors, e.Categories = repeat(protocol.MaxAuthors, strings.Repeat("<", 256)),
				repeat(protocol.MaxCategories, strings.Repeat("&", 256))
			e.Enclosures = enclosures(protocol.MaxEnclosures,
				feed.Enclosure{URL: strings.Repeat("&", feed.MaxURLBytes), Type: strings.Repeat("&", 256),
					Length: math.MaxInt64})
		}), 100, 0},
		{"plain articles", with(func(e *feed.Entry) { e.Content = strings.Repeat("x", 50_000) }), 300, 0},
		{"articles of references", with(func(e *feed.Entry) { e.Content = strings.Repeat("&", 50_000) }), 100, 0},
		{"the longest texts", with(func(e *feed.Entry) {
			e.Title = strings.Repeat(">", protocol.MaxTitleBytes)
			e.Summary, e.Content = strings.Repeat("é", protocol.MaxTextBytes/2),
				strings.Repeat("x", protocol.MaxTextBytes)
		}), 5, 0},
		{"small", full, 1000, protocol.MaxBundleEntries},
	}
	limits := protocol.CallLimits("put_entries")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries := make([]feed.Entry, tt.count)
			for i := range entries {
				entries[i] = tt.entry
				entries[i].Feed, entries[i].ID = longFeed, fmt.Sprint(i)
			}
			bundles := protocol.Split(longFeed, entries)
			count, largest, most := 0, 0, 0
			for _, b := range bundles {
				for range protocol.MaxPath {
					b.Path = append(b.Path, longestNode)
				}
				wire := protocol.EncodeCall(nil, 65535, protocol.PutEntries{Bundle: b})
				if len(wire) > b.WireBytes() || b.WireBytes() > limits.Bytes {
					t.Errorf("bundle of %d entries takes %d bytes, at most %d, the limit is %d", len(b.Entries),
						len(wire), b.WireBytes(), limits.Bytes)
				}
				raw, err := xmlrpc.DecodeCall(wire, limits)
				if err != nil {
					t.Fatal(err)
				}
				_, call, err := protocol.DecodeCall(raw)
				if err != nil {
					t.Fatal(err)
				}
				if err := call.(protocol.PutEntries).Bundle.Verify(); err != nil {
					t.Error(err)
				}
				count += len(b.Entries)
				largest, most = max(largest, len(wire)), max(most, len(b.Entries))
			}
			switch {
			case count != tt.count:
				t.Errorf("%d entries came over, want %d", count, tt.count)
			case tt.most > 0 && most != tt.most:
				t.Errorf("largest bundle holds %d entries, want %d", most, tt.most)
			case tt.most == 0 && largest < limits.Bytes/2:
				t.Errorf("largest bundle takes %d bytes; Split wastes the %d that there are", largest, limits.Bytes)
			}
		})
	}
}

// TestSplitKeepsWhatMayNotTravel leaves an entry out that no bundle can carry.
func TestSplitKeepsWhatMayNotTravel(t *testing.T) {
	const u = "https://example.com/feed"
	entries := []feed.Entry{
		{Feed: u, ID: "too long", Title: strings.Repeat("x", protocol.MaxTitleBytes+1)},
		{Feed: u, ID: "unclean", Title: "\x00"},
		{Feed: u},
		{Feed: u, ID: "too long once escaped", Content: strings.Repeat("&", protocol.MaxTextBytes)},
		{Feed: u, ID: "good"},
	}
	bundles := protocol.Split(u, entries)
	if len(bundles) != 1 || len(bundles[0].Entries) != 1 || bundles[0].Entries[0].ID != "good" {
		t.Errorf("got %v, want the good one in a bundle", bundles)
	}
}
