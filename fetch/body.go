package fetch

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

const (
	// maxRatio is how many times its size a body may inflate to, once it is past freeBytes. Feeds
	// reach 5 to 20; bombs reach 685.
	maxRatio  = 100
	freeBytes = 1 << 20
)

// readBody reads the whole body and inflates it. No more than most bytes are kept, whatever the body inflates to. One
// past freeBytes waits for its place, and leaves when release is called, which must be done whether it was read or not.
func (v *visit) readBody(ctx context.Context, resp *http.Response, most int64) (body []byte, release func(),
	err error) {
	release = func() {}
	if resp.ContentLength > most {
		return nil, release, tooLarge(most)
	}
	in := &counter{r: resp.Body}
	inflated, err := inflate(in, resp.Header.Values("Content-Encoding"))
	if err != nil {
		return nil, release, err
	}
	l := &limited{r: inflated, in: in, most: most, grow: func() error {
		if err := v.patience.enter(ctx, v.client.large); err != nil {
			return err
		}
		release = v.client.large.leave
		return nil
	}}
	switch body, err = io.ReadAll(l); {
	case errors.Is(err, io.ErrUnexpectedEOF), isOf(err, brokenOff):
		return nil, release, worded{"the answer broke off before its end", err}
	case err != nil:
		return nil, release, fmt.Errorf("read body: %w", err)
	}
	return body, release, nil
}

// compressing are the content codings that make a body unreadable without undoing them. Other names that servers write
// there, such as "none" or "utf-8", are none.
var compressing = []string{"gzip", "br", "deflate", "compress", "zstd", "dcb", "dcz"}

// gzipMagic begins every gzip body (RFC 1952 §2.3.1).
const gzipMagic = "\x1f\x8b"

// inflate undoes the content coding: one of those that were offered in Accept-Encoding. As with charsets, the first
// bytes go before the label where they belie it: what begins as feeds do is no gzip nor brotli, whatever its label
// says, and some servers hand out compressed files without one.
func inflate(in io.Reader, codings []string) (io.Reader, error) {
	buffered := bufio.NewReader(in)
	head, err := buffered.Peek(2)
	coding := strings.ToLower(strings.TrimSpace(strings.Join(codings, ",")))
	coded := slices.ContainsFunc(compressing, func(name string) bool { return strings.Contains(coding, name) })
	switch {
	case len(head) > 0 && (head[0] == '<' || head[0] == '{'):
		return buffered, nil
	case coding == "gzip", coding == "x-gzip", !coded && string(head) == gzipMagic:
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("read gzip body: %w", err)
		}
		z.Multistream(false)
		return &gzipMembers{z, buffered}, nil
	case !coded:
		return buffered, nil
	case coding != "br":
		return nil, fmt.Errorf("%w: %q", ErrEncoding, coding)
	case len(head) == 0:
		return nil, fmt.Errorf("read brotli body: %w", err)
	}
	return brotliReader(buffered, head[0])
}

// A gzipMembers reads the members of a gzip body (RFC 1952 §2.2). Bytes that follow them and are no member, as the
// blanks that a server's programs print after all is said, are no part of it.
type gzipMembers struct {
	*gzip.Reader
	in *bufio.Reader
}

func (m *gzipMembers) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	if head, _ := m.in.Peek(2); string(head) != gzipMagic {
		return n, io.EOF
	}
	err = m.Reader.Reset(m.in)
	m.Reader.Multistream(false)
	return n, err
}

// brotliReader inflates brotli with windows up to 4 MiB, which is what servers use. The format goes to
// 16, and a decoder sets the window aside before anything comes out of it that could be counted.
func brotliReader(in io.Reader, first byte) (io.Reader, error) {
	switch { // RFC 7932 §9.1, WBITS
	case first&0x0f == 0x0d, first&0x0f == 0x0f, // windows of 2^23 and 2^24 bytes
		first&0x7f == 0x11: // left to even larger ones
		return nil, fmt.Errorf("%w: brotli with a window over 4 MiB", ErrEncoding)
	}
	return brotli.NewReader(in), nil
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
	// most may come out.
	most int64
	// grow is called once, when more than freeBytes come out.
	grow func() error
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.out += int64(n)
	switch {
	case l.out > l.most:
		return n, tooLarge(l.most)
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

func tooLarge(most int64) error {
	if most < 1<<20 {
		return fmt.Errorf("%w: more than %d KiB", ErrTooLarge, most>>10)
	}
	return fmt.Errorf("%w: more than %d MiB", ErrTooLarge, most>>20)
}
