package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A BadLine is a line of an import that holds no entry.
type BadLine struct {
	Number int   // from 1
	Err    error // why
}

// Error implements error.
func (b BadLine) Error() string { return fmt.Sprintf("line %d: %v", b.Number, b.Err) }

// Unwrap is why.
func (b BadLine) Unwrap() error { return b.Err }

// A Reader reads the lines of an export one by one. Make one with NewReader.
type Reader struct {
	in     *bufio.Reader
	buf    []byte
	number int
	bytes  int64
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 64<<10)} }

// Bytes is how much was read so far.
func (r *Reader) Bytes() int64 { return r.bytes }

// Next returns the next line, and io.EOF after the last. A BadLine concerns that line alone: the next call goes on
// behind it. Blank lines are passed over.
func (r *Reader) Next() (Line, error) {
	for {
		text, err := r.line()
		if err != nil && (err != io.EOF || len(text) == 0) && !errors.Is(err, errLong) {
			return Line{}, err
		}
		r.number++
		if err == errLong {
			return Line{}, BadLine{r.number, err}
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		l, err := ParseLine(text)
		if err != nil {
			return Line{}, BadLine{r.number, err}
		}
		return l, nil
	}
}

var errLong = fmt.Errorf("it is longer than %d MiB", MaxLineBytes>>20)

// line reads up to a line feed or the end, where the error is io.EOF. The rest of a line that is too long is
// thrown away.
func (r *Reader) line() ([]byte, error) {
	r.buf = r.buf[:0]
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		r.bytes += int64(len(part))
		if long = long || len(r.buf)+len(part) > MaxLineBytes; !long {
			r.buf = append(r.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		default:
			return r.buf, err
		}
	}
}
