package fetch

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
)

const (
	// maxRatio is how many times its size a body may inflate to, once it is past freeBytes. Feeds
	// reach 5 to 20; bombs reach 685.
	maxRatio  = 100
	freeBytes = 1 << 20
)

// readBody reads the whole body and inflates it. No more than MaxBytes are kept, whatever the body
// inflates to. A body past freeBytes waits at the gate, and leaves when release is called, which must be done
// whether it was read or not.
func readBody(ctx context.Context, resp *http.Response, large gate) (body []byte, release func(), err error) {
	release = func() {}
	if resp.ContentLength > MaxBytes {
		return nil, release, tooLarge()
	}
	in := &counter{r: resp.Body}
	inflated, err := inflate(in, resp.Header.Values("Content-Encoding"))
	if err != nil {
		return nil, release, err
	}
	l := &limited{r: inflated, in: in, grow: func() error {
		if err := large.enter(ctx); err != nil {
			return err
		}
		release = large.leave
		return nil
	}}
	if body, err = io.ReadAll(l); err != nil {
		return nil, release, fmt.Errorf("read body: %w", err)
	}
	return body, release, nil
}

// inflate undoes the content coding: one of those that were offered in Accept-Encoding.
func inflate(in io.Reader, codings []string) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(codings, ","))); coding {
	case "", "identity":
		return in, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("read gzip body: %w", err)
		}
		return z, nil
	case "br":
		return brotliReader(in)
	default:
		return nil, fmt.Errorf("%w: %q", ErrEncoding, coding)
	}
}

// brotliReader inflates brotli with windows up to 4 MiB, which is what servers use. The format goes to
// 16, and a decoder sets the window aside before anything comes out of it that could be counted.
func brotliReader(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(in)
	first, err := buffered.Peek(1)
	if err != nil {
		return nil, fmt.Errorf("read brotli body: %w", err)
	}
	switch b := first[0]; { // RFC 7932 §9.1, WBITS
	case b&0x0f == 0x0d, b&0x0f == 0x0f, // windows of 2^23 and 2^24 bytes
		b&0x7f == 0x11: // left to even larger ones
		return nil, fmt.Errorf("%w: brotli with a window over 4 MiB", ErrEncoding)
	}
	return brotli.NewReader(buffered), nil
}

// A counter counts the bytes that come in.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// limited ends with ErrTooLarge when too much comes out, or too much for what went in.
type limited struct {
	r   io.Reader
	in  *counter
	out int64
	// grow is called once, when more than freeBytes come out.
	grow func() error
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.out += int64(n)
	switch {
	case l.out > MaxBytes:
		return n, tooLarge()
	case l.out > freeBytes && l.out > maxRatio*l.in.n:
		return n, fmt.Errorf("%w: %d bytes inflate to more than %d times as many", ErrTooLarge, l.in.n, maxRatio)
	}
	if l.out > freeBytes && l.grow != nil {
		if refused := l.grow(); refused != nil {
			return n, refused
		}
		l.grow = nil
	}
	return n, err
}

func tooLarge() error {
	return fmt.Errorf("%w: more than %d MiB", ErrTooLarge, MaxBytes>>20)
}
