package opml

import (
	"html"
	"strings"
)

// unescape resolves references to characters. Text that is no reference stays: addresses often have an ampersand as it
// is.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), maxReference)], ';')
		plain := "&"
		if end > 0 && strings.IndexFunc(s[1:end], notInReference) < 0 {
			// The names that HTML knows without a semicolon are not meant: &copyright; is no ©right;.
			if r := html.UnescapeString(s[:end+1]); r == ";" || !strings.HasSuffix(r, ";") {
				plain = r
				s = s[end:]
			}
		}
		b.WriteString(plain)
		s = s[1:]
	}
}

// maxReference is the longest reference to a character that is looked for, in bytes.
const maxReference = 34

func notInReference(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '#')
}
