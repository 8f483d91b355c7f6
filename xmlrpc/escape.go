package xmlrpc

import (
	"unicode/utf8"
)

// verbatim[c] is set where the byte c of valid UTF-8 can stand in XML text as it is. 0xEF is not:
// it may begin one of the two characters that XML forbids.
var verbatim = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= 0x20 || c == '\t' || c == '\n'
	}
	for _, c := range []byte{'&', '<', '>', 0xEF} {
		table[c] = false
	}
	return table
}()

// appendText appends s as XML text.
func appendText(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // U+FFFD for each byte that is not UTF-8
	}
	done := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if verbatim[c] || c == 0xEF && !forbidden(s[i:]) {
			continue
		}
		dst = append(dst, s[done:i]...)
		switch c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '\r':
			dst = append(dst, "&#13;"...)
		case 0xEF:
			dst = append(dst, "\uFFFD"...)
			i += len("\uFFFE") - 1
		default:
			dst = append(dst, "\uFFFD"...)
		}
		done = i + 1
	}
	return append(dst, s[done:]...)
}

// forbidden reports whether s begins with U+FFFE or U+FFFF. XML forbids no other characters but
// the control characters below U+0020 and the surrogates, which UTF-8 cannot hold.
func forbidden(s string) bool {
	return len(s) >= 3 && (s[:3] == "\uFFFE" || s[:3] == "\uFFFF")
}
