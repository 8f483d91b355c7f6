package transport

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	// codedFrom is the shortest body that is coded, in bytes. Nearly all shorter ones are a check_did or an answer of a
	// word: there gzip takes more time than its bytes are worth.
	codedFrom = 400
	// maxInflation is how many times as long as it came a call may become. Few messages would be more, and go as they
	// are; who floods a node with calls has to send as much as a sixteenth of what it is to read.
	maxInflation = 16
	// maxTakers is how many peers a Client remembers to take calls as gzip.
	maxTakers = 1 << 10
	// coding is the content coding of bodies (RFC 9110 §8.4.1.3).
	coding = "gzip"
)

// A deflater makes gzip, of which it keeps nothing.
type deflater struct {
	out bytes.Buffer
	z   *gzip.Writer
}

// An inflater undoes it.
type inflater struct {
	in bytes.Reader
	z  gzip.Reader
}

var (
	deflaters = sync.Pool{New: func() any {
		z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // most of what it takes off, in half of the time
		return &deflater{z: z}
	}}
	inflaters = sync.Pool{New: func() any { return new(inflater) }}
)

// AppendCodedAnswer appends the body of an answer to dst as gzip, as it is sent to who takes it so. ok is false where
// it goes as it is, and dst is as it was: it is short, or gains nothing.
func AppendCodedAnswer(dst, body []byte) (coded []byte, ok bool) {
	if len(body) < codedFrom {
		return dst, false
	}
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.out = *bytes.NewBuffer(dst)
	d.z.Reset(&d.out)
	d.z.Write(body) // neither fails, as a Buffer takes everything
	d.z.Close()
	coded, d.out = d.out.Bytes(), bytes.Buffer{}
	if len(coded)-len(dst) >= len(body) {
		return dst, false
	}
	return coded, true
}

// AppendCodedCall does as much for the body of a call. One that would become longer than its receiver lets it goes as
// it is, too.
func AppendCodedCall(dst, body []byte) (coded []byte, ok bool) {
	coded, ok = AppendCodedAnswer(dst, body)
	if ok && (len(coded)-len(dst))*maxInflation < len(body) {
		return dst, false
	}
	return coded, ok
}

// inflated calls read with the body that raw codes, as far as raw goes.
func inflated(raw []byte, read func(io.Reader) error) error {
	i := inflaters.Get().(*inflater)
	defer inflaters.Put(i)
	defer i.in.Reset(nil)
	i.in.Reset(raw)
	if err := i.z.Reset(&i.in); err != nil {
		return err
	}
	return read(&i.z)
}

// startOf is how a body begins that raw codes, or begins to.
func startOf(raw []byte) []byte {
	start := make([]byte, prefixBytes)
	n := 0
	_ = inflated(raw, func(z io.Reader) (err error) { // it ends early, as raw does
		n, err = io.ReadFull(z, start)
		return err
	})
	return start[:n]
}

// codingOf is the content coding of the body that header goes before, "" for none.
func codingOf(header http.Header) string {
	name := strings.ToLower(strings.Join(header["Content-Encoding"], ","))
	if name == "x-gzip" {
		return coding // RFC 9110 §8.4.1.3
	}
	return name
}

// takesCoding reports whether whoever sent header takes what comes next as gzip (RFC 9110 §12.5.3).
func takesCoding(header http.Header) bool {
	for _, line := range header["Accept-Encoding"] {
		for name := range strings.SplitSeq(strings.ToLower(line), ",") {
			name, weight, _ := strings.Cut(name, ";")
			if strings.TrimSpace(name) == coding {
				weight, _, _ = strings.Cut(weight, ";")
				q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
				return err != nil || q > 0
			}
		}
	}
	return false
}

// takers are the peers that take calls as gzip: those that said so in their latest answer to a call that was not. The
// zero value is ready.
type takers struct {
	mu    sync.Mutex
	known map[string]struct{}
}

// has reports whether the peer at addr is one of them.
func (t *takers) has(addr string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.known[addr]
	return ok
}

// note says whether the peer at addr is one. Where there is no room all are forgotten: each says it again in its next
// answer.
func (t *takers) note(addr string, takes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !takes {
		delete(t.known, addr)
		return
	}
	if t.known == nil || len(t.known) >= maxTakers {
		t.known = make(map[string]struct{})
	}
	t.known[addr] = struct{}{}
}
