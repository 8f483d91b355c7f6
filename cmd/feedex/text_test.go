package main

import (
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestPlainTitle(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain text stays", "Go 1.26 is out", "Go 1.26 is out"},
		{"tags go", "the <b>bold</b> one<br/>", "the bold one"},
		{"entities are read", "R&amp;D &#8211; now", "R&D – now"},
		{"a lone less-than stays", "a < b and c > d", "a < b and c > d"},
		{"an open tag stays", "a <b", "a <b"},
		{"blanks and line ends become one space", "  two\n\t lines ", "two lines"},
		{"an escape sequence loses its escape", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"also when it hides in an entity", "&#27;[2J&#x9b;2J", "[2J›2J"},
		{"reordering is dropped", "abc\u202egpj.exe", "abcgpj.exe"},
		{"emoji stay whole", "👩‍💻 works", "👩‍💻 works"},
	} {
		if got := plainTitle(tt.in); got != tt.want {
			t.Errorf("%s: plainTitle(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestTitlesNeverHoldControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`([<>&;#/!a-b0-9x]|&#[0-9]{1,3};)*`)).Draw(t, "title")
		for _, r := range plainTitle(s) {
			if unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
				t.Fatalf("plainTitle(%q) holds %U", s, r)
			}
		}
	})
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"ab cdef", 4, "ab…"}, {"ééééé", 4, "ééé…"},
	} {
		if got := shorten(tt.in, tt.n); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
