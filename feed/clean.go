package feed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes s fit to be hashed, stored and sent: valid UTF-8 without control characters other than
// tab and newline. A return, with a newline or without, becomes a newline; bytes that are not UTF-8 and the two
// non-characters that XML forbids become U+FFFD; other control characters are dropped. Clean(Clean(s)) == Clean(s).
//
// Every string of an Entry is cleaned before its digest is taken, because XML could not carry the
// rest, or few libraries would, and the digest would differ after one hop.
func Clean(s string) string {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
				return cleanRest(s, i)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 || cleanRune(r, n) != r { // one byte that is no ASCII is no UTF-8
			return cleanRest(s, i)
		}
		i += n
	}
	return s
}

// cleanRest cleans s, of which the first i bytes are clean.
func cleanRest(s string, i int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if c := cleanRune(r, n); c >= 0 && !strings.HasPrefix(s[i:], "\r\n") {
			b.WriteRune(c)
		}
		i += n
	}
	return b.String()
}

// cleanRune is the replacement of r, which took n bytes: itself, U+FFFD, or -1 for nothing.
func cleanRune(r rune, n int) rune {
	switch {
	case r == utf8.RuneError && n == 1, r == 0xFFFE, r == 0xFFFF:
		return utf8.RuneError
	case r == '\t', r == '\n':
		return r
	case r == '\r':
		return '\n'
	case unicode.IsControl(r):
		return -1
	}
	return r
}
