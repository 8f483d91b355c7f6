package main

import (
	"strings"
	"unicode/utf8"

	"feedex/safehtml"
)

// printable makes text from outside safe and tidy for one line of a terminal, which it could steer else, or pose as a
// message of ours.
func printable(s string) string { return safehtml.Line(s) }

// plainTitle is a title as published, markup and all, as one line of plain text.
func plainTitle(title string) string { return safehtml.Title(title) }

// shorten cuts s to at most n characters, the last of which then is an ellipsis.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}
