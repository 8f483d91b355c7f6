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
		{`emission* c++ 3.14 -x foo:bar`, `emission* c++ 3.14 -x foo:bar`},
		{`and "OR" not`, `and "OR" not`},
		{`x"y z"(w)`, `x "y z" w`},
		{`日本* OR сервер`, `日本* OR сервер`},
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
		kind := rapid.IntRange(0, 4).Draw(rt, "kind")
		if levels == 0 || kind == 0 {
			return rapid.SampledFrom([]string{"a", "b*", `"c d"`, `"AND"`, `"(e"*`, "not", `"f*"`}).Draw(rt, "term")
		}
		left, right := draw(rt, levels-1), draw(rt, levels-1)
		return [...]string{"", left + " " + right, left + " OR " + right, "NOT " + left, "(" + left + ")"}[kind]
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
		match string
	}{
		{`a "b c" d*`, []string{"a", "b c", "d*"}, ""},
		{`a (b OR c) NOT d`, []string{"a"}, `(b OR c) NOT d`},
		{`a OR b`, nil, `a OR b`},
	} {
		m, err := feed.ParseMatch(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var f feed.Filter
		f.Ask(m)
		if !reflect.DeepEqual(f.Words, c.words) || f.Match.String() != c.match {
			t.Errorf("%s: words %q and match %s, want %q and %s", c.text, f.Words, f.Match, c.words, c.match)
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
	f.Add(`a OR (b NOT "c d"*)`)
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
