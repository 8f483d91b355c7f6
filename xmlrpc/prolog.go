package xmlrpc

import (
	"bytes"
	"strings"
)

// extensions is the only name space that a message may declare.
const extensions = "http://ws.apache.org/xmlrpc/namespaces/extensions"

// prolog reads what may stand before the outermost element.
func (s *scanner) prolog() bool {
	if s.at("\uFEFF") {
		s.pos += len("\uFEFF")
	}
	if s.at("<?xml") && s.pos+5 < len(s.body) && isSpace(s.body[s.pos+5]) {
		s.pos += len("<?xml")
		if !s.declaration() {
			return false
		}
	}
	return s.skip()
}

// declaration reads the rest of an XML declaration: version, encoding and standalone in this order,
// of which the last two may be missing.
func (s *scanner) declaration() bool {
	left := []string{"version", "encoding", "standalone"}
	for first := true; ; first = false {
		spaced := s.space()
		if !first && s.at("?>") {
			s.pos += len("?>")
			return true
		}
		name, value, ok := s.attribute()
		if !ok {
			return false
		}
		for len(left) > 0 && left[0] != string(name) {
			left = left[1:]
		}
		if !spaced || len(left) == 0 || first && len(left) < 3 || !declares(left[0], string(value)) {
			return s.refuse("XML declaration other than of version 1.0 in UTF-8")
		}
		left = left[1:]
	}
}

// declares reports whether the XML declaration may say so. US-ASCII is a part of UTF-8.
func declares(name, value string) bool {
	switch name {
	case "version":
		return value == "1.0"
	case "encoding":
		return strings.EqualFold(value, "UTF-8") || strings.EqualFold(value, "US-ASCII")
	}
	return value == "yes" || value == "no"
}

// root reads the start tag of the outermost element.
func (s *scanner) root(name string) bool {
	if !s.start(name) {
		return false
	}
	at := s.pos
	if s.space() && s.at("xmlns:ex") {
		name, value, ok := s.attribute()
		if !ok {
			return false
		}
		if string(name) == "xmlns:ex" && string(value) == extensions {
			at = s.pos
		}
	}
	s.pos = at // to complain about any other attribute
	empty, ok := s.tagEnd()
	return ok && (!empty || s.refuse("empty "+name))
}

// attribute reads name="value".
func (s *scanner) attribute() (name, value []byte, ok bool) {
	rest := s.body[s.pos:]
	n := 0
	for n < len(rest) && isName(rest[n]) {
		n++
	}
	name = rest[:n]
	s.pos += n
	s.space()
	if n > 0 && s.at("=") {
		s.pos++
		s.space()
		if s.at(`"`) || s.at("'") {
			rest = s.body[s.pos:]
			if n := bytes.IndexByte(rest[1:], rest[0]); n >= 0 {
				s.pos += 1 + n + 1
				return name, rest[1 : 1+n], true
			}
		}
	}
	return nil, nil, s.refuse("malformed attribute")
}

// finish sees to it that nothing follows the outermost element.
func (s *scanner) finish() bool {
	return s.skip() && (s.pos == len(s.body) || s.refuse("something after the end"))
}
