package protocol_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// Entries that were found to be one bundle are not taken for another of the same entries.
func TestVerifyRemembersWhatItFound(t *testing.T) {
	b := honest()
	for range 2 {
		if err := b.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	otherDID, otherFeed, longPath := *b, *b, *b
	otherDID.DID[0]++
	otherFeed.Feed = "https://example.org/rss"
	longPath.Path = make([]protocol.NodeID, protocol.MaxPath+1)
	checkRefused(t, otherDID.Verify(), protocol.BadDID, "did is ")
	checkRefused(t, otherFeed.Verify(), protocol.BadBundle, "entry 0 belongs to another feed")
	checkRefused(t, longPath.Verify(), protocol.TooLong, "path holds 17")
	if err := b.Verify(); err != nil {
		t.Error(err)
	}
}

// TestVerify refuses what a bundle must not be, each for its reason.
func TestVerify(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	const bad, tooLong = protocol.BadBundle, protocol.TooLong
	tests := []struct {
		name   string
		change func(b *protocol.Bundle, first *feed.Entry)
		code   protocol.Code
		about  string
	}{
		{"no entries", func(b *protocol.Bundle, _ *feed.Entry) { b.Entries = nil }, bad, "bundle holds no entries"},
		{"too many entries", func(b *protocol.Bundle, e *feed.Entry) {
			b.Entries = slices.Repeat([]feed.Entry{*e},
				101)
		}, tooLong, "bundle holds 101"},
		{"path too long", func(b *protocol.Bundle, _ *feed.Entry) { b.Path = slices.Repeat(b.Path[:1], 17) }, tooLong,
			"path holds 17"},
		{"foreign entry", func(_ *protocol.Bundle, e *feed.Entry) { e.Feed = "https://example.org/rss" }, bad,
			"entry 0 belongs to another feed"},
		{"entry twice", func(b *protocol.Bundle, e *feed.Entry) { b.Entries = append(b.Entries, *e) }, bad,
			"entry 4 occurs twice"},
		{"two versions of an entry", func(b *protocol.Bundle, e *feed.Entry) { e.ID = b.Entries[1].ID }, bad,
			"entry 1 occurs twice"},
		{"other did", func(b *protocol.Bundle, _ *feed.Entry) { b.DID[0]++ }, protocol.BadDID, "did is "},
		{"other title", func(_ *protocol.Bundle, e *feed.Entry) { e.Title = "hello" }, protocol.BadDID, "did is "},

		{"id too long", func(_ *protocol.Bundle, e *feed.Entry) { e.ID = long(protocol.MaxIDBytes) }, tooLong,
			"entry 0: id is 2049"},
		{"title too long", func(_ *protocol.Bundle, e *feed.Entry) { e.Title = long(protocol.MaxTitleBytes) }, tooLong,
			"entry 0: title is"},
		{"link too long", func(_ *protocol.Bundle, e *feed.Entry) { e.Link = long(feed.MaxURLBytes) }, tooLong,
			"entry 0: link is"},
		{"summary too long", func(_ *protocol.Bundle, e *feed.Entry) { e.Summary = long(protocol.MaxTextBytes) },
			tooLong, "entry 0: summary is"},
		{"content too long", func(_ *protocol.Bundle, e *feed.Entry) { e.Content = long(protocol.MaxTextBytes) },
			tooLong, "entry 0: content is"},
		{"title unclean", func(_ *protocol.Bundle, e *feed.Entry) { e.Title = "a\x1b" }, bad, "entry 0: title holds"},
		{"content no UTF-8", func(_ *protocol.Bundle, e *feed.Entry) { e.Content = "\xff" }, bad,
			"entry 0: content holds"},
		{"too many authors", func(_ *protocol.Bundle, e *feed.Entry) { e.Authors = make([]string, 33) }, tooLong,
			"entry 0: 33 authors"},
		{"author too long", func(_ *protocol.Bundle, e *feed.Entry) {
			e.Authors = []string{"Ada",
				long(protocol.MaxLabelBytes)}
		}, tooLong, "entry 0: authors is 257"},
		{"too many categories", func(_ *protocol.Bundle, e *feed.Entry) { e.Categories = make([]string, 129) }, tooLong,
			"entry 0: 129 categories"},
		{"category unclean", func(_ *protocol.Bundle, e *feed.Entry) { e.Categories = []string{"\x00"} }, bad,
			"entry 0: categories holds"},
		{"too many enclosures", func(_ *protocol.Bundle, e *feed.Entry) { e.Enclosures = make([]feed.Enclosure, 33) },
			tooLong, "entry 0: 33 enclosures"},
		{"url of enclosure too long", func(_ *protocol.Bundle, e *feed.Entry) {
			e.Enclosures = []feed.Enclosure{{URL: long(feed.MaxURLBytes)}}
		}, tooLong, "entry 0: enclosure url is"},
		{"type of enclosure unclean",
			func(_ *protocol.Bundle, e *feed.Entry) { e.Enclosures = []feed.Enclosure{{Type: "\x7f"}} }, bad,
			"entry 0: enclosure type holds"},
		{"length of enclosure negative",
			func(_ *protocol.Bundle, e *feed.Entry) { e.Enclosures = []feed.Enclosure{{Length: -1}} }, bad,
			"entry 0: enclosure length"},
		{"published too late", func(_ *protocol.Bundle, e *feed.Entry) { e.Published = time.Unix(253_402_300_800, 0) },
			bad, "entry 0: time lies outside"},
		{"updated too early", func(_ *protocol.Bundle, e *feed.Entry) { e.Updated = time.Unix(-62_135_596_801, 0) },
			bad, "entry 0: time lies outside"},
		{"nothing to tell it by", func(_ *protocol.Bundle, e *feed.Entry) { e.ID, e.Title, e.Link = "", "", "" }, bad,
			"entry 0: neither id nor title nor link"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := honest()
			b.Entries = slices.Clone(b.Entries) // what a bundle holds is never changed where it is
			tt.change(b, &b.Entries[0])
			checkRefused(t, b.Verify(), tt.code, tt.about)
		})
	}
}

// TestEntriesAtTheLimitTravel has a receiver believe entries of which every field is as long as it may be.
func TestEntriesAtTheLimitTravel(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	e := feed.Entry{
		Feed: exampleEntry.Feed, ID: text(protocol.MaxIDBytes), Title: text(protocol.MaxTitleBytes),
		Link:      text(feed.MaxURLBytes),
		Authors:   slices.Repeat([]string{text(protocol.MaxLabelBytes)}, protocol.MaxAuthors),
		Published: time.Unix(253_402_300_799, 0).UTC(),
		Updated:   time.Unix(-62_135_596_799, 0).UTC(), Summary: text(protocol.MaxTextBytes),
		Content:    text(protocol.MaxTextBytes),
		Categories: slices.Repeat([]string{text(protocol.MaxLabelBytes)}, protocol.MaxCategories),
		Enclosures: slices.Repeat([]feed.Enclosure{{URL: text(feed.MaxURLBytes), Type: text(protocol.MaxLabelBytes),
			Length: 1<<63 - 1}}, protocol.MaxEnclosures),
		Rights: slices.Repeat([]string{text(protocol.MaxRightBytes)}, protocol.MaxRights),
		CopiedFrom: feed.Original{ID: text(protocol.MaxIDBytes), Title: text(protocol.MaxTitleBytes),
			URL: text(feed.MaxURLBytes)},
	}
	got, err := overTheWire(t, protocol.NewBundle(e.Feed, []feed.Entry{e}))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Verify(); err != nil || !got.Entries[0].Equal(&e) {
		t.Errorf("entry came back changed: %v", err)
	}
}

// TestDIDIsThatOfTheSpecification computes dids from the specification's text, whatever the order.
func TestDIDIsThatOfTheSpecification(t *testing.T) {
	b := honest()
	if want := specDID(b.Feed, b.Entries); b.DID != want {
		t.Errorf("did is %s, want %s", b.DID, want)
	}
	slices.Reverse(b.Entries)
	if got := protocol.NewBundle(b.Feed, b.Entries).DID; got != b.DID {
		t.Errorf("did of the reverse order is %s, want %s", got, b.DID)
	}
}

// TestVia appends the sender to a path that others share.
func TestVia(t *testing.T) {
	b := honest()
	b.Path = slices.Grow(b.Path, 8)
	one, two := b.Via(mustNode("198.51.100.1:7790")), b.Via(mustNode("198.51.100.2:7790"))
	if len(b.Path) != 2 || len(one.Path) != 3 || one.Path[2] != mustNode("198.51.100.1:7790") ||
		two.Path[2] != mustNode("198.51.100.2:7790") {
		t.Errorf("paths are %v, %v, %v", b.Path, one.Path, two.Path)
	}
	if err := one.Verify(); err != nil || one.DID != b.DID {
		t.Errorf("the path changed the bundle: %v", err)
	}
}
