package feed_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"feedex/feed"
)

func channel(inner string) string {
	return `<rss xmlns:x="urn:x"><channel>` + inner + `</channel></rss>`
}

func item(inner string) string { return channel("<item><guid>1</guid>" + inner + "</item>") }

func entry(inner string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:x"><entry><id>1</id>` + inner + `</entry></feed>`
}

// many makes n attributes or namespaces.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// unclosed is HTML whose tree is far larger than itself: each paragraph repeats all that was left
// open in the first.
func unclosed() string {
	return "<p>" + many(200, "<b a='%d'>") + "</p>" + strings.Repeat("<p>x</p>", 50_000)
}

// TestHostileDocuments holds that documents made to hurt are refused with the reason, or read at a
// bounded price. Each of them would cost gofeed alone seconds, gigabytes or the process, unless it
// says that it is harmless.
func TestHostileDocuments(t *testing.T) {
	r := strings.Repeat
	longURL := feed.URL("http://example.com/" + r("a/", 1000))
	for _, tc := range []struct {
		name, body string
		err        error
		reason     string // in the error's text
	}{
		{"too large", r(" ", feed.MaxDocumentBytes+1), feed.ErrLimit, "larger than 10485760 bytes"},
		{"deep nesting", channel(r("<x:a>", 1_000_000)), feed.ErrLimit, "line 1: elements nested deeper than 256"},
		{"deep nesting in the text", item("<description>" + r("<b>", 300) + r("</b>", 300) + "</description>"),
			feed.ErrLimit, "nested deeper than 256"},
		{"deep enough", item("<x:a>" + r("<x:b>", 252) + r("</x:b>", 252) + "</x:a>"), nil, ""},
		{"a million items", channel(r("<item/>", 1_000_000)), feed.ErrLimit, "more than 10000 entries"},
		{"a million entries", `<feed>` + r("<entry/>", 1_000_000) + `</feed>`, feed.ErrLimit,
			"more than 10000 entries"},
		{"a million elements", channel("\n" + r("<x:a/>", 1_000_000)), feed.ErrLimit,
			"line 2: more than 250000 elements"},
		{"a million attributes", channel("<x:a" + r(" a=''", 1_000_000) + "/>"), feed.ErrLimit,
			"more than 250000 attributes"},
		{"a huge attribute", item("<link href='" + r("a/../", 300_000) + "'/>"), nil, ""},
		{"namespaces", `<rss` + many(2000, ` xmlns:n%d="u"`) + `><channel>` + r("<n1:a/>", 100_000) +
			`</channel></rss>`,
			feed.ErrLimit, "take too long"},
		{"a long namespace", `<rss xmlns:n="&amp;` + r("n", 1_000_000) + `"><channel><item>` + r("<n:a/>", 10_000) +
			`</item></channel></rss>`, feed.ErrLimit, "a namespace longer than 2048 bytes"},
		{"nested xml:base", `<feed>` + r(`<entry xml:base="a/">`, 400_000), feed.ErrLimit, "nested deeper than 256"},
		{"long xml:base", `<feed xml:base="http://a/` + r("a/", 30_000) + `"><entry>` + r(`<x href="a"/>`, 200_000) +
			`</entry></feed>`,
			feed.ErrLimit, "take too long"},
		{"long xml:base in another spelling", `<feed xmlns:y="http://www.w3.org/XML/1998/namespace" y:base="http://a/` +
			r("a/", 30_000) + `"><entry>` + r(`<x href="a"/>`, 200_000) + `</entry></feed>`, feed.ErrLimit,
			"take too long"},
		{"text in pieces", channel("<x:a>" + r("x", 1_000_000) + r("<b/>x", 200_000) + "</x:a>"), feed.ErrLimit,
			"take too long"},
		{"text in sections", channel("<x:a>" + r("x", 1_000_000) + r("<![CDATA[]]>x", 500_000) + "</x:a>"),
			feed.ErrLimit, "take too long"},
		{"unreadable dates", item(r("<pubDate>x</pubDate>", 200_000)), feed.ErrLimit, "take too long"},
		{"one unreadable date", item("<pubDate>" + r("x", 9_000_000) + "</pubDate>"), feed.ErrLimit, "take too long"},
		{"stray brackets", item("<title>" + r("<", 3_000_000) + "</title>"), feed.ErrLimit, "take too long"},
		{"stray end tags", item("<title>" + r("</b>", 1_500_000) + "</title>"), feed.ErrLimit, "take too long"},
		{"comments", item("<title>" + r("<!-- -->", 1_250_000) + "</title>"), feed.ErrLimit, "take too long"},
		{"unclosed attributes", item("<title>" + r("<a b='", 1_500_000) + "</title>"), feed.ErrLimit, "take too long"},
		{"HTML tree, RSS", item("<description><![CDATA[" + unclosed() + "]]></description>"), nil, ""},
		{"HTML tree, Atom", entry(`<content type="html" xml:base="http://a/"><![CDATA[` + unclosed() +
			"]]></content>"), nil, ""},
		{"HTML tree, hidden type",
			entry(`<content x:type="&#104;tml" xml:base="http://a/"><![CDATA[` + unclosed() +
				"]]></content>"), nil, ""},
		{"HTML tree, XHTML", entry(`<content type="XHTML">` + unclosed() + "</content>"), nil, ""},
		{"links to resolve", entry(`<content type="html" xml:base="http://a/"><![CDATA[` + r("<a href=b>", 200_000) +
			"]]></content>"), nil, ""},
		{"links to resolve against much",
			entry(`<content type="html" xml:base="http://a/` + r("a/", 1000) + `"><![CDATA[` +
				r("<a href=b>", 200_000) + "]]></content>"), nil, ""},
		{"links to resolve against much in each of many texts", entry(r(`<content type="html" xml:base="http://a/`+
			r("a/", 1000)+`">`+r("&lt;a href=b>", 2500)+"</content>", 200)), nil, ""},
		{"texts inside one another", entry(`<a xml:base="http://a/">` + r("<content>", 200) + r("&lt;", 1_000_000) +
			r("</content>", 200) + "</a>"), nil, ""},
		{"links to resolve in XHTML", entry(`<content type="xhtml" xml:base="http://a/` + r("a/", 1000) + `"><div>` +
			r("<a href='b'/>", 200_000) + "</div></content>"), feed.ErrLimit, "take too long"},
		{"files with relative addresses", item(r("<enclosure url='a'/>", 240_000)), feed.ErrLimit,
			"more than 33554432 bytes of relative links"},
		{"one id for all", channel(r("<item><guid>1</guid><title>a</title></item>", 9_999)), nil, ""},
		{"one id for all, untitled",
			channel(r("<item><guid>1</guid><description>a</description></item>", 9_999)), nil, ""},
		{"authors of a feed, Atom", `<feed>` + r("<author><name>a</name></author>", 5000) + r("<entry/>", 5000) +
			"</feed>", nil, ""},
		{"entities of entities", `<!DOCTYPE rss [<!ENTITY a "` + r("a", 100) +
			`">` + many(20, `<!ENTITY b%d "`+r("&a;", 100)+`">`) +
			`]>` + item("<title>"+r("&b1;", 100)+"</title>"), nil, ""}, // harmless: not expanded
		{"an entity that grows", `<!DOCTYPE rss [<!ENTITY a "` + r("a", 1_000_000) +
			`">]>` + item("<title>"+r("&a;", 1_000_000)+"</title>"), nil, ""},
		{"as many entities as there is room for", `<!DOCTYPE rss [` + many(400_000, `<!ENTITY a%d "a">`) +
			`]>` + item("<title>"+r("&a1;", 200_000)+"</title>"), nil, ""},
		{"an entity between sections",
			`<!DOCTYPE rss [<!ENTITY a "b">]>` + item("<title>&a;"+r("<![CDATA[]]>&a;", 500_000)+"</title>"),
			feed.ErrLimit, "take too long"},
		{"external entity", `<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>` +
			item("<title>&a;</title>"), nil, ""},
		{"ampersands", item("<title>" + r("&", 1_000_000) + "</title>"), nil, ""},
		{"forbidden references", item("<title>" + r("&#1;", 2_000_000) + "</title>"), nil, ""},
		{"open declarations", r("<!a", 2_000_000), feed.ErrFormat, "no root element"},
		{"open declarations inside", channel(r("<!a", 2_000_000)), feed.ErrLimit, "take too long"},
		{"open comment", `<rss><!-- ` + r("-", 1_000_000), feed.ErrFormat, "document ends inside <rss>"},
		{"a long name", "<" + r("a", 1_000_000) + ">", feed.ErrFormat, "root element <" + r("a", 64) + "> is not"},
		{"JSON of a million objects", `{"items":[` + r("{},", 1_000_000) + "{}]}", feed.ErrLimit,
			"more than 250000 objects"},
		{"JSON of too many items", `{"items":[` + r("{},", 10_000) + "{}]}", feed.ErrLimit, "more than 10000 entries"},
		{"JSON of millions of tags", `{"items":[{"tags":[` + r("1,", 4_000_000) + "1]}]}", feed.ErrLimit,
			"more than 1000000 members and elements"},
		{"authors of a feed, JSON", `{"authors":[` + r(`{"name":"a"},`, 5000) + `{}],"items":[` + r("{},", 5000) +
			"{}]}", nil, ""},
		{"JSON nested deep", `{"items":` + r("[", 5_000_000), feed.ErrFormat, "max depth"},
		{"JSON nested deep aside", `{"items":[],"x":` + r(`{"a":`, 100_000), feed.ErrFormat, "max depth"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, err := feed.ParsePage(goldenURL, longURL, "", []byte(tc.body), goldenTime)
			runtime.ReadMemStats(&after)
			switch {
			case tc.err == nil && (err != nil || tc.body[0] != '{' && len(doc.Entries) > 1):
				t.Errorf("got %v", err)
			case tc.err != nil && (!errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.reason)):
				t.Errorf("got %v, want %v that says %q", err, tc.err, tc.reason)
			}
			if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 512 {
				t.Errorf("took %d MiB in all", spent)
			}
		})
	}
}
