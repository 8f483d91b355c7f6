package feed_test

import (
	"fmt"
	"net/netip"
	"time"

	"feedex/feed"
)

func ExampleParse() {
	body := []byte(`<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>Weather for sailors</title><link>/weather/</link>
<item><guid isPermaLink="false">gale-1</guid><title>Gale warning</title><link>gale</link>
<pubDate>Sat, 28 Feb 2026 18:30:00 -0500</pubDate></item>
<item><title>Calm, in ten years</title><link>calm</link><pubDate>Thu, 28 Feb 2036 06:00:00 GMT</pubDate></item>
</channel></rss>`)
	u, err := feed.ParseURL("HTTP://Example.com/weather/feed.xml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fetched := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	doc, err := feed.Parse(u, "application/rss+xml", body, fetched)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Title, doc.Link)
	for _, e := range doc.Entries {
		fmt.Printf("%q %s %s dated %v\n", e.ID, e.Title, e.Link, !e.Published.IsZero())
	}
	// Output:
	// Weather for sailors http://example.com/weather/
	// "gale-1" Gale warning http://example.com/weather/gale dated true
	// "" Calm, in ten years http://example.com/weather/calm dated false
}

func ExampleParse_notAFeed() {
	_, err := feed.Parse("http://example.com/feed", "text/html", []byte("<html><body>Moved"), time.Time{})
	fmt.Println(err)
	// Output: parse feed: malformed document: byte 0, line 1: document is a web page, not a feed
}

func ExampleEntry_EntryID() {
	first := feed.Entry{Feed: "http://example.com/feed", ID: "gale-1", Title: "Gale warning"}
	edited := feed.Entry{Feed: "http://example.com/feed", ID: "gale-1", Title: "Gale warning (updated)"}
	fmt.Println("same entry:", first.EntryID() == edited.EntryID())
	fmt.Println("same version:", first.Digest() == edited.Digest())
	// Output:
	// same entry: true
	// same version: false
}

func ExampleURL_Secret() {
	for _, u := range []feed.URL{"http://example.com/feed", "http://example.com/feed?token=1",
		"http://ann:word@example.com/feed"} {
		fmt.Println(u.Secret())
	}
	// Output:
	// false
	// true
	// true
}

func ExamplePublicAddr() {
	for _, a := range []string{"2606:4700:4700::1111", "192.168.1.1", "::ffff:127.0.0.1"} {
		fmt.Println(a, feed.PublicAddr(netip.MustParseAddr(a)))
	}
	// Output:
	// 2606:4700:4700::1111 true
	// 192.168.1.1 false
	// ::ffff:127.0.0.1 false
}

func ExampleClean() {
	fmt.Printf("%q\n", feed.Clean("caf\xe9 \x07au\x00 lait"))
	// Output: "caf� au lait"
}
