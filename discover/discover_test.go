package discover

import (
	"slices"
	"strings"
	"testing"

	"feedex/feed"
)

const page = "https://blog.example/about/"

// named are the addresses of feeds, in order, each with its title behind it.
func named(list []SiteFeed) (names []string) {
	for _, f := range list {
		names = append(names, strings.TrimSpace(string(f.URL)+" "+f.Title))
	}
	return names
}

const rss = ` rel="alternate" type="application/rss+xml" `

func TestPage(t *testing.T) {
	for name, test := range map[string]struct {
		body  string
		links []string
		want  []string
	}{
		"one": {body: `<head><link` + rss + `title="News" href="/feed.xml"></head>`,
			want: []string{"https://blog.example/feed.xml News"}},
		"relative to the page": {body: `<link` + rss + `href="feed.xml">`,
			want: []string{"https://blog.example/about/feed.xml"}},
		"relative to its base": {body: `<base href="/b/"><link` + rss + `href="feed.xml">`,
			want: []string{"https://blog.example/b/feed.xml"}},
		"a base that follows": {body: `<link` + rss + `href="feed.xml"><base href="//cdn.example/">`,
			want: []string{"https://cdn.example/feed.xml"}},
		"the first base counts": {body: `<base target="_top"><base href="/b/"><base href="/c/"><link` + rss +
			`href="f">`, want: []string{"https://blog.example/b/f"}},
		"a base that is none": {body: `<base href="data:text/html,x"><link` + rss + `href="f">`,
			want: []string{"https://blog.example/about/f"}},
		"without a scheme": {body: `<link` + rss + `href="//www.blog.example/f">`,
			want: []string{"https://www.blog.example/f"}},
		"the pseudo scheme": {body: `<link` + rss + `href="feed:https://blog.example/f">`,
			want: []string{"https://blog.example/f"}},
		"references": {body: `<link rel="alternate" type="application/rss&#43;xml" title="A &amp; B" ` +
			`href="/f?a=1&amp;b=2">`, want: []string{"https://blog.example/f?a=1&b=2 A & B"}},
		"as people write": {body: "<LINK REL='Feed ALTERNATE' TYPE='Application/RSS+XML; charset=utf-8' " +
			"TITLE='\n  A\t title ' HREF=' /f\n '>", want: []string{"https://blog.example/f A title"}},
		"without quotes": {body: `<link rel=alternate type=application/atom+xml href=/f />`,
			want: []string{"https://blog.example/f"}},
		"in the body": {body: `<body><p>Text<link` + rss + `href="/f"></p>`,
			want: []string{"https://blog.example/f"}},
		"rel=feed": {body: `<link rel=feed href=/f>`, want: []string{"https://blog.example/f"}},
		"all formats": {body: `<link rel=alternate type=application/rss+xml href=/r><link rel=alternate ` +
			`type=application/atom+xml href=/a><link rel=alternate type=application/feed+json href=/j>`,
			want: []string{"https://blog.example/r", "https://blog.example/a", "https://blog.example/j"}},
		"comments last": {body: `<link` + rss + `title="Blog » Comments Feed" href="/comments/feed/"><link` + rss +
			`title="Blog » Feed" href="/feed/">`,
			want: []string{"https://blog.example/feed/ Blog » Feed",
				"https://blog.example/comments/feed/ Blog » Comments Feed"}},
		"twice": {body: `<link` + rss + `href="/f"><link` + rss +
			`title="F" href="https://BLOG.example:443/f#x">`, want: []string{"https://blog.example/f F"}},
		"with and without TLS": {body: `<link` + rss + `title="F" href="http://blog.example/f"><link` + rss +
			`href="https://blog.example/f">`, want: []string{"https://blog.example/f F"}},
		"JSON, if nothing else": {body: `<link rel=alternate type=application/json href=/feed.json>`,
			want: []string{"https://blog.example/feed.json"}},
		"a search index beside it": {body: `<link rel=alternate type=application/json href=/index.json><link` +
			rss + `href="/f">`, want: []string{"https://blog.example/f"}},
		"an API": {body: `<link rel=alternate type=application/json ` +
			`href=https://blog.example/wp-json/wp/v2/pages/8><link rel=alternate type=application/json+oembed ` +
			`href=/o>`},
		"twice under different types": {body: `<link rel=alternate type=application/rdf+xml href=/f><link` + rss +
			`href="/f">`, want: []string{"https://blog.example/f"}},
		"a stylesheet": {body: `<link rel="alternate stylesheet" type=text/xml href=/s><link ` +
			`rel=stylesheet type=text/css href=/t>`},
		"another language": {body: `<link rel=alternate hreflang=de href=/de>`},
		"the page itself": {body: `<link` + rss + `href=""><link` + rss + `href><link` + rss +
			`href="#top"><link` + rss + `href=".">`},
		"addresses that are none": {body: `<link` + rss + `href="javascript:alert(1)"><link` + rss +
			`href="data:application/rss+xml,x"><link` + rss + `href="http://[::1"><link` + rss +
			`href="file:///etc/passwd">`},
		"with a password": {body: `<link` + rss + `href="https://ann:secret@blog.example/f">`},
		"in a comment": {body: `<!-- <link` + rss + `href="/f"> --><link` + rss + `href="/g">`,
			want: []string{"https://blog.example/g"}},
		"in a script": {body: `<script>"<link` + rss + `href='/f'>"</script><textarea><link` + rss +
			`href="/h"></textarea><link` + rss + `href="/g">`, want: []string{"https://blog.example/g"}},
		"an attribute twice": {body: `<link` + rss + `href="/f" href="/g">`,
			want: []string{"https://blog.example/f"}},
		"broken off": {body: `<link` + rss + `href="/f"><link` + rss + `href="/g`,
			want: []string{"https://blog.example/f"}},
		"nothing": {},
		"no page": {body: "%PDF-1.7"},
		"an encoding": {body: "<meta charset=windows-1251><link" + rss +
			"title='\xcd\xee\xe2\xee\xf1\xf2\xe8' href=/f>", want: []string{"https://blog.example/f Новости"}},
		"a header": {links: []string{`</f>; rel="alternate"; type="application/atom+xml"; ` +
			`title="A, \"b\""`}, want: []string{`https://blog.example/f A, "b"`}},
		"headers": {links: []string{`<s.css>; rel=stylesheet, <f>; ` +
			`type=application/rss+xml;rel=alternate`, `</g>;rel=feed`},
			want: []string{"https://blog.example/about/f", "https://blog.example/g"}},
		"a header about another page": {links: []string{`</f>; rel="alternate"; type="application/atom+xml"; ` +
			`anchor="/other"`}},
		"a header, whatever the base": {body: `<base href=/b/>`, links: []string{`<f>; rel=feed`},
			want: []string{"https://blog.example/about/f"}},
		"a header that breaks off": {links: []string{`</f>; rel="alternate"; type="application/atom+xml`, `</g`,
			`</h>;`, `</i>;rel`, `;`, `<`, `</j>; rel="feed\`},
			want: []string{"https://blog.example/f", "https://blog.example/j"}},
		"an element before its header": {body: `<link` + rss + `title=T href=/f>`, links: []string{`</f>; rel=feed`},
			want: []string{"https://blog.example/f T"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Page(page, "text/html", test.links, []byte(test.body))
			if !slices.Equal(named(got), test.want) {
				t.Errorf("names %q, want %q", named(got), test.want)
			}
			if again := Read(Text(got)); !slices.Equal(again, got) {
				t.Errorf("kept as %v", again)
			}
		})
	}
}

// The output is bounded, whatever a page holds.
func TestPageBounds(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	many := strings.Repeat(`<link`+rss+`href="/f">`, 2000) + `<link` + rss + `href="/g">`
	var different strings.Builder
	for i := range 1000 {
		different.WriteString(`<link` + rss + `href="/` + strings.Repeat("f", i+1) + `">`)
	}
	for name, body := range map[string]string{
		"title": `<link` + rss + `title="` + long + `" href="/f">`, "many": many, "different": different.String(),
		"address": `<link` + rss + `href="/` + long + `"><link` + rss + `href="/f">`,
		"late":    `<link` + rss + `href="/f">` + strings.Repeat(" ", MaxPageBytes) + `<link` + rss + `href="/g">`,
	} {
		got := Page(page, "", nil, []byte(body))
		if len(got) == 0 || len(got) > MaxFeeds || got[0].URL != "https://blog.example/f" ||
			len(got[0].Title) > maxTitle {
			t.Errorf("%s: %d feeds, the first %.300v", name, len(got), got)
		}
		if name != "different" && len(got) != 1 {
			t.Errorf("%s: names %d feeds, want 1", name, len(got))
		}
	}
	if got := Page("https://ann:secret@blog.example/", "", nil, []byte(`<link`+rss+`href="f">`)); len(got) != 1 ||
		got[0].URL != "https://blog.example/f" {
		t.Errorf("a page with a password names %v", got)
	}
}

func TestMeant(t *testing.T) {
	const atom, json = "application/atom+xml", "application/feed+json"
	f := func(u, title, kind string) SiteFeed { return SiteFeed{feed.URL(u), title, kind} }
	for name, test := range map[string]struct {
		list []SiteFeed
		want feed.URL // "" for none
	}{
		"one":  {[]SiteFeed{f("/f", "F", "")}, "/f"},
		"none": {nil, ""},
		"two":  {[]SiteFeed{f("/f", "News", atom), f("/g", "Sport", atom)}, ""},
		"comments": {[]SiteFeed{f("/f", "Blog » Feed", atom),
			f("/comments/feed/", "Blog » Kommentar-Feed", atom)}, "/f"},
		"nothing but comments": {[]SiteFeed{f("/comments/feed/", "Comments", atom)}, "/comments/feed/"},
		"formats": {[]SiteFeed{f("/r", "Blog - RSS", "application/rss+xml"),
			f("/a", "Blog - Atom 1.0", atom), f("/j", "Blog (JSON Feed)", json)}, "/r"},
		"formats without titles":  {[]SiteFeed{f("/a", "", atom), f("/r", "", "application/rss+xml")}, "/a"},
		"one format twice":        {[]SiteFeed{f("/a", "", atom), f("/b", "", atom)}, ""},
		"formats of other things": {[]SiteFeed{f("/a", "News", atom), f("/r", "Podcast", "application/rss+xml")}, ""},
	} {
		if got, ok := Meant(test.list); got.URL != test.want || ok != (test.want != "") {
			t.Errorf("%s: %v %v, want %q", name, got.URL, ok, test.want)
		}
	}
}

func TestLend(t *testing.T) {
	for _, test := range []struct{ page, to, want feed.URL }{
		{"https://ann:s%20x@a.example/p", "https://a.example/f?x=1", "https://ann:s%20x@a.example/f?x=1"},
		{"https://ann:x@a.example/p", "http://a.example/f", "http://a.example/f"},
		{"https://ann:x@a.example/p", "https://a.example:8443/f", "https://a.example:8443/f"},
		{"https://ann:x@a.example/p", "https://b.example/f", "https://b.example/f"},
		{"https://ann:x@a.example/p", "https://www.a.example/f", "https://www.a.example/f"},
		{"https://a.example/p", "https://a.example/f", "https://a.example/f"},
	} {
		if got := Lend(test.page, test.to); got != test.want {
			t.Errorf("Lend(%s, %s) = %s, want %s", test.page, test.to, got, test.want)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("text/html", `</f>; rel="alternate"; type="application/atom+xml"; title="A"`,
		[]byte(`<base href="/b/"><link`+rss+`title="T" href="f">`))
	f.Add("text/html; charset=utf-16", `<a>;rel=feed,<b>;;`, []byte("\xff\xfe<\x00l\x00"))
	f.Fuzz(func(t *testing.T, contentType, header string, body []byte) {
		list := Page(page, contentType, []string{header}, body)
		if len(list) > MaxFeeds || !slices.Equal(Read(Text(list)), list) {
			t.Fatalf("%d feeds, kept as %q", len(list), Text(list))
		}
		for i, found := range list {
			u, err := feed.ParseURL(string(found.URL))
			if err != nil || u != found.URL || strings.Contains(string(u), "@") && u.Secret() &&
				!strings.Contains(string(u), "?") || len(found.Title) > maxTitle {
				t.Errorf("names %+v", found)
			}
			if slices.ContainsFunc(list[i+1:], func(other SiteFeed) bool { return other.URL == u }) {
				t.Errorf("names %s twice", u)
			}
		}
	})
}
