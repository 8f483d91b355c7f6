package archive

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ markup, want string }{
		{"", ""},
		{"plain", "plain"},
		{"a < b & c > d", "a < b & c > d"},
		{"&lt;p&gt; &amp;amp; &#65;&#x42; &hellip;", "<p> &amp; AB …"},
		{"<p>one</p><p>two</p>", " one  two "},
		{"w<b>o</b>r<wbr>d <a href=x>li</a>nk", "word link"},
		{"x<!-- hidden -->y", "xy"},
		{"<script>a</script>b<style>c</style>d", " b d"},
		{"<script/>a</script>b", " b"},
		{"<script></script>b", " b"},
		{"The <style> tag &amp; I", "The   tag &amp; I"},
		{"open <a href='", "open "},
		{"<textarea>a <b>c</b></textarea>", " a <b>c</b> "},
		{"a<![CDATA[b]]>c", "ac"},
		{"1<br>2<img src=x>3", "1 2 3"},
	} {
		if got := text(c.markup); got != c.want {
			t.Errorf("text(%q) = %q, want %q", c.markup, got, c.want)
		}
	}
}

// Markup comes from strangers: whatever it is, reading it takes time in proportion to its length.
func FuzzText(f *testing.F) {
	f.Add("<p>a &amp; <script>b</script>")
	f.Add(strings.Repeat("<", 1000) + "<!--")
	f.Add("<style>x")
	f.Fuzz(func(t *testing.T, markup string) {
		if got := text(markup); len(got) > 4*len(markup)+4 {
			t.Errorf("%d bytes of markup gave %d of text", len(markup), len(got))
		}
	})
}

// Tags that are read in a simpler way give the words that the tokenizer finds.
func TestTextOfPlainTags(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"<", "</", ">", "/>", "p", "b", "img", "title", "script", "xmp", "no-tag",
		"h1",
		" ", "\n", "\r", "\t", "/", "=", `"`, "'", ` alt="x"`, ` src="a>b" `, "class='c'", "&amp;", "&am", "&#65", ";",
		"word", "A", "!--", "-->", "?", "<p>", "</p>", "<b>", "</b>", `<a href="x">`, "</title>",
		"</script>", "\x00", "é"})
	rapid.Check(t, func(rt *rapid.T) {
		markup := strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(rt, "markup"), "")
		var b strings.Builder
		tokenized(&b, markup)
		if got, want := folded(text(markup)), folded(b.String()); got != want {
			t.Errorf("the words of %q are %q, by the tokenizer %q", markup, got, want)
		}
	})
}
