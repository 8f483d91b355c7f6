package archive

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"feedex/feed"
)

func folded(s string) string { return string(appendFolded(nil, s)) }

func TestFoldWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Hello, World!", " hello world"},
		{"snake_case x-ray 3.14", " snake case x ray 3 14"},
		{"Ünïcödé e\u0301\u0323", " unicode e"},
		{"Σίσυφος ΣΊΣΥΦΟΣ", " σισυφοσ σισυφοσ"},
		{"İstanbul ISTANBUL ıstanbul", " istanbul istanbul istanbul"},
		{"soft\u00ADhyphen zero\u200Dwidth zero\u200Bspace", " softhyphen zerowidth zero space"},
		{"日本語、テスト", " 日 本 語 テ ス ト"},
		{"2026年SF小説ラーメン", " 2026 年 sf 小 説 ラ ー メ ン"},
		{"서울 ㅋㅋ", " \u1109\u1165 \u110B\u116E\u11AF ㅋ ㅋ"}, // syllables, decomposed
		{"ภาษาไทยx", " ภ า ษ า ไ ท ย x"},
		{"ភាសាខ្មែរ", " ភា សា ខ មែ រ"}, // vowels that take room stay with their letter
		{"हिन्दी", " हिनदी"},           // the virama is a nonspacing mark
		{"\uE000private ½ ² Ⅳ", " \uE000private ½ ² ⅳ"},
		{"a\uFFFDb\xffc", " a b c"},
		{"\u0301\u0302", ""},
	} {
		if got := folded(c.text); got != c.want {
			t.Errorf("folded(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// Folded text stays as it is when it is folded again, so it does not matter whether a phrase was. It holds no ASCII but
// lower-case letters, digits and blanks, so it can neither be syntax of an index nor be taken apart by one.
func TestFoldEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		got := folded(string(r))
		if again := folded(got); again != got {
			t.Errorf("%U folds to %q and then to %q", r, got, again)
		}
		for i := range len(got) {
			if b := got[i]; b < utf8.RuneSelf && b != ' ' && (b < 'a' || b > 'z') && (b < '0' || b > '9') {
				t.Errorf("%U folds to %q", r, got)
			}
		}
		if word := unicode.In(r, unicode.L, unicode.N, unicode.Co); word &&
			(len(got) < 2 || strings.Contains(got[1:], " ")) {
			t.Errorf("%U, part of a word, folds to %q", r, got)
		}
	}
}

func TestFoldLongWord(t *testing.T) {
	if got := folded(strings.Repeat("ab", 1000) + " c"); got != " "+strings.Repeat("ab", 127)+"a c" {
		t.Errorf("a long word folds to %q", got)
	}
	// Whole letters are cut off, and nothing slips in behind them.
	if got := folded("x" + strings.Repeat("ह", 84) + "éyहz"); got != " x"+strings.Repeat("ह", 84)+"ey" {
		t.Errorf("a long word folds to %q", got)
	}
	if got := folded(strings.Repeat("ह", 84) + "xxहz"); got != " "+strings.Repeat("ह", 84)+"xx" {
		t.Errorf("a long word folds to %q", got)
	}
}

func TestFoldEntry(t *testing.T) {
	title, rest := Fold(&feed.Entry{
		Title: "The <b>T</b>itle", Summary: "one&nbsp;two", Content: "<p>three", Authors: []string{"Ann Lee", "<Bob>"},
		Categories: []string{"a/b"}, Link: "https://example.org/", ID: "id",
	})
	if title != " the title " {
		t.Errorf("title = %q", title)
	}
	if want := " ann lee ¶ bob ¶ a b ¶ one two ¶ three "; rest != want {
		t.Errorf("rest = %q, want %q", rest, want)
	}
	title, rest = Fold(&feed.Entry{Content: "alone"})
	if title != " " || rest != " ¶ alone " {
		t.Errorf("title = %q, rest = %q", title, rest)
	}
	title, rest = Fold(&feed.Entry{Summary: "same", Content: "same"})
	if title != " " || rest != " same " {
		t.Errorf("title = %q, rest = %q", title, rest)
	}
}

// Of a text without an end the beginning counts, in whole words, and all names.
func TestFoldLongEntry(t *testing.T) {
	const most = MaxFoldedBytes + maxWordBytes + len(fieldBreak) + 2
	for _, word := range []string{"a ", "zwölf ", "語 ", "가 ", strings.Repeat("x", 300) + " ", "<p>tag</p>"} {
		long := strings.Repeat(word, 1<<20/len(word))
		for _, e := range []feed.Entry{
			{Authors: []string{"Ann"}, Categories: []string{"last"}, Summary: long},
			{Authors: []string{"Ann"}, Categories: []string{"last"}, Content: long},
			{Authors: []string{"Ann"}, Categories: []string{"last"}, Summary: long, Content: long + "more"},
		} {
			_, rest := Fold(&e)
			first := string(appendFolded(nil, text(word)))
			if len(rest) < MaxFoldedBytes || len(rest) > most || !strings.HasPrefix(rest, " ann ¶ last ¶") ||
				!utf8.ValidString(rest) {
				t.Errorf("%d bytes of %.10q fold to %d, %.30q…", len(long), word, len(rest), rest)
			}
			if tail := strings.TrimSuffix(rest, " ¶ "); !strings.HasSuffix(strings.TrimSuffix(tail, " "), first) {
				t.Errorf("%.10q: it ends with %q", word, rest[len(rest)-40:])
			}
		}
	}
}

func TestPhrases(t *testing.T) {
	got := Phrases([]string{"Foo", "", "bar*", "*", "two Words*", "c++*", "x* y", "e\u0301*", "z **"})
	want := []Phrase{
		{"foo", false}, {"bar", true}, {"two words", true}, {"c", false}, {"x y", false}, {"e", true}, {"z", false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("Phrases = %v, want %v", got, want)
	}
}

// Text of ASCII is folded by bytes to what it is by runes, also where words are too long and where room ends.
func TestFoldBytesAsRunes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.OneOf(rapid.RuneFrom([]rune("aZ09 .")), rapid.RuneFrom(nil, &unicode.RangeTable{
			R16: []unicode.Range16{{Lo: 0, Hi: unicode.MaxASCII, Stride: 1}}, LatinOffset: 1}))
		s := rapid.StringOfN(some, -1, 900, -1).Draw(rt, "s")
		s += strings.Repeat("a", rapid.IntRange(0, 2*maxWordBytes).Draw(rt, "more")) + s
		limit := rapid.IntRange(0, 1000).Draw(rt, "limit")
		if got, want := appendFoldedBytes(nil, s, limit), appendFoldedRunes(nil, s, limit); !bytes.Equal(got, want) {
			rt.Fatalf("by bytes %q, by runes %q", got, want)
		}
	})
}
