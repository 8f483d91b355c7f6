package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// bomb inflates to at least size bytes of tags.
func bomb(t *testing.T, size int, open func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	io.WriteString(w, "<rss version='2.0'><channel>")
	item := []byte(strings.Repeat("<item>", 1000))
	for n := 0; n < size; n += len(item) {
		if _, err := w.Write(item); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipWriter(w io.Writer) io.WriteCloser {
	z, _ := gzip.NewWriterLevel(w, gzip.BestCompression)
	return z
}

func brotliWriter(window int) func(io.Writer) io.WriteCloser {
	return func(w io.Writer) io.WriteCloser {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 9, LGWin: window})
	}
}

// A bomb costs one request and a bounded amount of memory, all that is allocated counted.
func TestBombs(t *testing.T) {
	for _, test := range []struct {
		name, coding string
		body         []byte
		want         error
	}{
		{"gzip, 24 kB", "gzip", bomb(t, 16<<20, gzipWriter), ErrTooLarge},
		{"gzip, many members", "gzip", bytes.Repeat(bomb(t, 1<<20, gzipWriter), 20), ErrTooLarge},
		{"brotli, small window", "br", bomb(t, 16<<20, brotliWriter(16)), ErrTooLarge},
		{"brotli, 4 MiB window", "br", bomb(t, 16<<20, brotliWriter(22)), ErrTooLarge},
		{"brotli, 8 MiB window", "br", bomb(t, 16<<20, brotliWriter(23)), ErrEncoding},
		{"brotli, 16 MiB window", "br", bomb(t, 17<<20, brotliWriter(24)), ErrEncoding},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", test.coding)
				w.Write(test.body)
			})
			c := New(Config{AllowLocal: true})
			defer c.CloseIdle()
			f := nodeFetch(server)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			got := c.Fetch(t.Context(), f)
			runtime.ReadMemStats(&after)
			if !errors.Is(got.Err, test.want) {
				t.Errorf("%v, want %v", got.Err, test.want)
			}
			grown := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes received, %d KiB allocated: %v", len(test.body), grown>>10, got.Err)
			if grown >= 12<<20 {
				t.Errorf("%d bytes allocated, want less than 12 MiB", grown)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// endlessly writes the same bytes again and again.
type endlessly string

func (e endlessly) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// readFor reads a body of maxBytes at most, with that gate for large ones.
func readFor(ctx context.Context, resp *http.Response, large gate) (body []byte, release func(), err error) {
	v := visit{client: &Client{large: large}, patience: patience{left: timeout}}
	ctx, stop := v.patience.start(ctx)
	defer stop()
	return v.readBody(ctx, resp, maxBytes)
}

func TestBodyLimits(t *testing.T) {
	for _, test := range []struct {
		size, length int64 // of the body, and as announced
		ok           bool
	}{
		{maxBytes, -1, true},
		{maxBytes, maxBytes, true},
		{maxBytes + 1, -1, false},
		{1 << 40, -1, false},
		{0, maxBytes + 1, false}, // refused before it is read
	} {
		body := io.NopCloser(io.LimitReader(endlessly("a feed of no end "), test.size))
		large := make(gate, 1)
		resp := &http.Response{Body: body, ContentLength: test.length}
		got, release, err := readFor(t.Context(), resp, large)
		release()
		if len(large) != 0 {
			t.Error("a place is still taken")
		}
		if test.ok && (err != nil || int64(len(got)) != test.size) || !test.ok && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes, %d announced: %d bytes, %v", test.size, test.length, len(got), err)
		}
	}
}

// A body that inflates a lot but stays small, or is large but inflates as feeds do, is read.
func TestHonestCompression(t *testing.T) {
	small := bomb(t, 900<<10, gzipWriter)
	var large bytes.Buffer
	z := gzip.NewWriter(&large)
	for i := 0; large.Len() < 200<<10; i++ {
		fmt.Fprintf(z, "<item><guid>https://example.com/%d</guid><title>Entry number %d</title></item>\n", i, i*i)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, body := range [][]byte{small, large.Bytes()} {
		resp := &http.Response{Body: io.NopCloser(bytes.NewReader(body)), ContentLength: -1,
			Header: http.Header{"Content-Encoding": {"gzip"}}}
		large := make(gate, 1)
		if got, release, err := readFor(t.Context(), resp, large); err != nil {
			t.Errorf("%d bytes from %d: %v", len(got), len(body), err)
		} else if want := min(1, len(got)/freeBytes); len(large) != want {
			t.Errorf("%d bytes take %d places, want %d", len(got), len(large), want)
		} else {
			release()
		}
	}
}

// Large bodies wait for each other, and small ones do not wait for them.
func TestLargeBodiesWait(t *testing.T) {
	large := make(gate, 1)
	large <- struct{}{}
	read := func(ctx context.Context, size int64) error {
		body := io.NopCloser(io.LimitReader(endlessly("a feed of no end "), size))
		_, release, err := readFor(ctx, &http.Response{Body: body, ContentLength: -1}, large)
		release()
		return err
	}
	if err := read(t.Context(), freeBytes); err != nil {
		t.Errorf("a small body: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ctx, freeBytes+1); !errors.Is(err, context.Canceled) {
		t.Errorf("a large body while another is there: %v", err)
	}
	large.leave()
	if err := read(t.Context(), freeBytes+1); err != nil || len(large) != 0 {
		t.Errorf("a large body after that: %v, %d places taken", err, len(large))
	}
}
