package feed_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
)

func TestOlderDocuments(t *testing.T) {
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>%s<entry><id>1</id><title>E</title>` +
		`</entry></feed>`
	const rss = `<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom"><channel><title>T</title>%s<item><title>` +
		`E</title></item></channel></rss>`
	tests := []struct {
		name, format, links string
		want                feed.URL
	}{
		{"atom", atom, `<link rel="self" href="/"/><link rel="prev-archive" href="https://example.com/2025/"/>`,
			"https://example.com/2025/"},
		{"relative", atom, `<link rel="Prev-Archive" href="../2025.xml"/>`, "https://example.com/2025.xml"},
		{"the first of several", atom, `<link rel="prev-archive" href="/a"/><link rel="prev-archive" href="/b"/>`,
			"https://example.com/a"},
		{"rss", rss, `<a:link rel="prev-archive" href="https://example.com/2025/"/>`, "https://example.com/2025/"},
		{"a file", atom, `<link rel="prev-archive" href="file:///etc/passwd"/>`, ""},
		{"no address", atom, `<link rel="prev-archive"/>`, ""},
		{"another relation", atom, `<link rel="previous" href="/a"/>`, ""},
		{"of an entry", atom, `<entry><id>2</id><link rel="prev-archive" href="/a"/></entry>`, ""},
	}
	for _, tt := range tests {
		doc, err := feed.Parse("https://example.com/news/feed", "application/xml",
			fmt.Appendf(nil, tt.format, tt.links), time.Now())
		if err != nil || doc.PrevArchive != tt.want {
			t.Errorf("%s: %v, %v, want %q", tt.name, doc, err, tt.want)
		}
	}
}

// Relative addresses in a document of the archive are relative to where that came from, or to its xml:base.
func TestOlderDocumentsOfAPage(t *testing.T) {
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"%s><title>T</title><link rel="prev-archive" ` +
		`href="1.xml"/><entry><id>1</id><link href="posts/1"/><title>E</title></entry></feed>`
	const rss = `<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom"%s><channel><title>T</title><a:link ` +
		`rel="prev-archive" href="1.xml"/><item><link>posts/1</link><title>E</title></item></channel></rss>`
	for name, format := range map[string]string{"atom": atom, "rss": rss} {
		for base, want := range map[string]string{
			"": "https://archive.example.net/2025/",
			` xml:base="https://example.org/a/2.xml"`: "https://example.org/a/",
			` xml:base="/b/"`:                         "https://archive.example.net/b/",
			` xml:base="old/"`:                        "https://archive.example.net/2025/old/",
		} {
			doc, err := feed.ParsePage("https://example.com/feed", "https://archive.example.net/2025/2.xml",
				"application/xml", fmt.Appendf(nil, format, base), time.Now())
			if err != nil || doc.Feed != "https://example.com/feed" || string(doc.PrevArchive) != want+"1.xml" ||
				doc.Entries[0].Feed != doc.Feed {
				t.Errorf("%s, %q: %+v, %v, want %s", name, base, doc, err, want)
				continue
			}
			if name == "atom" && doc.Entries[0].Link != want+"posts/1" {
				t.Errorf("%s, %q: the entry's link is %s, want below %s", name, base, doc.Entries[0].Link, want)
			}
		}
	}
}
