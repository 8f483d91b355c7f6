package feed

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// The byte that an error names is that of the document as it came, whatever was done to it before it was
// read: other line ends, another encoding, references taken out, blanks ahead.
func TestErrorsNameTheByte(t *testing.T) {
	utf16 := func(s string) []byte {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const root = "<opml>"
	long := "<!--" + strings.Repeat("some text\r\n", 20_000) + "-->"
	for name, body := range map[string][]byte{
		"plain":            []byte("<?xml version='1.0'?>\n<!-- x -->" + root),
		"at the start":     []byte(root),
		"blanks ahead":     []byte("\r\n\r\n  " + root),
		"a mark":           []byte("\xEF\xBB\xBF<!-- é -->" + root),
		"after a letter":   []byte("<!-- x -->é" + root),
		"line ends":        []byte("<?xml version='1.0'?>\r\n<!--\r\n\r\n-->" + root),
		"bad references":   []byte("<!-- &#1;&#x1F; -->" + root),
		"control":          []byte("<!-- \x01\x02 -->\x00" + root),
		"windows-1252":     []byte("<?xml version='1.0' encoding='windows-1252'?><!-- \xE9\xE8\x80 -->" + root),
		"invalid UTF-8":    []byte("<!-- é \xE9 -->" + root),
		"UTF-16":           utf16("<?xml version='1.0'?>\r\n<!-- é -->" + root),
		"long":             []byte(long + root),
		"long, with marks": append([]byte("\xEF\xBB\xBF"), long+root...),
		"long, UTF-16":     utf16(long + root),
		"long, one line":   []byte("<!--" + strings.Repeat("\xE9", 300_000) + "-->" + root),
		"long, two lines":  []byte("\n<!--" + strings.Repeat("\xE9", 300_000) + "-->" + root),
	} {
		want := bytes.Index(body, []byte(root))
		if strings.HasSuffix(name, "UTF-16") {
			want = bytes.Index(body, utf16(root)[2:])
		}
		_, err := Parse("http://example.com/", "", body, corpusTime)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(": byte %d, ", want)) {
			t.Errorf("%s: %v, want byte %d", name, err, want)
		}
	}
}

// A document that is cut off ends at the end.
func TestCutDocumentsEndAtTheirEnd(t *testing.T) {
	whole := "<rss version='2.0'>\r\n<channel>\r\n<item><title>\xE9 &#1; a</title></item>\r\n</channel></rss>"
	for n := len("<rss version='2.0'>"); n < strings.Index(whole, "</channel>"); n++ {
		if whole[n-1] == '\r' {
			continue // it alone is a line end too
		}
		_, err := Parse("http://example.com/", "", []byte(whole[:n]), corpusTime)
		if err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("byte %d, line %d: document ends inside", n, 1+strings.Count(whole[:n], "\n"))) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}
