package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shortestGrace is how long the loop waits for a step of the Housekeeper that is under way before it ends that. The
	// wait grows with each step in a row that was ended, up to longestGrace: what never came to its end would never be
	// done.
	shortestGrace, longestGrace = 8 * time.Millisecond, 40 * time.Millisecond
	// pageBytesLogged is about what a row that changes adds to the log: a page of its table and one of an index.
	pageBytesLogged = 2 * 4096
)

// A writeLock says which connection writes: SQLite lets one at a time do so. Those that belong to the loop go first.
type writeLock struct {
	free  chan struct{} // holds something unless somebody writes
	log   atomic.Int64  // bytes, about, that were written to the log since it was brought into the file
	asked atomic.Bool   // the loop had to wait since the Housekeeper looked last

	removed atomic.Uint64 // how often the Housekeeper removed rows of feeds

	mu    sync.Mutex
	stop  func()        // ends the step of the Housekeeper that is under way; nil for none
	grace time.Duration // how long that step has, once the loop waits
}

func newWriteLock() *writeLock {
	t := &writeLock{free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return t
}

// begin takes the lock for the loop.
func (t *writeLock) begin() {
	select {
	case <-t.free:
		return
	default:
	}
	t.asked.Store(true)
	t.mu.Lock()
	grace := time.NewTimer(t.grace)
	t.mu.Unlock()
	defer grace.Stop()
	select {
	case <-t.free:
		return
	case <-grace.C:
	}
	t.mu.Lock()
	if t.stop != nil {
		t.stop()
	}
	t.mu.Unlock()
	<-t.free
}

// lend gives the lock to a step of the Housekeeper, which stop ends, unless ctx ends before.
func (t *writeLock) lend(ctx context.Context, grace time.Duration, stop func()) bool {
	select {
	case <-t.free:
	case <-ctx.Done():
		return false
	}
	t.mu.Lock()
	t.stop, t.grace = stop, grace
	t.mu.Unlock()
	return true
}

// end gives the lock back.
func (t *writeLock) end() {
	t.mu.Lock()
	t.stop = nil
	t.mu.Unlock()
	t.free <- struct{}{}
}

// logged notes that a statement with these arguments changed so many rows.
func (t *writeLock) logged(changed int64, args []any) {
	bytes := changed * pageBytesLogged
	for _, a := range args {
		switch a := a.(type) {
		case string:
			bytes += int64(len(a))
		case []byte:
			bytes += int64(len(a))
		}
	}
	t.log.Add(bytes)
}
