package feed_test

import (
	"testing"
	"unicode/utf8"

	"feedex/feed"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"plain\ttext\r\n":            "plain\ttext\n",
		"\r\r\n\n\ra":                "\n\n\n\na",
		"caf\u00e9 \U0001f600":       "caf\u00e9 \U0001f600",
		"bell\a, escape\x1b[m, \x7f": "bell, escape[m, ",
		"C1 \u0085 control":          "C1  control",
		"\xff":                       "\ufffd",
		"latin-1 caf\xe9":            "latin-1 caf\ufffd",
		"cut \xe2\x82":               "cut \ufffd\ufffd",
		"surrogate \xed\xa0\x80":     "surrogate \ufffd\ufffd\ufffd",
		"\ufffe\uffff":               "\ufffd\ufffd",
		"honest \ufffd":              "honest \ufffd",
	} {
		got := feed.Clean(in)
		if got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
		if !utf8.ValidString(got) || feed.Clean(got) != got {
			t.Errorf("Clean(%q) = %q is not clean", in, got)
		}
	}
}
