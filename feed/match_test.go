package feed_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"feedex/feed"
)

func TestParseMatch(t *testing.T) {
	for _, c := range []struct{ text, canonical string }{
		{`election`, `election`},
		{"  two \t words ", `two words`},
		{`a AND b`, `a b`},
		{`a OR b AND c d`, `a OR b c d`},
		{`(a OR b) c`, `(a OR b) c`},
		{`(a b) OR ((c))`, `a b OR c`},
		{`a (b (c d))`, `a b c d`},
		{`a NOT b`, `a NOT b`},
		{`NOT (a OR b)`, `NOT (a OR b)`},
		{`NOT NOT a`, `a`},
		{`NOT a b`, `NOT a b`},
		{`"climate change"*`, `"climate change*"`},
		{`"one"`, `one`},
		{`emission* c++ 3.14 foo:bar well-known --x`, `emission* c++ 3.14 foo:bar well-known --x`},
		{`-a -"b c" -(d OR e) -title:f`, `NOT a NOT "b c" NOT (d OR e) NOT title:f`},
		{`a OR -b* "-c" d"-e" NOT -f`, `a OR NOT b* "-c" d "-e" f`},
		{`and "OR" not`, `and "OR" not`},
		{`x"y z"(w)`, `x "y z" w`},
		{`日本* OR сервер`, `日本* OR сервер`},
		{`title:storm author:"Jane Doe" category:a*`, `title:storm author:"Jane Doe" category:a*`},
		{`Title:storm AUTHOR:"one"`, `title:storm author:one`},
		{`NOT feed:https://example.com/feed.xml OR title:OR`, `NOT feed:https://example.com/feed.xml OR title:"OR"`},
		{`"title:foo" title:title:x a:title:b`, `"title:foo" title:"title:x" a:title:b`},
		{`author:"jane d"*`, `author:"jane d*"`},
		{`(feed:a)title:b`, `feed:a title:b`},
	} {
		m, err := feed.ParseMatch(c.text)
		if err != nil || m.String() != c.canonical {
			t.Errorf("%s: %s, %v; want %s", c.text, m, err, c.canonical)
		}
	}
}

func TestMatchErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		words  string
	}{
		{``, 1, "missing"},
		{`a AND`, 6, "missing"},
		{`a NOT`, 6, "missing"},
		{`OR a`, 1, "OR joins nothing"},
		{`a AND OR b`, 7, "OR joins nothing"},
		{`é (b`, 3, "never closed"},
		{`a b) c`, 4, "closes nothing"},
		{`a ()`, 4, `before this ")"`},
		{`日本 "b c`, 4, "never closed"},
		{`a !? b`, 3, "no letter"},
		{`a - b`, 3, "no letter"},
		{`a -"b`, 4, "never closed"},
		{strings.Repeat("NOT -", 9) + "a", 41, "too deep"},
		{`"" a`, 1, "no letter"},
		{`*`, 1, "no letter"},
		{strings.Repeat("(", 17) + "a", 17, "too deep"},
		{strings.Repeat("NOT ", 17) + "a", 65, "too deep"},
		{strings.Repeat("a ", 33), 65, "more than 32"},
		{"b " + strings.Repeat("a", 257), 3, "257 bytes"},
		{strings.Repeat("a", 1025), 1, "1025 bytes"},
		{strings.Repeat(`b"c"`, 15) + strings.Repeat("-", 250) + ` "` + strings.Repeat("-", 960-252-60) + `x"`, 61,
			"no letter"},
		{"a\xff", 1, "UTF-8"},
		{`a title:`, 9, "behind title:"},
		{`title: storm`, 7, "behind title:"},
		{`title:(a OR b)`, 7, "behind title:"},
		{`Author:)`, 8, "behind Author:"},
		{`title:"b`, 7, "never closed"},
		{`feed:://`, 1, "no letter"},
		{`a author:"!"`, 10, "no letter"},
	} {
		m, err := feed.ParseMatch(c.text)
		var at *feed.MatchError
		if !errors.As(err, &at) || at.Column != c.column || !strings.Contains(at.Problem, c.words) {
			t.Errorf("%.40s: %v, %v; want an error at column %d that says %q", c.text, m, err, c.column, c.words)
		}
	}
}

// The canonical text of every Match is read as that Match.
func TestMatchText(t *testing.T) {
	var draw func(rt *rapid.T, levels int) string
	draw = func(rt *rapid.T, levels int) string {
		kind := rapid.IntRange(0, 5).Draw(rt, "kind")
		if levels == 0 || kind == 0 {
			return rapid.SampledFrom([]string{"a", "b*", `"c d"`, `"AND"`, `"(e"*`, "not", `"f*"`, `"-g"`,
				"title:a", `author:"b c"*`, `"feed:d"`, "category:feed:e", `Feed:"NOT"`}).Draw(rt, "term")
		}
		left, right := draw(rt, levels-1), draw(rt, levels-1)
		return [...]string{"", left + " " + right, left + " OR " + right, "NOT " + left, "(" + left + ")",
			"-(" + left + ")"}[kind]
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := draw(rt, 3)
		m, err := feed.ParseMatch(text)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		again, err := feed.ParseMatch(m.String())
		if err != nil || !reflect.DeepEqual(again, m) {
			rt.Fatalf("%s is written %s and read %+v, %v; want %+v", text, m, again, err, m)
		}
	})
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
		title []string
		match string
	}{
		{`a "b c" d*`, []string{"a", "b c", "d*"}, nil, ""},
		{`a (b OR c) NOT d`, []string{"a"}, nil, `(b OR c) NOT d`},
		{`a OR b`, nil, nil, `a OR b`},
		{`title:"a b" c author:d title:e`, []string{"c"}, []string{"a b", "e"}, `author:d`},
	} {
		m, err := feed.ParseMatch(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var f feed.Filter
		f.Ask(m)
		if !reflect.DeepEqual(f.Words, c.words) || !reflect.DeepEqual(f.Title, c.title) ||
			f.Match.String() != c.match {
			t.Errorf("%s: words %q, title %q and match %s, want %+v", c.text, f.Words, f.Title, f.Match, c)
		}
	}
	var f feed.Filter
	for _, text := range []string{"a OR b", "c", "NOT d"} {
		m, _ := feed.ParseMatch(text)
		f.Ask(m)
	}
	if f.Match.String() != "(a OR b) NOT d" {
		t.Errorf("asked three times: %v", f.Match)
	}
}

func FuzzParseMatch(f *testing.F) {
	f.Add(`a OR (b NOT "c d"*) "-e"`)
	f.Add(`title:a author:"b c"* OR "feed:d" NOT category:feed:e`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := feed.ParseMatch(text)
		if err != nil {
			return
		}
		again, err := feed.ParseMatch(m.String())
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%q is written %q and read %+v, %v; want %+v", text, m, again, err, m)
		}
	})
}
