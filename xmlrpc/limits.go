package xmlrpc

import (
	"bytes"
	"fmt"
)

// MessageLimits bound what a message may cost its reader. A field that is zero stands for its default.
type MessageLimits struct {
	// Bytes is the longest message. Default 4 MiB.
	Bytes int
	// Depth is how many arrays and structs may stand inside each other. Default 32.
	Depth int
	// Values is the most values in a message; an array and a struct count as one beside what is in
	// them. Default 65,536.
	Values int
	// StringBytes is the longest string, member name, or base64 text, with all references resolved.
	// Default 2 MiB.
	StringBytes int
}

func (l MessageLimits) withDefaults() MessageLimits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Bytes, 4 << 20},
		{&l.Depth, 32},
		{&l.Values, 65_536},
		{&l.StringBytes, 2 << 20},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// fewValues is the number of values that may be built before a message is found to hold too many.
const fewValues = 1024

// withinValues refuses a message that holds more values than its limit before any of them is built.
// Short messages pass: the little that they can cost is counted while they are read.
func (s *scanner) withinValues(limit int) bool {
	if len(s.body)/len("<value/>") <= max(limit, fewValues) || bytes.Count(s.body, []byte("<value")) <= limit {
		return true
	}
	start, count := s.pos, 0
	for s.to("<") {
		switch rest := s.body[s.pos:]; {
		case hasPrefix(rest, "<value"):
			if count++; count > limit {
				return s.tooManyValues(limit)
			}
			s.pos += len("<value")
		case hasPrefix(rest, "<!--"):
			s.pos += len("<!--")
			s.to("-->")
		case hasPrefix(rest, "<![CDATA["):
			s.pos += len("<![CDATA[")
			s.to("]]>")
		default:
			s.pos++
		}
	}
	s.pos = start
	return true
}

// to moves to the next mark, or to the end of the message if there is none.
func (s *scanner) to(mark string) bool {
	n := bytes.Index(s.body[s.pos:], []byte(mark))
	if n < 0 {
		s.pos = len(s.body)
		return false
	}
	s.pos += n
	return true
}

func (s *scanner) tooManyValues(limit int) bool {
	return s.exceed(fmt.Sprintf("more than %d values", limit))
}
