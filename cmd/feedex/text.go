package main

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes text from outside safe and tidy for one line of a terminal: control characters,
// with which it could move the cursor or pose as a message of ours, and characters that reorder
// what is around them are dropped; runs of blanks and line ends become one space.
func printable(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError, r == '\u2028', r == '\u2029':
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// plainTitle is a title as published, markup and all, as one line of plain text.
func plainTitle(title string) string {
	return printable(html.UnescapeString(dropTags(title)))
}

// dropTags removes what a browser would take for a tag: "<" before a letter or "/", up to the next ">".
// Other uses of "<" stay, so that "a < b" survives.
func dropTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		end := strings.IndexByte(s[i:], '>')
		if end < 0 {
			break
		}
		b.WriteString(s[:i])
		if opensTag(s[i+1:]) {
			s = s[i+end+1:]
		} else {
			b.WriteByte('<')
			s = s[i+1:]
		}
	}
	b.WriteString(s)
	return b.String()
}

// opensTag reports whether s, which follows a "<", is the rest of a tag.
func opensTag(s string) bool {
	s = strings.TrimPrefix(s, "/")
	return s != "" && ('a' <= s[0] && s[0] <= 'z' || 'A' <= s[0] && s[0] <= 'Z' || s[0] == '!')
}

// shorten cuts s to at most n characters, the last of which then is an ellipsis.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}
