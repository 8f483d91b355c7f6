package fulltext_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/fulltext"
)

const at feed.URL = "https://example.com/2026/ferry.html"

// A page of a kind that publishers have: the article stands among links, forms and programs.
const page = `<!doctype html><html><head><title>The ferry | Coast News</title><script>track()</script></head><body>
<nav><ul><li><a href="/">Home</a><li><a href="/sport">Sport</a><li><a href="/weather">Weather</a></ul></nav>
<div class="sidebar"><h3>Most read</h3><a href="/a">A</a><a href="/b">B</a></div>
<article><h1>The ferry</h1>
<p>The ferry to the island was late again this morning, for the third time in a week, and nobody at the harbor, where
two hundred people waited in the rain, could say for how long that would go on.</p>
<p>Its captain, who has sailed the route for thirty years, said that the engine, a diesel from the nineties, had been
repaired <a href="engine.html">twice since May</a>, and that a third time, in her words, would be “one too many”.</p>
<figure><img src="../img/ferry.jpg" alt="The ferry"></figure>
<p>The county, which owns the ship, has set money aside for a new one, but, as a spokesman admitted, not for this year,
nor, as things are, for the next; until then passengers may take the bus, over the bridge, which takes an hour.</p>
</article>
<form action="/subscribe"><input name="mail"><button>Subscribe</button></form>
<footer>Imprint, terms, privacy</footer></body></html>`

func TestArticle(t *testing.T) {
	text, err := fulltext.Article(at, "text/html; charset=utf-8", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"late again this morning", "“one too many”", "takes an hour",
		`href="https://example.com/2026/engine.html"`, `src="https://example.com/img/ferry.jpg"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the article lacks %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"Sport", "Most read", "track()", "Subscribe", "Imprint"} {
		if strings.Contains(text, not) {
			t.Errorf("the article has %q:\n%s", not, text)
		}
	}
}

// A page is read in its own encoding.
func TestEncodings(t *testing.T) {
	latin := strings.NewReplacer("“", "\x93", "”", "\x94").Replace(page)
	text, err := fulltext.Article(at, "text/html; charset=windows-1252", []byte(latin))
	if err != nil || !strings.Contains(text, "“one too many”") {
		t.Errorf("%v, %s", err, text)
	}
}

func nested(tag string, n int) string {
	return strings.Repeat("<"+tag+">", n) + "text" + strings.Repeat("</"+tag+">", n)
}

// reopened is a page of which HTML makes millions of elements that do not stand there: what is bold stays so in each of
// the paragraphs that follow.
func reopened(attributes string, bold, paragraphs int) string {
	var b strings.Builder
	for i := range bold {
		fmt.Fprintf(&b, "<b id=%d%s>", i, attributes)
	}
	return "<p>" + b.String() + "</p>" + strings.Repeat("<p>x", paragraphs)
}

// misnested is a page of which HTML makes as many: what is bold is closed outside of what it was opened in.
func misnested() string {
	var b strings.Builder
	for i := range 250 {
		fmt.Fprintf(&b, "<b id=%d>", i)
	}
	once := b.String() + strings.Repeat("<div>", 250) + strings.Repeat("</b>", 8000) + strings.Repeat("</div>", 250)
	return strings.Repeat(once, 20)
}

// manyAttributes is a page of one tag.
func manyAttributes() string {
	var b strings.Builder
	for i := range 250_000 {
		fmt.Fprintf(&b, " %x", i)
	}
	return "<p" + b.String() + ">"
}

// Nothing that a page is makes its reading long, deep or large.
func TestHostilePages(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, fulltext.MaxPageBytes/len(s)) }
	words := strings.Repeat("<p>Words, words, and more words, which go on, and on, for ever.</p>", 1000)
	for name, test := range map[string]struct {
		kind, page string
		want       error
	}{
		"tags inside one another": {page: nested("div", 100_000), want: fulltext.ErrLimit},
		"deeper than pages are":   {page: nested("div", 200) + words, want: fulltext.ErrLimit},
		"unclosed":                {page: strings.Repeat("<div><b><i>", 20_000), want: fulltext.ErrLimit},
		"elements that never end": {page: fill("<b><p>x"), want: fulltext.ErrLimit},
		"bold to the end":         {page: reopened("", 500, 29_000), want: fulltext.ErrLimit},
		"attributes to the end": {page: reopened(strings.Repeat(" a b c d e f g", 30), 500, 29_000),
			want: fulltext.ErrLimit},
		"attributes":            {page: manyAttributes(), want: fulltext.ErrLimit},
		"paragraphs of the end": {page: fill("</p>"), want: fulltext.ErrLimit},
		"in the wrong order":    {page: misnested(), want: fulltext.ErrLimit},
		"in a drawing":          {page: "<svg><style>" + reopened("", 500, 29_000), want: fulltext.ErrNone},
		"without scripts": {page: "<img><noscript>" + reopened("", 500, 29_000) + "</noscript>",
			want: fulltext.ErrNone},
		"out of tables": {page: strings.Replace(reopened("", 400, 20_000), "</p>", "<table><td>"+
			strings.Repeat("</b>", 400)+"</table>", 1), want: fulltext.ErrLimit},
		"too large": {page: fill("text ") + "and more", want: fulltext.ErrLimit},
		"an article that is a book": {page: fill("<p>" + strings.Repeat("Words, and words. ", 60) + "</p>"),
			want: fulltext.ErrLimit},
		"nothing":             {page: "", want: fulltext.ErrNone},
		"a picture":           {kind: "image/png", page: "\x89PNG", want: fulltext.ErrNotPage},
		"a type that is none": {kind: "text/html/x; =", page: page, want: fulltext.ErrNotPage},
		"a template":          {page: fill("<template>"), want: fulltext.ErrLimit},
		"frames":              {page: "<frameset>" + strings.Repeat("<frame>", 20), want: fulltext.ErrNone},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			text, err := fulltext.Article(at, test.kind, []byte(test.page))
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
				t.Errorf("it takes %d MiB of memory in all", took)
			}
			if !errors.Is(err, test.want) || text != "" {
				t.Errorf("%v with %d bytes of text, want %v", err, len(text), test.want)
			}
		})
	}
}

func FuzzArticle(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte(nested("table", 30)))
	f.Add([]byte("<svg><template><math><p>x</svg><select><p>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		text, err := fulltext.Article(at, "", page)
		if (text == "") != (err != nil) || len(text) > fulltext.MaxBytes+1024 {
			t.Fatal(len(text), err)
		}
	})
}

// The worst pages within the limits that are known: BenchmarkArticle says what one costs.
func BenchmarkArticle(b *testing.B) {
	most := func(s string, tags int) string { return strings.Repeat(s, fulltext.MaxElements/tags-1) }
	deep := strings.Repeat("<div><p>Words, words, words, and more words, over and over.</p>", 60) +
		strings.Repeat("</div>", 60)
	for name, page := range map[string]string{
		"a page": page, "paragraphs": most("<p>This is a sentence, with a comma, and some more words in it.</p>", 1),
		"deep": most(deep, 120), "bold": most("<b><p>x", 2), "empty": most("<p>", 1), "links": most("<a href=x>y", 1),
		"lists": most("<ul><li>x, y<li>z</ul>", 3), "headings": most("<h1>t</h1><h2>t</h2>", 2),
		"attributes": most(`<p a b c="words" d>Words, words, and more words.`, 1),
	} {
		b.Run(name, func(b *testing.B) {
			var text string
			var err error
			for b.Loop() {
				text, err = fulltext.Article(at, "", []byte(page))
			}
			b.ReportMetric(float64(len(text)), "text-bytes")
			b.Logf("%d bytes, %v", len(page), err)
		})
	}
}
