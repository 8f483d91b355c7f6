package trace

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the recorded set
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// recorded is the set that Embedded unpacks, made from the files that Load reads by
//
//	go test ./lab/trace -run TestEmbeddedIsWhatLoadReads -update
//
//go:embed recorded.gz
var recorded []byte

// Embedded is the set that comes with the program.
func Embedded() (*Set, error) {
	var s *Set
	var text []byte
	r, err := gzip.NewReader(bytes.NewReader(recorded))
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err == nil {
		s, err = decode(text)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack the recorded feeds: %w", err)
	}
	return s, nil
}

// heading begins every encoded set. Its number rises with the format.
const heading = "feedex trace 1\n"

// encode is the compact form of the set: the heading, From, To and the number of feeds, then of each feed
// name, kind, window, the number of its times, and each time as the seconds since the one before, the
// first since From. Numbers are varints, texts follow their length.
func (s *Set) encode() []byte {
	b := []byte(heading)
	b = binary.AppendVarint(b, s.From.Unix())
	b = binary.AppendVarint(b, s.To.Unix())
	b = binary.AppendVarint(b, int64(len(s.Feeds)))
	for _, f := range s.Feeds {
		for _, text := range []string{f.Name, f.Kind} {
			b = binary.AppendVarint(b, int64(len(text)))
			b = append(b, text...)
		}
		b = binary.AppendVarint(b, int64(f.Window))
		b = binary.AppendVarint(b, int64(len(f.Times)))
		last := s.From.Unix()
		for _, t := range f.Times {
			b = binary.AppendVarint(b, t-last)
			last = t
		}
	}
	return b
}

// errFormat says that bytes are not what encode writes.
var errFormat = errors.New("not the compact form of a trace")

// decode is the inverse of encode.
func decode(text []byte) (*Set, error) {
	d := compactDecoder{rest: text}
	if string(d.bytes(len(heading))) != heading {
		return nil, errFormat
	}
	from, to := d.number(), d.number()
	s := &Set{From: time.Unix(from, 0).UTC(), To: time.Unix(to, 0).UTC()}
	for range d.count() {
		f := Timeline{Name: string(d.bytes(d.count())), Kind: string(d.bytes(d.count())), Window: int(d.number())}
		last := from
		f.Times = make([]int64, d.count())
		for i := range f.Times {
			last += d.number()
			f.Times[i] = last
		}
		s.Feeds = append(s.Feeds, f)
	}
	if d.bad || len(d.rest) > 0 {
		return nil, errFormat
	}
	return s, nil
}

// A compactDecoder takes values from bytes. Once that failed it gives zeros.
type compactDecoder struct {
	rest []byte
	bad  bool
}

func (d *compactDecoder) number() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count is the number of things of a byte or more that follow.
func (d *compactDecoder) count() int {
	n := d.number()
	if n < 0 || n > int64(len(d.rest)) {
		d.rest, d.bad = nil, true
		return 0
	}
	return int(n)
}

func (d *compactDecoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.rest, d.bad = nil, true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
