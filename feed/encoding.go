package feed

import (
	"bytes"
	"mime"
	"unicode/utf8"

	charsets "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// A source is a document as it was fetched, and how to read it. Its encoding is, in this order,
//
//  1. what a byte-order mark or the zero bytes of its first characters show (XML 1.0 appendix F);
//  2. UTF-8, if it has characters beyond ASCII and all of them are valid UTF-8: no other text is that
//     by chance, and labels are wrong more often;
//  3. the charset of the Content-Type (RFC 7303 §3);
//  4. the encoding of the XML declaration;
//  5. windows-1252, if nothing beyond ASCII is valid UTF-8;
//  6. UTF-8. Invalid bytes become U+FFFD, so that one byte does not cost the document.
//
// Labels mean what they mean on the web (WHATWG Encoding); one that is unknown or that the bytes
// belie is passed over.
type source struct {
	body []byte
	mark int               // length of the byte-order mark
	enc  encoding.Encoding // nil for UTF-8
}

func newSource(contentType string, body []byte) source {
	enc, mark := byteOrder(body)
	if enc == nil {
		enc = labelled(contentType, body[mark:])
	}
	return source{body, mark, enc}
}

// Text is a document of whatever encoding as clean text (see Clean), without its byte-order mark. Its encoding is found
// as for feeds: by its first bytes, by the charset of the contentType and by its XML declaration.
func Text(contentType string, body []byte) string { return newSource(contentType, body).text() }

// UTF8 is a text that somebody wrote with an editor, without the byte order mark that some put in front, and of UTF-16
// where that says so, which is what PowerShell's > writes.
func UTF8(text []byte) []byte {
	enc, mark := byteOrder(text)
	if mark == 0 {
		return text
	}
	decoded, err := enc.NewDecoder().Bytes(text[mark:])
	if err != nil {
		return text // half a character
	}
	return decoded
}

// PageText is a web page as text. Where it is valid UTF-8 with characters beyond ASCII, it is that whatever it says;
// else it is what a browser would take it for (HTML §13.2.3).
func PageText(contentType string, body []byte) string {
	if utf8.Valid(body) && !ascii(body) {
		return string(body)
	}
	enc, _, _ := charsets.DetermineEncoding(body, contentType)
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return string(body)
	}
	return string(text)
}

// text is the document without its mark, as clean text (see Clean).
func (s source) text() string {
	body := s.body[s.mark:]
	if s.enc != nil {
		if text, err := s.enc.NewDecoder().Bytes(body); err == nil {
			body = text
		}
	}
	return Clean(string(body))
}

// byteOrder finds the encoding that the document's first bytes give away, and the length of its mark.
func byteOrder(body []byte) (enc encoding.Encoding, mark int) {
	for _, b := range []struct {
		prefix string
		enc    encoding.Encoding
		mark   int
	}{
		{"\xEF\xBB\xBF", encoding.Nop, 3},
		{"\x00\x00\xFE\xFF", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4},
		{"\xFF\xFE\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4},
		{"\xFE\xFF", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 2},
		{"\xFF\xFE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 2},
	} {
		if bytes.HasPrefix(body, []byte(b.prefix)) {
			return b.enc, b.mark
		}
	}
	return zeroBytes(body), 0
}

// zeroBytes finds the encoding of a document that begins with two characters of ASCII, blanks maybe, of more than a
// byte each; nil where it does not.
func zeroBytes(body []byte) encoding.Encoding {
	var shape [8]byte // where zeros are, in the first characters
	for i, c := range body[:min(len(body), len(shape))] {
		if shape[i] = 'a'; c == 0 {
			shape[i] = '0'
		} else if c >= utf8.RuneSelf {
			return nil
		}
	}
	switch s := string(shape[:]); {
	case s == "000a000a":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case s == "a000a000":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case s[:4] == "0a0a":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case s[:4] == "a0a0":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// labelled finds the encoding of a document without a mark, nil for UTF-8.
func labelled(contentType string, body []byte) encoding.Encoding {
	plain, valid := ascii(body), utf8.Valid(body)
	if valid && !plain {
		return nil
	}
	for _, label := range []string{charset(contentType), declared(body)} {
		if enc := named(label); enc != nil {
			return enc
		}
	}
	if !valid && !anyMultiByte(body) {
		return charmap.Windows1252
	}
	return nil
}

// named is the encoding that a label stands for, nil where it says UTF-8 or is of no use: UTF-16 would
// have shown itself, and the "replacement" encoding replaces everything.
func named(label string) encoding.Encoding {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	switch name, _ := htmlindex.Name(enc); name {
	case "utf-8", "utf-16le", "utf-16be", "replacement", "x-user-defined":
		return nil
	}
	return enc
}

// charset is the charset parameter of a Content-Type.
func charset(contentType string) string {
	_, params, _ := mime.ParseMediaType(contentType)
	return params["charset"]
}

// declared is the encoding of the XML declaration, "" without one.
func declared(body []byte) string {
	head := bytes.TrimLeft(body[:min(len(body), 1024)], " \t\r\n")
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	head, _, _ = bytes.Cut(head, []byte("?>"))
	_, after, _ := bytes.Cut(head, []byte("encoding"))
	after = bytes.TrimLeft(after, " \t\r\n=")
	if len(after) == 0 || after[0] != '"' && after[0] != '\'' {
		return ""
	}
	label, _, _ := bytes.Cut(after[1:], after[:1])
	return string(label)
}

func ascii(body []byte) bool {
	for _, c := range body {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// anyMultiByte reports whether a valid character beyond ASCII occurs.
func anyMultiByte(body []byte) bool {
	for len(body) > 0 {
		if body[0] < utf8.RuneSelf {
			body = body[1:]
			continue
		}
		r, n := utf8.DecodeRune(body)
		if r != utf8.RuneError || n > 1 {
			return true
		}
		body = body[n:]
	}
	return false
}
