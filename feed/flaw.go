package feed

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"golang.org/x/text/encoding"
)

// A flaw is why a document cannot be read, and where.
type flaw struct {
	kind   error // ErrFormat or ErrLimit
	at     int   // byte of the text that was read
	reason string
}

func (f *flaw) Error() string { return fmt.Sprintf("%v: %s", f.kind, f.reason) }

func (f *flaw) Unwrap() error { return f.kind }

// malformedAt is an ErrFormat about the byte at of the text.
func malformedAt(at int, format string, args ...any) error {
	return &flaw{ErrFormat, at, fmt.Sprintf(format, args...)}
}

// overAt is an ErrLimit about the byte at of the text.
func overAt(at int, format string, args ...any) error {
	return &flaw{ErrLimit, at, fmt.Sprintf(format, args...)}
}

// locate is the flaw with its place in the document as it was fetched, of which text is what was read, but
// for the blanks ahead.
func (f *flaw) locate(s source, text string, prepare func(string) string) error {
	at := len(text) - len(strings.TrimLeft(text, blanksAhead)) + f.at
	line := 1 + strings.Count(text[:min(at, len(text))], "\n")
	return fmt.Errorf("%w: byte %d, line %d: %s", f.kind, s.place(at, prepare), line, f.reason)
}

// placeChunk is how much of a document is looked at at once.
const placeChunk = 64 << 10

// place is where the byte at of the prepared text stood in the document. The text that was read is cleaned, repaired
// and of another encoding, so places differ; they are found again by preparing the document once more, in pieces that
// end with a line.
func (s source) place(at int, prepare func(string) string) int {
	length := func(piece []byte) int { return len(prepare(source{body: piece, enc: s.enc}.text())) }
	for from := s.mark; from < len(s.body); {
		to := min(from+placeChunk, len(s.body)) // characters have 1, 2 or 4 bytes, or belong to lines
		if i := bytes.LastIndexByte(s.body[from:to], '\n'); i >= 0 && to < len(s.body) && s.bytewise() {
			to = from + i + 1
		}
		for to < len(s.body) && bytes.IndexByte(s.body[max(from, to-4):to], '\r') >= 0 {
			to = min(to+4, len(s.body)) // a line end must not be cut in two
		}
		n := length(s.body[from:to])
		if n > at {
			unit := 2 // of UTF-16
			if s.bytewise() {
				unit = 1
			}
			return from + unit*sort.Search((to-from-1)/unit, func(i int) bool {
				end := min(from+(i+1)*unit, to)
				for end < to && unit == 1 && s.body[end]&0xC0 == 0x80 && s.enc == nil {
					end++ // half a character is as long as another
				}
				return length(s.body[from:end]) > at
			})
		}
		at -= n
		from = to
	}
	return len(s.body)
}

// bytewise reports whether every "\n" of the document is a line end by itself.
func (s source) bytewise() bool {
	return s.enc == nil || s.enc == encoding.Nop || s.mark == 0 &&
		!bytes.Contains(s.body[:min(4, len(s.body))], []byte{0})
}
