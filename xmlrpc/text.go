package xmlrpc

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// text reads the text up to the next tag. The result is good until the next call.
func (s *scanner) text() (text []byte, ok bool) {
	s.buf = s.buf[:0]
	for {
		n := bytes.IndexByte(s.body[s.pos:], '<')
		if n < 0 {
			s.pos = len(s.body)
			return nil, s.refuse("message ends early")
		}
		run := s.body[s.pos : s.pos+n]
		if s.cdends {
			if i := bytes.Index(run, []byte("]]>")); i >= 0 {
				s.pos += i
				return nil, s.refuse("]]> in text")
			}
		}
		last := !hasPrefix(s.body[s.pos+n:], "<!")
		plain := bytes.IndexByte(run, '&') < 0 && !s.returns(run)
		if last && plain && len(s.buf) == 0 {
			s.pos += n
			return run, true
		}
		if plain {
			s.buf = append(s.buf, run...)
			s.pos += n
		} else if !s.resolve(run) {
			return nil, false
		}
		if last {
			return s.buf, true
		}
		if !s.aside() {
			return nil, false
		}
	}
}

// aside reads the comment or CDATA section that begins here in the midst of text.
func (s *scanner) aside() bool {
	if s.at("<!--") {
		return s.comment()
	}
	const begin, end = "<![CDATA[", "]]>"
	if !s.at(begin) {
		_, ok := s.tagName() // which knows what to say
		return ok
	}
	rest := s.body[s.pos+len(begin):]
	n := bytes.Index(rest, []byte(end))
	if n < 0 {
		return s.refuse("CDATA section without end")
	}
	s.buf = appendLines(s.buf, rest[:n])
	s.pos += len(begin) + n + len(end)
	return true
}

// returns reports whether there are carriage returns in run.
func (s *scanner) returns(run []byte) bool { return s.crs && bytes.IndexByte(run, '\r') >= 0 }

// resolve appends run, which begins here and ends before a tag, to the buffer with its references
// resolved and its line ends made newlines.
func (s *scanner) resolve(run []byte) bool {
	end := s.pos + len(run)
	s.buf = slices.Grow(s.buf, len(run)) // no reference is shorter than what it means
	for {
		n := bytes.IndexByte(run, '&')
		if n < 0 {
			break
		}
		s.buf = appendLines(s.buf, run[:n])
		s.pos += n
		if !s.reference(run[n:]) {
			return false
		}
		run = s.body[s.pos:end]
	}
	s.buf = appendLines(s.buf, run)
	s.pos = end
	return true
}

// reference appends to the buffer what the reference means with which run begins.
func (s *scanner) reference(run []byte) bool {
	char, n := byte(0), 0
	switch {
	case hasPrefix(run, "&lt;"):
		char, n = '<', 4
	case hasPrefix(run, "&gt;"):
		char, n = '>', 4
	case hasPrefix(run, "&amp;"):
		char, n = '&', 5
	case hasPrefix(run, "&quot;"):
		char, n = '"', 6
	case hasPrefix(run, "&apos;"):
		char, n = '\'', 6
	case hasPrefix(run, "&#"):
		r, n := charReference(run)
		if n == 0 {
			return s.refuse("malformed character reference")
		}
		if !isChar(r) {
			return s.refuse("reference to a character that XML forbids")
		}
		s.buf = utf8.AppendRune(s.buf, r)
		s.pos += n
		return true
	default:
		return s.refuse("& that begins no known reference")
	}
	s.buf = append(s.buf, char)
	s.pos += n
	return true
}

// charReference reads &#10; or &#xA; and returns the character and the length of the reference, 0 if
// it is malformed.
func charReference(b []byte) (r rune, n int) {
	base, i := rune(10), len("&#")
	if hasPrefix(b, "&#x") {
		base, i = 16, i+1
	}
	first := i
	for ; i < len(b); i++ {
		d := digit(b[i])
		if d >= base {
			break
		}
		r = min(r*base+d, utf8.MaxRune+1) // one too large stays too large
	}
	if i == first || i == len(b) || b[i] != ';' {
		return 0, 0
	}
	return r, i + 1
}

// digit is the value of the digit c, 16 if it is none.
func digit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return 16
}

// isChar reports whether XML may hold r, even by reference (XML 1.0 §2.2, Char).
func isChar(r rune) bool {
	return r >= 0x20 && utf8.ValidRune(r) && r != 0xFFFE && r != 0xFFFF || r == '\t' || r == '\n' || r == '\r'
}

// appendLines appends text with all its line ends made newlines (XML 1.0 §2.11).
func appendLines(dst, text []byte) []byte {
	for {
		n := bytes.IndexByte(text, '\r')
		if n < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:n]...), '\n')
		text = text[n+1:]
		if hasPrefix(text, "\n") {
			text = text[1:]
		}
	}
}

// controlAt returns the offset of the first control character that XML forbids, -1 if there is none.
func controlAt(b []byte) int {
	const each, top = 0x0101010101010101, 0x8080808080808080
	for i := 0; i < len(b); {
		if i+8 <= len(b) {
			// Eight bytes at a time: the top bit of the difference is set for a byte below ' '.
			if w := binary.LittleEndian.Uint64(b[i:]); (w-each*' ')&^w&top == 0 {
				i += 8
				continue
			}
		}
		if b[i] < ' ' && !isSpace(b[i]) {
			return i
		}
		i++
	}
	return -1
}
