package transport

import (
	"errors"
	"io"
	"net/netip"
	"sync"
	"time"

	"feedex/admission"
)

const (
	// prefixBytes is how much of a call is read to learn its method, before more is.
	prefixBytes = 1 << 10
	// keptBytes is the largest buffer that is kept for the next message. Nearly all messages fit.
	keptBytes = 64 << 10
	// budgetBytes is how much all longer messages may hold at one time. A sender gets it as its
	// bytes arrive, so that nobody can claim it by an announcement.
	budgetBytes = 64 << 20
)

var (
	errTooLarge = errors.New("message too large")
	errBusy     = errors.New("too many large messages at one time")
)

// A buffer holds one message.
type buffer struct{ data []byte }

// buffers lends buffers. The zero value is ready.
type buffers struct{ pool sync.Pool }

// take returns an empty buffer.
func (b *buffers) take() *buffer {
	if buf, ok := b.pool.Get().(*buffer); ok {
		return buf
	}
	return &buffer{data: make([]byte, 0, 4<<10)}
}

// give takes back what take lent; nobody may look at it any more.
func (b *buffers) give(buf *buffer) {
	if cap(buf.data) <= keptBytes {
		buf.data = buf.data[:0]
		b.pool.Put(buf)
	}
}

// readPrefix appends the first prefixBytes of src, or all of it if it is shorter. length is its
// announced length, -1 if there is none.
func (b *buffer) readPrefix(src io.Reader, length int64) error {
	n := prefixBytes
	if length >= 0 {
		n = int(min(length, prefixBytes))
	}
	n, err := io.ReadFull(src, b.data[:n])
	b.data = b.data[:n]
	if length < 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// readAll appends the rest of src. length is the announced length of the whole, -1 if there is none;
// more than limit bytes are errTooLarge, and more than the budget holds are errBusy. A nil budget
// holds everything.
func (b *buffer) readAll(src io.Reader, length int64, limit int, budget *budget) error {
	if length > int64(limit) || len(b.data) > limit {
		return errTooLarge
	}
	for length < 0 || int64(len(b.data)) < length {
		if len(b.data) == cap(b.data) {
			// Twice what has come, no more than may come, and one byte to see what comes beyond.
			size := min(2*cap(b.data), limit+1)
			if length >= 0 {
				size = min(size, int(length))
			}
			if !budget.grow(size) {
				return errBusy
			}
			b.data = append(make([]byte, 0, size), b.data...)
		}
		n, err := src.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case len(b.data) > limit:
			return errTooLarge
		case err == io.EOF && length >= 0 && int64(len(b.data)) < length:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// inflate appends what raw codes as gzip; limit and budget are as for readAll.
func (b *buffer) inflate(raw *buffer, limit int, budget *budget) error {
	if budget != nil {
		budget.beside = cap(raw.data)
	}
	return inflated(raw.data, func(z io.Reader) error { return b.readAll(z, -1, limit, budget) })
}

// memory is the amount that all long messages may hold together, in units of keptBytes. Where it is all held,
// admission.SharedPool says whose message is given up.
type memory struct {
	mu   sync.Mutex
	pool *admission.SharedPool[func()]
}

// A budget is one message's part of it.
type budget struct {
	of    *memory
	from  netip.Addr
	abort func() // gives the message up
	place *admission.Place[func()]
	units int

	beside int // bytes of the buffer that the one at hand is made of
}

// grow claims room for a buffer of size bytes in all.
func (b *budget) grow(size int) bool {
	if b == nil || size+b.beside <= keptBytes {
		return true
	}
	size += b.beside
	more := (size+keptBytes-1)/keptBytes - b.units
	gaveUp, ok := b.claim(more)
	for _, other := range gaveUp {
		other.Of()
	}
	if ok {
		b.units += more
	}
	return ok
}

func (b *budget) claim(units int) (gaveUp []*admission.Place[func()], ok bool) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.place != nil {
		return b.of.pool.Grow(time.Now(), b.place, units)
	}
	b.place, gaveUp = b.of.pool.Enter(time.Now(), b.from, units, b.abort)
	return gaveUp, b.place != nil
}

// serve says that the sender waits for us.
func (b *budget) serve() {
	b.hold(func(p *admission.Place[func()]) { p.Serve() })
}

// release gives the claim back.
func (b *budget) release() {
	b.hold(func(p *admission.Place[func()]) { b.of.pool.Leave(p) })
}

func (b *budget) hold(f func(*admission.Place[func()])) {
	if b.place == nil {
		return
	}
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	f(b.place)
}
