package xmlrpc

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A scanner walks over a message. Its methods report whether the message may be read on; where not,
// err says why, and nothing but err is of use any more.
type scanner struct {
	body   []byte
	pos    int
	err    *SyntaxError
	buf    []byte // text that did not stand in body as it is
	crs    bool   // body holds carriage returns
	cdends bool   // body holds "]]>"
}

// refuse ends the walk: the message is not XML-RPC.
func (s *scanner) refuse(reason string) bool { return s.stop(ErrSyntax, reason) }

// exceed ends the walk: the message goes beyond a limit.
func (s *scanner) exceed(reason string) bool { return s.stop(ErrLimit, reason) }

func (s *scanner) stop(kind error, reason string) bool {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.pos, Reason: reason, kind: kind}
	}
	return false
}

// legible refuses bytes that no XML document may hold, wherever they stand, so that nothing after it
// has to look for them.
func (s *scanner) legible() bool {
	s.crs = bytes.IndexByte(s.body, '\r') >= 0
	s.cdends = bytes.Contains(s.body, []byte("]]>"))
	if !utf8.Valid(s.body) {
		for { // there is one
			r, n := utf8.DecodeRune(s.body[s.pos:])
			if r == utf8.RuneError && n <= 1 {
				return s.refuse("not UTF-8")
			}
			s.pos += n
		}
	}
	bad := controlAt(s.body)
	for _, c := range []string{"\uFFFE", "\uFFFF"} {
		if bad < 0 {
			bad = bytes.Index(s.body, []byte(c))
		}
	}
	if bad >= 0 {
		s.pos = bad
		return s.refuse("character that XML forbids")
	}
	return true
}

// skip moves over white space and comments.
func (s *scanner) skip() bool {
	for s.pos < len(s.body) {
		switch {
		case isSpace(s.body[s.pos]):
			s.pos++
		case s.at("<!--"):
			if !s.comment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

// comment moves over the comment that begins here.
func (s *scanner) comment() bool {
	rest := s.body[s.pos+len("<!--"):]
	n := bytes.Index(rest, []byte("--"))
	if n < 0 {
		return s.refuse("comment without end")
	}
	if !hasPrefix(rest[n:], "-->") {
		return s.refuse("comment with -- inside")
	}
	s.pos += len("<!--") + n + len("-->")
	return true
}

// open reads the start tag of element name after white space and comments. With empty the element
// has ended, too: the tag was <name/>.
func (s *scanner) open(name string) (empty, ok bool) {
	// First the form in which nearly all tags come.
	if rest, n := s.body[s.pos:], 1+len(name); len(rest) > n && rest[n] == '>' &&
		rest[0] == '<' && string(rest[1:n]) == name {
		s.pos += n + 1
		return false, true
	}
	if !s.skip() || !s.start(name) {
		return false, false
	}
	return s.tagEnd()
}

// start reads the beginning of the start tag of element name.
func (s *scanner) start(name string) bool {
	at := s.pos
	got, ok := s.tagName()
	if ok && string(got) != name {
		s.pos = at
		return s.refuse("element " + quote(got) + " in place of " + name)
	}
	return ok
}

// tagName reads the beginning of a start tag up to the end of its name.
func (s *scanner) tagName() (name []byte, ok bool) {
	rest := s.body[s.pos:]
	if len(rest) == 0 {
		return nil, s.refuse("message ends early")
	}
	n := 0
	if rest[0] == '<' {
		for n = 1; n < len(rest) && isName(rest[n]); {
			n++
		}
	}
	if n > 1 {
		s.pos += n
		return rest[1:n], true
	}
	switch {
	case n == 0:
		return nil, s.refuse("text between elements")
	case hasPrefix(rest, "</"):
		return nil, s.refuse("end tag in place of an element")
	case hasPrefix(rest, "<?"):
		return nil, s.refuse("processing instruction")
	case hasPrefix(rest, "<!DOCTYPE"):
		return nil, s.refuse("document type")
	case hasPrefix(rest, "<![CDATA["):
		return nil, s.refuse("text between elements")
	}
	return nil, s.refuse("malformed tag")
}

// tagEnd reads what follows the name in a start tag.
func (s *scanner) tagEnd() (empty, ok bool) {
	spaced := s.space()
	switch {
	case s.at(">"):
		s.pos++
		return false, true
	case s.at("/>"):
		s.pos += 2
		return true, true
	case s.pos == len(s.body):
		return false, s.refuse("message ends early")
	case spaced:
		return false, s.refuse("attribute")
	}
	return false, s.refuse("malformed tag")
}

// closing reports whether an end tag comes next, after white space and comments.
func (s *scanner) closing() (closing, ok bool) {
	ok = s.skip()
	return ok && s.at("</"), ok
}

// close reads the end tag of element name after white space and comments.
func (s *scanner) close(name string) bool {
	return s.skip() && s.end(name)
}

// end reads the end tag of element name.
func (s *scanner) end(name string) bool {
	rest := s.body[s.pos:]
	if n := 2 + len(name); len(rest) > n && rest[n] == '>' && // first the usual form
		rest[0] == '<' && rest[1] == '/' && string(rest[2:n]) == name {
		s.pos += n + 1
		return true
	}
	if !hasPrefix(rest, "</") || !hasPrefix(rest[2:], name) {
		if len(rest) == 0 {
			return s.refuse("message ends early")
		}
		return s.refuse("no end of " + name)
	}
	s.pos += len("</") + len(name)
	s.space()
	if !s.at(">") {
		return s.refuse("no end of " + name)
	}
	s.pos++
	return true
}

// space moves over white space and reports whether there was any.
func (s *scanner) space() bool {
	start := s.pos
	for s.pos < len(s.body) && isSpace(s.body[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

// at reports whether text comes next.
func (s *scanner) at(text string) bool { return hasPrefix(s.body[s.pos:], text) }

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == ':' || c == '_' || c == '-' || c >= utf8.RuneSelf
}

// quote is a name as it may stand in an error: short and printable.
func quote(name []byte) string {
	const most = 32
	if len(name) > most {
		return strconv.QuoteToASCII(string(name[:most])) + "…"
	}
	return strconv.QuoteToASCII(string(name))
}
