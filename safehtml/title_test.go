package safehtml_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tokens "golang.org/x/net/html"
	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/safehtml"
)

// The meaning of published titles, and the labels that programs that read feeds are given of them.
func TestTitle(t *testing.T) {
	for name, tc := range map[string]struct{ published, title, label string }{
		"text": {"Go 1.26 is out", "Go 1.26 is out", ""},
		"signs that are no markup": {
			"AT&T, R&D: 1 < 2 && b -> c, I <3 U, a <= b",
			"AT&T, R&D: 1 < 2 && b -> c, I <3 U, a <= b",
			"",
		},
		"an address":                {"?page=1&copy=2", "?page=1&copy=2", "?page=1＆copy=2"},
		"an element":                {"the <b>bold</b> one", "the bold one", ""},
		"a word of elements":        {"<b>H</b>ello, <sub>2</sub>O", "Hello, 2O", ""},
		"elements that stand apart": {"<p>One</p><p>Two</p>", "One Two", ""},
		"a link":                    {`<a href="javascript:alert(1)">a</a>`, "a", ""},
		"an element within another": {`<i><b>a</b> b</i>`, "a b", ""},
		"a line break":              {"One<br>Two<br />Three <br/> Four", "One Two Three Four", ""},
		"a rule":                    {"<p>Title</p><hr/>", "Title", ""},
		"where a word may be cut":   {"Donau<wbr>dampf", "Donaudampf", ""},
		"nothing but markup":        {"<br>", "", ""},
		"a picture with a name":     {`<img src="s.png" alt=":-)" class="smiley"> smile`, ":-) smile", ""},
		"a tag that is spoken of":   {"What <b> does", "What <b> does", "What ＜b＞ does"},
		"one in capitals":           {"What <B> does", "What <B> does", "What ＜B＞ does"},
		"one that closes nothing":   {"What </b> ends", "What </b> ends", "What ＜/b＞ ends"},
		"an element without anything": {
			"Use <em></em> for <i></i>",
			"Use <em></em> for <i></i>",
			"Use ＜em＞＜/em＞ for ＜i＞＜/i＞",
		},
		"an element and a tag": {"<i>The</i> <i> of HTML", "The <i> of HTML", "The ＜i＞ of HTML"},
		"a type": {
			"Vec<T> and map<string, []byte>",
			"Vec<T> and map<string, []byte>",
			"Vec＜T＞ and map＜string, []byte＞",
		},
		"a line break as a word":  {"The <br> tag", "The <br> tag", "The ＜br＞ tag"},
		"an element for programs": {"The <dialog> element", "The <dialog> element", "The ＜dialog＞ element"},
		"an element that hides the rest": {
			"<title> and <style>, <script>, <textarea> b",
			"<title> and <style>, <script>, <textarea> b",
			"＜title＞ and ＜style＞, ＜script＞, ＜textarea＞ b",
		},
		"a declaration": {
			"<!DOCTYPE html> and <?php ?>",
			"<!DOCTYPE html> and <?php ?>",
			"＜!DOCTYPE html＞ and ＜?php ?＞",
		},
		"a comment":                   {"<!--:en-->Title<!--:-->", "Title", ""},
		"a tag that is cut":           {"a <b", "a <b", "a ＜b"},
		"a cut that may become a tag": {"a <", "a <", "a ＜"},
		"a section in a section":      {"<![CDATA[<b>a</b> &amp; b]]>", "a & b", ""},
		"escaped":                     {"R&amp;D &#8211; now &lt;3", "R&D – now <3", ""},
		"an escaped tag": {
			"Die Rückkehr von &lt;i&gt;",
			"Die Rückkehr von <i>",
			"Die Rückkehr von ＜i＞",
		},
		"a tag within an element": {"<code>&lt;entry></code> has", "<entry> has", "＜entry＞ has"},
		"escaped twice by mistake": {
			"I&amp;#039;m A &amp;quot;Guest&amp;quot; &amp;amp; more",
			`I'm A "Guest" & more`,
			"",
		},
		"an escaped tag, escaped": {
			"How to write &amp;lt;b&amp;gt;",
			"How to write &lt;b&gt;",
			"How to write ＆lt;b＆gt;",
		},
		"once more":             {"&amp;amp;lt;b&amp;amp;gt;", "&lt;b&gt;", "＆lt;b＆gt;"},
		"a reference in pieces": {"&a<i>m</i>p;lt;", "&lt;", "＆lt;"},
		"a program": {
			"a<script>alert(1)</script>",
			"a<script>alert(1)</script>",
			"a＜script＞alert(1)＜/script＞",
		},
		"an event": {"x<img src=x onerror=alert(1)>", "x", ""},
		"an escaped event": {
			"&lt;img src=x onerror=alert(1)&gt;",
			"<img src=x onerror=alert(1)>",
			"＜img src=x onerror=alert(1)＞",
		},
		"a drawing": {"<svg/onload=alert(1)>", "<svg/onload=alert(1)>", "＜svg/onload=alert(1)＞"},
		"a program in a program": {
			"<scr<script>ipt>alert(1)",
			"<scr<script>ipt>alert(1)",
			"＜scr＜script＞ipt>alert(1)",
		},
		"lines":                {" two\n\t lines\u2028and\u0085more ", "two lines and more", ""},
		"an escape sequence":   {"\x1b[31mred\x1b[0m\a\x00", "[31mred[0m", ""},
		"an escaped one":       {"&#27;[2J&#x9b;2J&#0;", "[2J›2J\uFFFD", ""},
		"half a pair":          {"a\xed\xa0\x80&#xD800;b", "a\uFFFD\uFFFD\uFFFD\uFFFDb", ""},
		"another direction":    {"abc\u202egpj.exe\u2066x\u2069\u202a", "abcgpj.exex", ""},
		"an escaped direction": {"abc&#x202e;gpj.exe", "abcgpj.exe", ""},
		"marks of direction":   {"\u200fשלום\u200f (1)", "\u200fשלום\u200f (1)", ""},
		"joiners":              {"👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم", ""},
		"nothing":              {"", "", ""},
	} {
		if tc.label == "" {
			tc.label = tc.title
		}
		if got := safehtml.Title(tc.published); got != tc.title {
			t.Errorf("%s: Title(%q) = %q, want %q", name, tc.published, got, tc.title)
		}
		if got := safehtml.Label(tc.published); got != tc.label {
			t.Errorf("%s: Label(%q) = %q, want %q", name, tc.published, got, tc.label)
		}
	}
}

// However long a title is, what is shown is bounded, and so is what it costs.
func TestLongTitles(t *testing.T) {
	for _, part := range []string{
		"x", "é ", "<b>", "<b>x</b>", "</b>", "&amp;", "&#", "<!--", "<img src=", "\u202e", "<a href='",
	} {
		published := strings.Repeat(part, 1<<20/len(part))
		for _, got := range []string{safehtml.Title(published), safehtml.Label(published)} {
			if n := utf8.RuneCountInString(got); n > safehtml.MaxTitle || !strings.HasSuffix(got, "…") ||
				!utf8.ValidString(got) {
				t.Errorf("of %q a million times: %d characters, %.40q", part, n, got)
			}
		}
	}
	fits := strings.Repeat("é", safehtml.MaxTitle)
	if got := safehtml.Title(fits); got != fits {
		t.Errorf("a title that fits was cut to %.20q", got)
	}
}

// genTitle makes titles of pieces of markup.
var genTitle = rapid.OneOf(rapid.String(),
	rapid.StringMatching(`([<>&;#/!?a-b0-9x '"=-]|&(amp;)*(lt|gt|amp|quot|#60|#x3c|copy);?`+
		`|</?(b|i|br|p|img src=x|script|T)>?|[\x{202e}\x{2067}\x{1b}\x{fffd}])*`))

// Whatever is published, a label is the same whether a program takes it for text or for HTML, once or several times,
// and has nothing that acts on what is around it.
func TestLabelsAreInert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		published := genTitle.Draw(t, "title")
		title, label := safehtml.Title(published), safehtml.Label(published)
		for _, s := range []string{title, label} {
			for _, r := range s {
				if unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
					t.Fatalf("%q became %q, which holds %U", published, s, r)
				}
			}
			if strings.Join(strings.Fields(s), " ") != s {
				t.Fatalf("%q became %q, which is no line", published, s)
			}
		}
		if html.UnescapeString(label) != label {
			t.Fatalf("%q became %q, which HTML reads as %q", published, label, html.UnescapeString(label))
		}
		z := tokens.NewTokenizer(strings.NewReader(label + "b"))
		for kind := z.Next(); kind != tokens.ErrorToken; kind = z.Next() {
			if kind != tokens.TextToken {
				t.Fatalf("%q became %q, which holds %s", published, label, z.Raw())
			}
		}
		if again := safehtml.Label(label); again != label {
			t.Fatalf("%q became %q and then %q", published, label, again)
		}
		text, err := json.Marshal(label)
		if err != nil || !json.Valid(text) {
			t.Fatal(err)
		}
	})
}

// Plain text is shown as it is: Atom and JSON Feed say so of a title, and it is kept as HTML that means the same.
func TestTextOfFeedsIsShownAsItIs(t *testing.T) {
	for _, title := range []string{
		"What <b> does", "Use <em></em>", "a <b>b</b> c", "How to write &lt;b>", "Vec<T>", "<script>alert(1)</script>",
		"1 < 2 & 3 > 2",
	} {
		document, err := json.Marshal(map[string]any{
			"version": "https://jsonfeed.org/version/1.1", "title": title,
			"items": []any{map[string]any{"id": "1", "title": title}},
		})
		if err != nil {
			t.Fatal(err)
		}
		element := `<title type="text">` + html.EscapeString(title) + `</title>`
		atom := `<feed xmlns="http://www.w3.org/2005/Atom">` + element + `<entry><id>1</id>` + element +
			`</entry></feed>`
		for _, body := range []string{string(document), atom} {
			doc, err := feed.Parse("https://example.com/feed", "", []byte(body), noon)
			if err != nil {
				t.Fatal(err)
			}
			if got, of := safehtml.Title(doc.Entries[0].Title), safehtml.Title(doc.Title); got != title || of != title {
				t.Errorf("%q is shown as %q and %q, by way of %q and %q", title, got, of,
					doc.Entries[0].Title, doc.Title)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	longest := "https://example.com/" + strings.Repeat("a", feed.MaxLinkBytes-len("https://example.com/"))
	for address, want := range map[string]string{
		longest: "=", longest + "a": "",
		"https://example.com/a": "=", "HTTP://example.com": "=", "mailto:a@example.com": "=",
		"magnet:?xt=urn:btih:1":                "=",
		"https://example.com/?a=1&b=2+3#x'(é)": "=",
		"javascript:alert(1)":                  "", " JavaScript:alert(1)": "", "java\tscript:alert(1)": "",
		"vbscript:x": "", "data:text/html,x": "",
		"file:///etc/passwd": "", "blob:https://example.com/1": "", "ms-msdt:/id": "", "": "", "/a": "",
		`https://example.com/"onclick="alert(1)`:     "https://example.com/%22onclick=%22alert(1)",
		"https://example.com/><script>alert(1)\n\\`": "https://example.com/%3E%3Cscript%3Ealert(1)%0A%5C%60",
		"https://example.com/\u202egpj.exe\x1b":      "https://example.com/%E2%80%AEgpj.exe",
	} {
		if want == "=" {
			want = address
		}
		if got := safehtml.Link(address); got != want {
			t.Errorf("%q became %q, want %q", address, got, want)
		}
	}
}

// Of an entry nothing is left but its HTML that a program must treat.
func TestEntry(t *testing.T) {
	files := []feed.Enclosure{
		{URL: "javascript:alert(1)"}, {URL: "https://example.com/a.mp3", Type: `audio/mpeg"><script>`, Length: 1},
		{URL: "https://example.com/b", Type: "<b>"},
	}
	authors, categories := []string{"Ann &amp; <b>Bob</b>", "\u202e"}, []string{"<script>", "Q&amp;A"}
	e := feed.Entry{
		Title: "a &lt;b&gt;", Link: "javascript:alert(1)", Authors: authors, Categories: categories, Enclosures: files,
		Summary: "<b>s",
		Extras: feed.Extras{Duration: time.Hour, Image: "javascript:alert(1)",
			Chapters: feed.Companion{URL: "https://example.com/{c}"},
			Transcripts: []feed.Companion{{URL: "javascript:t"},
				{URL: "https://example.com/\u202et", Type: "text/vtt"}}},
	}
	safehtml.Entry(&e)
	want := feed.Entry{
		Title: "a ＜b＞", Authors: []string{"Ann & Bob"}, Categories: []string{"＜script＞", "Q&A"}, Summary: "<b>s",
		Enclosures: []feed.Enclosure{{URL: "https://example.com/a.mp3", Type: "audio/mpeg", Length: 1},
			{URL: "https://example.com/b"}},
		Extras: feed.Extras{Duration: time.Hour, Chapters: feed.Companion{URL: "https://example.com/%7Bc%7D"},
			Transcripts: []feed.Companion{{URL: "https://example.com/%E2%80%AEt", Type: "text/vtt"}}},
	}
	if !e.Equal(&want) {
		t.Errorf("%+v is left, want %+v", e, want)
	}
	if files[0].URL == "" || authors[1] == "" || categories[0] != "<script>" {
		t.Error("the lists were changed, which others may have")
	}
}
