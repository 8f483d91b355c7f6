package feed

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

// ordinaryFeed is an RSS 2.0 document of 50 entries with their full text, 150 kB.
func ordinaryFeed() []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
<channel><title>An ordinary feed</title><link>https://example.com/</link><description>Of ordinary things</description>
<atom:link href="https://example.com/feed" rel="self" type="application/rss+xml"/><sy:updatePeriod>hourly</sy:updatePeriod>
`)
	text := strings.Repeat(`<p>The <a href="https://example.org/page?a=1">quick</a> brown fox — “jumps” over the `+
		`lazy dog.</p>`+"\n", 26)
	for i := range 50 {
		fmt.Fprintf(&b, `<item><title>Number %d &#8211; news &amp; views</title><link>https://example.com/%d/</link>
<dc:creator><![CDATA[Ann Example]]></dc:creator><pubDate>Mon, 05 Jan 2026 %02d:%02d:00 +0000</pubDate>
<category><![CDATA[News]]></category><category><![CDATA[Views]]></category>
<guid isPermaLink="false">https://example.com/?p=%d</guid><description><![CDATA[The quick brown fox [&#8230;]]]></description>
<content:encoded><![CDATA[%s]]></content:encoded></item>
`, i, i, i/60, i%60, i, text)
	}
	b.WriteString("</channel></rss>\n")
	return b.Bytes()
}

// BenchmarkParse compares Parse with gofeed alone on the same document. Parse does more (encoding,
// limits, repairs, identity) and less (it looks for no images in the text).
func BenchmarkParse(b *testing.B) {
	body := ordinaryFeed()
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	b.Run("feed", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse("https://example.com/feed", "", body, now); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gofeed", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := gofeed.NewParser().Parse(bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gofeed-without-images", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		p := gofeed.NewParser()
		p.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
		for b.Loop() {
			if _, err := p.Parse(bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("walk", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := walkMarkup(dropBadRefs(newSource("", body).text()), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkIdentity takes an ordinary entry's EntryID and Digest, and beside it nothing but the SHA-1 of as
// many bytes.
func BenchmarkIdentity(b *testing.B) {
	doc, err := Parse("https://example.com/feed", "", ordinaryFeed(), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		b.Fatal(err)
	}
	short := Entry{Feed: "https://example.com/feed", ID: "https://example.com/?p=1", Title: "Number 1",
		Link: "https://example.com/1/", Summary: strings.Repeat("quick brown fox ", 30)}
	for _, tc := range []struct {
		name  string
		entry *Entry
	}{{"600-bytes", &short}, {"3-kB", &doc.Entries[0]}} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tc.entry.EntryID()
				tc.entry.Digest()
			}
		})
		text := []byte(tc.entry.Summary + tc.entry.Content)
		b.Run(tc.name+"-sha1", func(b *testing.B) {
			for b.Loop() {
				sha1.Sum(text)
			}
		})
	}
}
